"""HTML as manuals write it: what each block hangs on, its anchor, and what of a page is not its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tests.contract.parser_kit import check_parsed
from tools.parsers import Parsed, parse


def read(html: str) -> Parsed:
    parsed = parse(html.encode(), name="page.html")
    check_parsed(parsed)
    return parsed


def lines(html: str) -> list[str]:
    """Return each block as its kind, its text, and in brackets the texts that it hangs on."""
    parsed = read(html)
    texts = [parsed.text[block.start : block.end] for block in parsed.blocks]
    return [
        f"{block.kind}: {texts[index]}" + "".join(f" [{texts[above].strip()}]" for above in block.hangs_on)
        for index, block in enumerate(parsed.blocks)
    ]


def anchors(html: str) -> list[str]:
    return [block.anchor for block in read(html).blocks]


SPHINX = """<!DOCTYPE html><html><head><title>lamp — Lights &#8212; Lamplight 2.1 documentation</title></head><body>
<div class="related" role="navigation"><h3>Navigation</h3><ul><li><a href="i.html">index</a></li></ul></div>
<div class="document"><div class="body" role="main"><section id="module-lamp">
<h1>lamp<a class="headerlink" href="#module-lamp" title="Permalink">¶</a></h1>
<nav class="contents local" id="contents"><ul><li><a href="#x">On this page</a></li></ul></nav>
<div class="toctree-wrapper compound"><p class="caption"><span>More</span></p>
<ul><li class="toctree-l1"><a href="oil.html">Oil lamps</a></li></ul></div>
<dl class="py function"><dt class="sig sig-object py" id="lamp.light">
<span class="pre">lamp.light</span>(<em>power</em>)
<a class="headerlink" href="#lamp.light">¶</a></dt>
<dd><p>Light the lamp. It takes:</p><ul class="simple"><li><p>a lamp</p></li><li><p>power</p></li></ul>
<div class="versionchanged"><p>
<span class="versionmodified changed">Changed in version 2.0: </span>Power is a number.</p>
</div><div class="deprecated"><p>
<span class="versionmodified">Deprecated since version 2.1.</span></p></div></dd></dl>
<div class="admonition warning"><p class="admonition-title">Warning</p><p>It gets hot.</p><p>Very hot.</p></div>
<p>To light it twice:</p>
<div class="highlight-python"><div class="highlight"><pre><span class="gp">&gt;&gt;&gt; </span>light(1)
<span class="gp">&gt;&gt;&gt; </span>light(2)
</pre></div></div>
<table class="docutils"><caption><span>Bulbs</span><a class="headerlink" href="#id1">¶</a></caption>
<thead><tr><th><p>Size</p></th><th><p>Price</p></th></tr></thead>
<tbody><tr><td><p>small</p></td><td><p>2</p></td></tr></tbody></table>
<p>See the note <a class="footnote-reference brackets" href="#f1" id="id2">[1]</a>.</p>
<aside class="footnote brackets" id="f1"><span class="label">[1]</span><p>At night only.</p></aside>
</section></div></div><div class="sphinxsidebar"><h4>Previous topic</h4></div>
<div class="footer">© Lamps</div></body></html>"""


def test_a_page_of_sphinx() -> None:
    assert lines(SPHINX) == [
        "heading: lamp",
        "contents: More",
        "contents: - Oil lamps [More]",
        "term: lamp.light(power)",
        "paragraph: Light the lamp. It takes: [lamp.light(power)]",
        "list_item: - a lamp [lamp.light(power)] [Light the lamp. It takes:]",
        "list_item: - power [lamp.light(power)] [Light the lamp. It takes:]",
        "label: Changed in version 2.0: [lamp.light(power)]",
        "paragraph: Power is a number. [lamp.light(power)] [Changed in version 2.0:]",
        "label: Deprecated since version 2.1. [lamp.light(power)]",
        "label: Warning",
        "paragraph: It gets hot. [Warning]",
        "paragraph: Very hot. [Warning]",
        "paragraph: To light it twice:",
        "code: >>> light(1)\n>>> light(2) [To light it twice:]",
        "caption: Bulbs",
        "table_row: Size | Price [Bulbs]",
        "table_row: small | 2 [Bulbs] [Size | Price]",
        "paragraph: See the note [1].",
        "footnote: [1]",
        "footnote: At night only.",
    ]
    parsed = read(SPHINX)
    assert parsed.title == "lamp"
    assert {block.anchor for block in parsed.blocks} == {"module-lamp", "lamp.light", "f1"}


DOCBOOK = """<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>3.2. Oil</title></head><body>
<div class="navheader"><table summary="Navigation header"><tr><th colspan="3">3.2. Oil</th></tr>
<tr><td><a accesskey="p" href="a.html">Prev</a></td><td>Part 3. Lamps</td>
<td><a accesskey="n" href="b.html">Next</a></td></tr>
</table></div>
<div class="sect1"><div class="titlepage"><div><div><h2 class="title"><a id="OIL"/>3.2. Oil</h2></div></div></div>
<div class="toc"><dl class="toc"><dt><a href="#W">3.2.1. Wicks</a></dt></dl></div>
<div class="variablelist"><dl><dt id="GUC-WICK"><span class="term"><code>wick</code> (<code>integer</code>)
<a id="id-1.6.7.7" class="indexterm"/></span></dt><dd><p>Sets the length. The default is 4.</p>
<p>Keep it short.</p></dd>
<dt><span class="term">-g<br/></span><span class="term">--glow</span></dt><dd><p>Glow only.</p></dd></dl></div>
<div class="note"><table border="0"><tr><td rowspan="2"><img alt="[Note]" src="n.png"/></td><th>Note</th></tr>
<tr><td><p>Oil burns.</p></td></tr></table></div>
<div class="table" id="T1"><p class="title"><strong>Table 3. Oils</strong></p><div class="table-contents">
<table><thead><tr><th class="e"><p class="func_signature">Oil</p><p>Use</p></th></tr></thead><tbody><tr><td class="e">
<p class="func_signature">olive ( <code>drops</code> ) → light</p><p class="func_signature">argan ( ) → light</p>
<p>Burns long.</p><p>olive(3) → 9</p></td></tr></tbody></table></div></div>
<div class="procedure"><ol class="procedure" start="3"><li class="step"><p>Pour.</p><pre class="screen">pour oil
wait</pre></li><li class="step"><p>Light.</p></li></ol></div>
<div class="sidebar"><div class="titlepage"><p class="title"><strong>CULTURE Whales</strong></p></div>
<div class="para">Whale oil was used.</div></div></div>
<div class="footnotes"><div class="footnote" id="ftn.1"><p>Not today.</p></div></div>
<div class="navfooter"><a accesskey="p" href="a.html">Prev</a></div></body></html>"""


def test_a_page_of_docbook() -> None:
    assert lines(DOCBOOK) == [
        "heading: 3.2. Oil",
        "contents: 3.2.1. Wicks",
        "term: wick (integer)",
        "paragraph: Sets the length. The default is 4. [wick (integer)]",
        "paragraph: Keep it short. [wick (integer)]",
        "term: -g\n--glow",
        "paragraph: Glow only. [-g\n--glow]",
        "label: Note",
        "paragraph: Oil burns. [Note]",
        "caption: Table 3. Oils",
        "table_row: Oil Use [Table 3. Oils]",
        "term: olive ( drops ) → light [Table 3. Oils]",
        "term: argan ( ) → light [Table 3. Oils]",
        "paragraph: Burns long. [Table 3. Oils] [olive ( drops ) → light] [argan ( ) → light]",
        "paragraph: olive(3) → 9 [Table 3. Oils] [olive ( drops ) → light] [argan ( ) → light]",
        "list_item: 3. Pour.",
        "code: pour oil\nwait [3. Pour.]",
        "list_item: 4. Light.",
        "label: CULTURE Whales",
        "paragraph: Whale oil was used. [CULTURE Whales]",
        "footnote: Not today.",
    ]
    by_text = dict(zip([line.split(": ", 1)[1] for line in lines(DOCBOOK)], anchors(DOCBOOK), strict=True))
    assert by_text["wick (integer)"] == by_text["Keep it short. [wick (integer)]"] == "GUC-WICK"
    assert by_text["Table 3. Oils"] == "T1"
    assert by_text["-g\n--glow"] == by_text["CULTURE Whales"] == "OIL"


TEXINFO = """<html><head><title>Wicks (The Lamp Manual)</title></head><body>
<div class="header"><p>Next: <a href="b.html" rel="next" accesskey="n">Oil</a>, Up: <a href="i.html" rel="up">Top</a>
&nbsp; [<a href="c.html" rel="contents">Contents</a>]</p></div><hr/>
<h2 class="chapter" id="Wicks-1">1 Wicks<a class="copiable-link" href="#Wicks-1"> &para;</a></h2>
<dl class="first-deffn"><dt class="deffn" id="index-trim"><span>Command: </span><strong>trim</strong> <em>wick</em></dt>
<dd><p>Trim a wick.</p></dd></dl>
<dl><dt><a name="index-cut"></a>cut</dt><dt>clip</dt><dd>Cut a wick.</dd></dl>
<p>A wick of 10<sup>3</sup> threads is thick</p>
<div class="example"><pre class="example">trim 3</pre></div>
<table class="menu"><tr><td><a href="#x">Oil</a>:</td><td>What burns.</td></tr></table>
</body></html>"""


def test_a_page_of_texinfo() -> None:
    assert lines(TEXINFO) == [
        "heading: 1 Wicks",
        "term: Command: trim wick",
        "paragraph: Trim a wick. [Command: trim wick]",
        "term: cut",
        "term: clip",
        "paragraph: Cut a wick. [cut] [clip]",
        "paragraph: A wick of 10^3 threads is thick",
        "code: trim 3 [A wick of 10^3 threads is thick]",
        "contents: Oil: | What burns.",
    ]
    assert anchors(TEXINFO)[:5] == ["Wicks-1", "index-trim", "index-trim", "index-cut", "Wicks-1"]


DOCUSAURUS = """<html><head><title>Lamps | Lumen</title></head><body><div id="__docusaurus">
<div role="region" aria-label="Skip to main content">
<a class="skipToContent_x" href="#main">Skip to main content</a></div>
<nav class="navbar"><a href="/">Lumen</a></nav><main class="docMainContainer_x"><div class="row"><article>
<nav class="theme-doc-breadcrumbs"><ul><li>Guides</li></ul></nav>
<div class="theme-doc-markdown markdown"><header><h1>Lamps</h1></header>
<h2 class="anchor" id="setup">Setup<a href="#setup" class="hash-link" aria-label="Direct link">​</a></h2>
<div class="theme-admonition theme-admonition-tip admonition_x alert"><div class="admonitionHeading_x">
<span class="admonitionIcon_x"><svg><path/></svg></span>tip</div>
<div class="admonitionContent_x"><p>Use oil.</p></div></div>
<div class="codeBlockContainer_x"><div class="codeBlockTitle_x">lamp.sh</div><div class="codeBlockContent_x">
<pre><code><span class="token-line" style="color:#fff"><span>light</span> on<br></span
><span class="token-line">wait<br></span></code></pre>
<div class="buttonGroup_x"><button>Copy</button></div></div></div>
<details><summary>More</summary><p>Trim it.</p></details></div>
<footer class="theme-doc-footer">Edit this page</footer></article>
<nav class="pagination-nav"><a href="/oil">Next</a></nav></div></main><footer>© Lumen</footer></div></body></html>"""


def test_a_page_of_docusaurus() -> None:
    assert lines(DOCUSAURUS) == [
        "heading: Lamps",
        "heading: Setup",
        "label: tip",
        "paragraph: Use oil. [tip]",
        "caption: lamp.sh",
        "code: light on\nwait [lamp.sh]",
        "label: More",
        "paragraph: Trim it. [More]",
    ]
    assert anchors(DOCUSAURUS)[1:] == ["setup"] * 7
    assert read(DOCUSAURUS).left_out == ()


PLAIN = """<html><head><title>All about lamps - The Lamp Wiki</title></head><body bgcolor=white>
<a href="/">Home</a> | <a href="/all">All lamps</a><br>
<p><a name="top"></a>Lamps need three things:
<ol><li>oil<ul><li>of olives<li>of whales</ul><li>a wick<p>which is trimmed<li>a flame</ol>
<p>The judge said:<blockquote>No lamp is lit.</blockquote>
<table border=1><tr><th>kind<th>light<th>price<tr><td colspan=3>Old<tr><td rowspan=2>oil<td>1<td>2<tr><td>3<td>4
<tr><td>tallow<td><pre>a
b</pre><td>after</table>
<table><tr><td><h2>Left</h2><p>Of the page.</td><td><p>Right of it.</td></tr></table>
<div><p><a href="/imprint">Imprint</a></div></body></html>"""


def test_a_plain_page() -> None:
    head, old = "[kind | light | price]", "[Old]"
    assert lines(PLAIN) == [
        "paragraph: Lamps need three things:",
        "list_item: 1. oil [Lamps need three things:]",
        "list_item:   - of olives [Lamps need three things:] [1. oil]",
        "list_item:   - of whales [Lamps need three things:] [1. oil]",
        "list_item: 2. a wick [Lamps need three things:]",
        "list_item: which is trimmed [Lamps need three things:] [2. a wick]",
        "list_item: 3. a flame [Lamps need three things:]",
        "paragraph: The judge said:",
        "quote: No lamp is lit. [The judge said:]",
        "table_row: kind | light | price",
        f"table_row: Old {head}",
        f"table_row: oil | 1 | 2 {head} {old}",
        f"table_row: oil | 3 | 4 {head} {old}",
        f"table_row: tallow {head} {old}",
        f"code: a\nb {head} {old} [tallow]",
        f"paragraph: after {head} {old} [tallow]",
        "heading: Left",
        "paragraph: Of the page.",
        "paragraph: Right of it.",
    ]
    assert read(PLAIN).title == "All about lamps"


def test_terms_and_descriptions_without_end_tags() -> None:
    html = "<dl><dt>a<dt>b<dd>one<dd>two<dt>c<dd>three</dl><div>after</div>"
    assert lines(html) == [
        "term: a",
        "term: b",
        "paragraph: one [a] [b]",
        "paragraph: two [a] [b]",
        "term: c",
        "paragraph: three [c]",
        "paragraph: after",
    ]


def test_a_nested_table_hangs_on_the_row_around_it() -> None:
    html = "<table><tr><th>a<th>b<tr><td>1<td>2<table><tr><th>c<th>d<tr><td>3<td>4</table></table>"
    assert lines(html) == [
        "table_row: a | b",
        "table_row: 1 | 2 [a | b]",
        "table_row: c | d [a | b] [1 | 2]",
        "table_row: 3 | 4 [a | b] [1 | 2] [c | d]",
    ]


def test_a_nested_table_of_one_column_is_rows_under_its_own_header() -> None:
    html = (
        "<table><tr><th>mode<th>conflicts<tr><td>share<td>"
        "<table><thead><tr><th>with<tbody><tr><td>update<tr><td>exclusive</table><tr><td>none<td>nothing</table>"
    )
    assert lines(html) == [
        "table_row: mode | conflicts",
        "table_row: share [mode | conflicts]",
        "table_row: with [mode | conflicts] [share]",
        "table_row: update [mode | conflicts] [share] [with]",
        "table_row: exclusive [mode | conflicts] [share] [with]",
        "table_row: none | nothing [mode | conflicts]",
    ]
    bare = "<table><tr><th>mode<th>conflicts<tr><td>share<td><table><tr><td>update<tr><td>exclusive</table></table>"
    assert lines(bare)[2:] == [
        "table_row: update [mode | conflicts] [share]",
        "table_row: exclusive [mode | conflicts] [share]",
    ]


@pytest.mark.parametrize(
    ("hidden", "passages"),
    [
        ("<del>out</del>", 1),
        ("<s>out</s> and <strike>out</strike>", 2),
        ("<span hidden>out</span>", 1),
        ('<span aria-hidden="true">out</span>', 1),
        ('<span style="Display: none !important">out <b>out</b></span>', 1),
        ('<span style="visibility:hidden">out</span>', 1),
        ('<span style="font-size:0px">out</span>', 1),
        ('<span style="opacity:0">out</span>', 1),
        ('<span style="position:absolute;left:-9999px">out</span>', 1),
        ('<span style="color:#fff">out</span>', 1),
        ('<span style="color: rgb(250, 250, 250)">out</span>', 1),
        ('<font color="white">out</font>', 1),
        ('<span style="background:#123456;color:#123457">out</span>', 1),
        ('<i class="gone">out</i>', 1),
        ('<i id="away">out</i>', 1),
        ('<span style="display:none"> </span><span hidden><script>out</script></span>', 0),
        ('<a class="anchor" aria-hidden="true" href="#x">#</a>', 0),
    ],
)
def test_hidden_text_is_left_out_and_counted(hidden: str, passages: int) -> None:
    style = "/* .seen {} */ .gone, p.x:hover { display : none } #away{font-size:0} @media print{.seen{display:none}}"
    parsed = read(f"<html><head><style>{style}</style></head><body><p>A {hidden} <b class=seen>B</b></p></body></html>")
    assert parsed.text.replace("and ", "") == "A B"
    count = "1 passage" if passages == 1 else f"{passages} passages"
    said = (f"Struck-out or hidden text was left out ({count}).",) if passages else ()
    assert parsed.left_out == said


@pytest.mark.parametrize(
    "html",
    [
        '<div style="background-color:#000"><p style="color:white">Seen.</p></div>',
        '<div style="background:url(x.png)"><p style="color:white">Seen.</p></div>',
        '<p style="color:#777;font-size:12px;opacity:.8">Seen.</p>',
        '<body style="visibility:hidden"><p>Seen.</p></body>',
    ],
)
def test_what_can_be_seen_is_kept(html: str) -> None:
    assert (read(html).text, read(html).left_out) == ("Seen.", ())


@pytest.mark.parametrize(
    "frame",
    [
        '<div class="cookie-banner"><p>We use cookies.</p></div>',
        '<div id="footer">Made by us.</div>',
        '<ul class="docnav"><li>Home</li></ul>',
        '<aside class="sidebar"><p>Read more.</p></aside>',
        "<form><input><label>Find</label></form>",
    ],
)
def test_the_frame_of_a_page_is_no_text(frame: str) -> None:
    assert read(f"<body>{frame}<p>The text.</p></body>").text == "The text."


def test_links_at_the_end_stay_where_a_heading_or_sentence_names_them() -> None:
    assert "Oil" in read("<p>Text.</p><h2>See also</h2><ul><li><a href='o.html'>Oil</a></ul>").text
    assert "Oil" in read("<p>Text.</p><p>See also:</p><ul><li><a href='o.html'>Oil</a></ul>").text
    assert read("<h1>Lamps</h1><p>Text.</p><p>More.</p><div><a href='o.html'>Oil</a></div>").text.endswith(
        "More.\n\nOil"
    )


def test_a_page_of_links_is_contents_throughout() -> None:
    html = "<h1>Lamps</h1><ul>" + "".join(f"<li><a href='{n}.html'>Part {n}</a></li>" for n in range(12)) + "</ul>"
    assert {block.kind for block in read(html).blocks} == {"heading", "contents"}


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Oil — Lamp Documentation (3.0)", "Oil"),
        ("PostgreSQL: Documentation: 15: 20.4. Oil", "20.4. Oil"),
        ("json — encoder — Python 3 documentation", "json — encoder"),
        ("Oil | Lumen", "Oil"),
        ("Oil - and why", "Oil - and why"),
        ("Lamp Documentation", "Lamp Documentation"),
    ],
)
def test_a_title_is_without_its_site(title: str, expected: str) -> None:
    assert read(f"<html><head><title>{title}</title></head><body><p>Text.</p></body></html>").title == expected


def test_a_site_name_over_the_page_is_not_its_title() -> None:
    html = "<title>2. Oil</title><h1><a href='http://lamps.example'>Lamps</a></h1><h2>Chapter 2</h2><p>Text.</p>"
    assert (read(html).title, read(html).text) == ("2. Oil", "Chapter 2\n\nText.")


def test_an_element_of_countless_attributes_is_refused() -> None:
    many = " ".join(f"a{number}=''" for number in range(20_000))
    with pytest.raises(UnreadableDocument, match="thousand attributes"):
        read(f"<p>Text.</p><!-- <p> --><div title='>' {many}>More.</div>")
    assert read("<p a=1 b=2>Text.</p>" * 10_000).text.startswith("Text.")


def test_hostile_nesting_is_read_in_linear_time() -> None:
    for opened in ("<ul><li>a", "<table><tr><td>a", "<dl><dt>a<dd>", "<div class=note><p>a</p>", "<blockquote>a"):
        assert "end" in read(opened * 600 + "<p>end").text
    assert len(read("<dl>" + "<dt>a</dt>" * 20_000 + "<dd>b</dl>").blocks) == 20_001


_WORD = st.integers(0, 999).map(lambda number: f"w{number}")
_INLINE = ("b", "a href='#x'", "code", "sup", "span id=i")
_NESTING = (
    "p", "div", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td", "th", "caption", "blockquote", "h2", "h3",
    "section id=s", "div class=note", "p class=title", "div class=table", "aside class=footnote", "details", "summary",
    "td rowspan=3", "p class=func_signature", "div class=toc",
)  # fmt: skip


def _element(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(_NESTING + _INLINE),
        st.lists(inside, max_size=4),
    )


_TREES = st.lists(
    st.recursive(
        st.one_of(
            _WORD.map(lambda word: f" {word} "), st.just("<br>"), _WORD.map(lambda word: f"<pre>{word}\n x</pre>")
        ),
        _element,
        max_leaves=25,
    ),
    max_size=6,
)


@given(_TREES)
def test_blocks_of_any_tree_are_in_order_and_lose_no_word(parts: list[str]) -> None:
    html = "".join(parts)
    parsed = read(f"<p>first.</p>{html}<p>last.</p>")
    for index, block in enumerate(parsed.blocks):
        assert list(block.hangs_on) == sorted(set(block.hangs_on))
        assert all(above < index for above in block.hangs_on)
    for word in {word for word in html.replace("<", " <").replace(">", "> ").split() if word[1:].isdigit()}:
        assert word in parsed.text


def test_a_heading_that_leads_back_to_the_contents_is_one() -> None:
    html = """<body><article><h1>Lamps</h1>
<h2><a class="toc-backref" href="#id1" role="doc-backlink">Oil</a><a class="headerlink" href="#oil">¶</a></h2>
<p>Forty litres. <a href="#f" role="doc-noteref">[1]</a></p><aside class="footnote" id="f">
<span class="label">[<a role="doc-backlink" href="#id2">1</a>]</span><p>In ten tanks.</p></aside>
<div class="footnote"><ol><li id="g"><p>By law. <a class="footnote-backref" href="#id3">&#8617;</a></p></li></ol></div>
<p>Salt. <a href="#id4" role="doc-backlink">&#8617;&#xfe0e;</a></p></article></body>"""
    assert [line.partition("\n")[0] for line in lines(html)] == [
        "heading: Lamps",
        "heading: Oil",
        "paragraph: Forty litres. [1]",
        "footnote: [1]",
        "footnote: In ten tanks.",
        "footnote: 1. By law.",
        "paragraph: Salt.",
    ]


_STYLE = "<style>.up{vertical-align:super} .low{top:.3em;font-size:70%} .line{display:block}</style>"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("in 1204<sup><a href='#fn:1' role='doc-noteref'>1</a></sup> on", "in 1204 [1] on"),
        ("in 1204<a href='#fn1' class='footnote-ref'><sup>1</sup></a> on", "in 1204 [1] on"),
        ("1953<sup class='reference'><a href='#cite_note-2'><span>[</span>2<span>]</span></a></sup>.", "1953 [2]."),
        ("dam of 1953<a epub:type='noteref' href='notes.xhtml#n2'>2</a>.", "dam of 1953 [2]."),
        ("in 12<sup>[<a href='#ftn.id' class='footnote'>3</a>]</sup>", "in 12 [3]"),
        ("a harbour<span class='up'>4</span> and 10<span style='vertical-align:super'>6</span>",
         "a harbour [4] and 10^6"),
        ("10<span class='low'>2</span> is log<sub>10</sub>100", "10_2 is log_10 100"),
        ("CO<sub>2</sub>, 3.2 × 10<sup>−3</sup> m<sup>2</sup>, 1<sup>st</sup>", "CO2, 3.2 × 10^−3 m^2, 1st"),
        ("1<sup>1</sup>/<sub>2</sub> or 2&frac12; or <sup>3</sup>&frasl;<sub>4</sub>", "1 1/2 or 2½ or 3⁄4"),
        ("2<math><mfrac><mn>3</mn><mn>4</mn></mfrac></math> cups", "2 3/4 cups"),
        ("a <m:math><m:msqrt><m:mn>16</m:mn></m:msqrt></m:math> b", "a sqrt(16) b"),
        ("<span class='katex'><span class='katex-mathml'><math><semantics><msup><mn>2</mn><mn>9</mn></msup><annotation "
         "encoding='application/x-tex'>2^9</annotation></semantics></math></span><span class='katex-html' "
         "aria-hidden='true'>29</span></span> bytes", "2^9 bytes"),
        ("<span style='display:none'><math><mfrac><mn>1</mn><mn>2</mn></mfrac></math></span><img aria-hidden='true' "
         "class='mwe-math-fallback-image-inline' alt='\\frac12'> cup", "1/2 cup"),
        ("<span class='MathJax_Preview'>x2</span><script type='math/tex'>x^2</script> is", "x^2 is"),
        (r"<span class='math inline'>\(10^{-4}\)</span> or <img class='tex' alt='\frac34'>", "10^-4 or 3/4"),
        (r"<code>\(a\)</code> and \(b^2\)", r"\(a\) and \(b^2\)"),
        ("<span class='line'>12</span><span class='line'>34</span>", "\n12\n34"),
        ("<ruby>字<rt>ji</rt></ruby>", "字(ji)"),
        ("in <a href='https://hr.example.org/'>it</a>, <a href='a.html'>here</a>, or "
         "<a href='mailto:ann@example.org'>Ann</a>", "in it <https://hr.example.org/>, here, or Ann <ann@example.org>"),
    ],
)  # fmt: skip
def test_a_line_says_what_is_shown(markup: str, text: str) -> None:
    said = read(f"<head>{_STYLE}</head><body><h1>Dam</h1><p>Built {markup}</p>").text
    assert said == f"Dam\n\nBuilt{'' if text.startswith(chr(10)) else ' '}{text}"


def test_formulas_in_the_text_are_drawn_where_a_script_does() -> None:
    page = r"<script src='https://a.example/MathJax.js'></script><p>Half is \(\frac{1}{2}\), so $$\sqrt{16}$$ is 4.</p>"
    parsed = read(page)
    assert parsed.text == "Half is 1/2, so sqrt(16) is 4."
    assert [(parsed.text[one.start : one.end], one.source) for one in parsed.formulas] == [
        ("1/2", r"\frac{1}{2}"),
        ("sqrt(16)", r"\sqrt{16}"),
    ]
    assert read("<p>a <math display='block'><mn>7</mn></math> b").formulas[0].notation == "mathml"


def test_merged_cells_are_said_in_each_row_and_column() -> None:
    rows = """<tr><th rowspan=2>Room<th colspan=2>Price</tr><tr><th>Low<th>High</tr><tr><td>Blue<td>9<td>10</tr>
<tr><td rowspan=2>Red<td>8<td>9</tr><tr><td colspan=2>closed</tr><tr><td colspan=3>All rooms have oil.</tr>
<tr><td rowspan=0>Attic<td>1<td>2</tr><tr><td>3</td></tr>"""
    assert read(f"<table>{rows}</table>").text.split("\n") == [
        "Room | Price | Price", "Room | Low | High", "Blue | 9 | 10", "Red | 8 | 9", "Red | closed | closed",
        "All rooms have oil.", "Attic | 1 | 2", "Attic | 3",
    ]  # fmt: skip


def test_merged_cells_made_to_grow_are_cut_off() -> None:
    wide = f"<tr><td colspan=1000 rowspan=60000>{'lamp ' * 200}</td></tr>"
    assert len(read("<table><tr><th>a</tr>" + wide + "<tr><td>b</td></tr>" * 5_000 + "</table>").text) < 15_000_000


@pytest.mark.parametrize(
    ("attributes", "markers"),
    [
        ("start=3", ["3.", "4."]),
        ("reversed", ["2.", "1."]),
        ("type=a start=26", ["z.", "aa."]),
        ("type=I", ["I.", "II."]),
        ("style='list-style-type: lower-roman'", ["i.", "ii."]),
        ("start=0", ["0.", "1."]),
        ("class='loweralpha simple'", ["a.", "b."]),
        ("style='list-style: none'", ["-", "-"]),
    ],
)
def test_a_list_is_numbered_as_a_browser_does(attributes: str, markers: list[str]) -> None:
    text = read(f"<p>Steps:</p><ol {attributes}><li>fill<li>light</ol>").text
    assert [line.split()[0] for line in text.split("\n\n")[1].split("\n")] == markers


def test_notes_of_a_page_are_no_margin_of_its_site() -> None:
    page = """<body><p>Tides<a href="#n1">*</a> rise<a epub:type="noteref" href="#n2">2</a>.</p>
<aside id="n1"><p>In spring.</p></aside>
<aside epub:type="footnote" id="n2" hidden><p>By 4 m. <a href="#r2">↩</a></p></aside>
<aside><p>Buy lamps here.</p></aside></body>"""
    assert lines(page) == ["paragraph: Tides* rise [2].", "paragraph: In spring.", "footnote: By 4 m."]


def test_a_page_of_frames_says_what_it_says_without_them() -> None:
    page = "<frameset cols='1,2'><frame src=a><noframes><body><p>Open at 10:00.</p></body></noframes></frameset>"
    assert read(f"<html>{page}</html>").text == "Open at 10:00."


def test_a_page_of_several_top_headings_has_the_title_of_its_head() -> None:
    assert read("<title>Lamps</title><h1>Oil</h1><p>a</p><h1>Wick</h1><p>b</p>").title == "Lamps"
    assert read("<h1>Oil</h1><p>a</p><h1>Wick</h1><p>b</p>").title is None
