"""Markdown and MDX: what hangs on what, what is hidden, and text made to be slow or to break."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.hanging_blocks import hanging
from tools.parsers import Parsed, parse
from tools.parsers.canonical_text import passages_left_out


def md(text: str) -> Parsed:
    return parse(text.encode(), name="x.md")


def mdx(text: str) -> Parsed:
    return parse(text.encode(), name="x.mdx")


def test_items_and_code_hang_on_what_leads_to_them() -> None:
    parsed = md(
        "To boil:\n\n1. Fill it:\n   ```sh\n   pour\n   ```\n   Not too full.\n\n   - Cold water\n2. Wait.\n\n"
        "Then:\n\n```\nlook\n```\n\n    look again\n\nEnd.\n"
    )
    assert hanging(parsed) == [
        ("paragraph", "To boil:", []),
        ("list_item", "1. Fill it:", ["To boil:"]),
        ("code", "pour", ["To boil:", "1. Fill it:"]),
        ("paragraph", "Not too full.", ["To boil:", "1. Fill it:"]),
        ("list_item", "  - Cold water", ["To boil:", "1. Fill it:", "Not too full."]),
        ("list_item", "2. Wait.", ["To boil:"]),
        ("paragraph", "Then:", []),
        ("code", "look", ["Then:"]),
        ("code", "look again", ["Then:"]),
        ("paragraph", "End.", []),
    ]


def test_rows_hang_on_the_lead_in_and_the_header() -> None:
    assert hanging(md("What it costs:\n\n| part | price |\n|---|---|\n| lid | 2 |\n| foot | 3 |\n"))[1:] == [
        ("table_row", "part | price", ["What it costs:"]),
        ("table_row", "lid | 2", ["What it costs:", "part | price"]),
        ("table_row", "foot | 3", ["What it costs:", "part | price"]),
    ]


def test_definitions_hang_on_all_their_terms() -> None:
    assert hanging(md("lid\n: Keeps *steam* in.\n\n    Is hot.\n\nfoot\n: Stands.\n: Or not.\n")) == [
        ("term", "lid", []),
        ("paragraph", "Keeps steam in.", ["lid"]),
        ("paragraph", "Is hot.", ["lid"]),
        ("term", "foot", []),
        ("paragraph", "Stands.", ["foot"]),
        ("paragraph", "Or not.", ["foot"]),
    ]


@pytest.mark.parametrize(
    ("markup", "label"),
    [
        ("> [!WARNING]\n> It is hot.", "Warning"),
        ("> [!note] For *cooks*\n> It is hot.", "For cooks"),
        (":::warning\nIt is hot.\n:::", "Warning"),
        (":::tip Good to know\n\nIt is hot.\n\n:::", "Good to know"),
        (":::info[For `cooks`]\nIt is hot.\n:::", "For cooks"),
        ('::::caution{title="Mind it"}\nIt is hot.\n::::', "Mind it"),
        ("!!! danger\n    It is hot.", "Danger"),
        ('!!! note "For cooks"\n    It is hot.', "For cooks"),
        ('??? question "Why?"\n    It is hot.', "Why?"),
    ],
)
def test_the_body_of_an_admonition_hangs_on_its_label(markup: str, label: str) -> None:
    assert hanging(md(f"Before.\n\n{markup}\n\nAfter.\n")) == [
        ("paragraph", "Before.", []),
        ("label", label, []),
        ("paragraph", "It is hot.", [label]),
        ("paragraph", "After.", []),
    ]


def test_containers_that_are_no_admonitions_have_no_label() -> None:
    assert hanging(md("::: code-group\n```sh\nrun\n```\n:::\n\n> Just a quote.\n")) == [
        ("code", "run", []),
        ("quote", "Just a quote.", []),
    ]


def test_footnotes_stand_where_they_are_written() -> None:
    assert hanging(md("Hot.[^1] Cold.[^none]\n\n[^1]: At sea level.\n\n    Or near.\n\n# Next\n")) == [
        ("paragraph", "Hot. [1] Cold.[^none]", []),
        ("footnote", "[1] At sea level.", []),
        ("paragraph", "Or near.", ["[1] At sea level."]),
        ("heading", "Next", []),
    ]


def test_headings_have_the_anchors_that_pages_give_them() -> None:
    parsed = md(
        "# Set up: `it`!\n\na\n\n# Set up: it\n\n## Own {#mine}\n\n## Kramdown {: #yours .x}\n\nÄußerst heiß\n---\n\n"
        '<a id="near"></a>\n\n### Below\n\n<h2 id="html">In <i>HTML</i></h2>\n'
    )
    headings = [(block.heading, block.anchor) for block in parsed.blocks if block.kind == "heading"]
    assert headings == [
        ("Set up: it!", "set-up-it"),
        ("Set up: it", "set-up-it-1"),
        ("Set up: it > Own", "mine"),
        ("Set up: it > Kramdown", "yours"),
        ("Set up: it > Äußerst heiß", "äußerst-heiß"),
        ("Set up: it > Äußerst heiß > Below", "near"),
        ("Set up: it > In HTML", "html"),
    ]
    assert parsed.blocks[1].anchor == "set-up-it"


@pytest.mark.parametrize(
    "hidden",
    [
        "~~gone~~",
        "~~*gone* `gone`~~",
        "<del>gone</del>",
        "<s>gone</s>",
        "<strike>*gone*</strike>",
        "<span hidden>gone</span>",
        '<span style="display: none">gone <b>gone</b></span>',
        "<span style='color:red;VISIBILITY:hidden'>gone</span>",
        '<span style="font-size:0px">gone</span>',
        '<span style="opacity: 0.0">gone</span>',
        '<span style="position:absolute; left:-9999px">gone</span>',
        '<span style="color:#fff; background-color:#fff">gone</span>',
        '<i style="text-decoration:line-through">gone</i>',
        "<!-- gone -->",
        '<b title="a > b" hidden>gone</b>',
    ],
)
def test_hidden_words_are_left_out_and_that_is_said(hidden: str) -> None:
    parsed = md(f"It costs {hidden} two.\n\nNext.\n")
    assert parsed.text == "It costs two.\n\nNext."
    assert parsed.left_out == passages_left_out(1)


def test_a_hidden_part_may_hold_blocks_of_markdown() -> None:
    parsed = md(
        "A.\n\n<div hidden>\n\ngone *gone*\n\n- gone\n\n```\ngone\n```\n\n</div>\n\nB ~~gone~~ and <del>gone.\n\nC.\n"
    )
    assert parsed.text == "A.\n\nB and\n\nC."
    assert parsed.left_out == passages_left_out(3)


@pytest.mark.parametrize(
    "shown", ['<span style="font-size:0.8em">is</span>', "<b class='hidden'>is</b>", "\\~~is~~", "`<s>`"]
)
def test_what_only_looks_hidden_is_kept(shown: str) -> None:
    parsed = md(f"It {shown} here.")
    assert parsed.left_out == ()
    assert "is" in parsed.text or "<s>" in parsed.text


def test_mdx_is_read_as_prose() -> None:
    parsed = mdx(
        'import Tabs from "@theme/Tabs"\nimport {\n  A,\n\n  B,\n} from "x"\n\n'
        "export const meta = {\n  a: 1,\n\n  b: [2],\n}\n\n"
        "# Boil {#boil}\n\n{/* a note to ourselves */}\n\n"
        '<Tabs values={[{ label: "a > b", value: `c` }]}>\n'
        '  <TabItem value="gas">\n\n    Light *it* {props.when}now.\n\n'
        '    ```js\n    import x from "y"\n    <Lid a={1} />\n    ```\n\n  </TabItem>\n</Tabs>\n\n'
        'Use `<Lid a={1}>` where a < b, {"always"} <b>gently</b>.<Icon name="x"/> \\{kept\\}\n\n'
        "<span style={{ display: 'none' }}>gone</span>\n\n:::note\n\nHot.\n\n:::\n"
    )
    assert hanging(parsed) == [
        ("heading", "Boil", []),
        ("paragraph", "Light it {props.when}now.", []),
        ("code", 'import x from "y"\n<Lid a={1} />', ["Light it {props.when}now."]),
        ("paragraph", "Use <Lid a={1}> where a < b, always gently. {kept}", []),
        ("label", "Note", []),
        ("paragraph", "Hot.", ["Note"]),
    ]
    assert parsed.blocks[0].anchor == "boil"
    assert parsed.media_type == "text/mdx"
    assert parsed.left_out == passages_left_out(2)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("Value is {value}.", "Value is {value}."),
        ("## Version {meta.version}", "Version {meta.version}"),
        ("It waits { 30 } seconds.", "It waits 30 seconds."),
        ("It has {count} parts and {names.length} names.", "It has {count} parts and {names.length} names."),
        ("One <b>{value}</b> more.", "One {value} more."),
        ("Before.\n\n{children}\n\n<Box>{props.children}</Box> {value}\n\nAfter.", "Before.\n\nAfter."),
        ("It is {on && <b>on</b>}{null}{list.map(show)}off.", "It is off."),
    ],
)
def test_an_expression_that_is_a_name_leaves_no_hole(source: str, shown: str) -> None:
    assert mdx(source).text == shown


def test_markdown_that_imports_modules_is_mdx() -> None:
    assert md('import X from "x"\n\n<X>*Hot.*</X>\n').text == "Hot."
    assert md("import taxes are {high}.\n").text == "import taxes are {high}."


NOT_VALID = "The front matter is not valid {}: what could not be read of it is kept as it is written."


@pytest.mark.parametrize(
    ("front", "metadata"),
    [
        ("created: {{date}}", {"created": "{{date}}"}),
        ("author: @ana\ntags:\n\t- boats", {"author": "@ana", "tags": ["boats"]}),
        ("note: *important*\nsail: %x", {"note": "*important*", "sail": "%x"}),
        ('said: "Say "ahoy" to her"\nboats: 2', {"said": 'Say "ahoy" to her', "boats": 2}),
        ("created: 2031-02-30", {"created": "2031-02-30"}),
        ("a: 2026-13-45", {"a": "2026-13-45"}),
        ("a: " + "9" * 9_000, {"a": "9" * 9_000}),
        ("a: &a [*a]", {"a": "&a [*a]"}),
        ("a: " + "[" * 4_900 + "]" * 4_900, {"a": "[" * 4_900 + "]" * 4_900}),
    ],
    ids=["template", "at", "star", "quotes", "day", "month", "digits", "recursive", "deep"],
)
def test_front_matter_that_yaml_dislikes_is_no_text_and_keeps_its_values(front: str, metadata: dict[str, str]) -> None:
    parsed = md(f"---\ntitle: Care: of boats\n{front}\n---\nText.")
    assert (parsed.text, parsed.title, parsed.metadata) == ("Text.", "Care: of boats", metadata)
    assert parsed.warnings == (NOT_VALID.format("YAML"),)


def test_front_matter_of_toml_is_read() -> None:
    front = '+++\ntitle = "Mast"\ndate = 2031-02-03\n[params]\ntags = ["a"]\n+++\nText.'
    assert (md(front).text, md(front).title) == ("Text.", "Mast")
    assert md(front).metadata == {"date": "2031-02-03", "params": {"tags": ["a"]}}
    broken = md("+++\ntitle = Mast and sail\ndraft = true\n+++\nText.")
    assert (broken.text, broken.title, broken.metadata) == ("Text.", "Mast and sail", {"draft": True})
    assert broken.warnings == (NOT_VALID.format("TOML"),)


def test_front_matter_too_large_to_be_read_is_no_text() -> None:
    parsed = md("---\n" + "a: b\n" * 30_000 + "---\nText.")
    assert (parsed.text, ["too large" in warning for warning in parsed.warnings]) == ("Text.", [True])
    assert md("---\nNothing here\n---\nText.").text == "Nothing here\n\nText."


def test_front_matter_holds_only_what_json_can() -> None:
    assert md("---\na: .nan\nb: -.inf\n---\nText.").metadata == {"a": "nan", "b": "-inf"}


@pytest.mark.parametrize(
    "text",
    ["<!-- ", "<!--\n", "<div>\n<!-- ", "<? ", "<!A ", "<a ", '<a b="', "<div><a \"'", "<del>a ", "~~a~ ", "a<b>",
     "{#a", "[a](", "a `b`` ", ":::note\na\n:::\n", "a\n: b\n", "[^a]: b\n\n", "$a ", "$$a ", "$$\na\n", "\\(x^ ",
     "%%a ", "%%\na\n", "==a ", "[[a ", "![[a", "<table>\n", "<table>\n\n</table ", "<sup>a", "<a href=#>", "$\\{"],
)  # fmt: skip
def test_repeated_openings_take_linear_time(text: str) -> None:
    hanging(md("Start.\n\n" + text * (40_000 // len(text)) + "\n\nEnd."))


@pytest.mark.parametrize(
    "text", ["{", "{'", "<A ", '<A b="', "<A b={", "<a b={{}}", "<a bb", "`a``b", "export a {\n\n", "import a\n"]
)
def test_repeated_openings_of_mdx_take_linear_time(text: str) -> None:
    hanging(mdx("Start.\n\n" + text * (40_000 // len(text)) + "\n\nEnd."))


def test_spaces_take_linear_time() -> None:
    spaces = " " * 200_000
    assert md(f"# a{spaces}b\n\nc{spaces}d ~~e~~{spaces}f\n").text.split() == ["a", "b", "c", "d", "f"]


PIECES = st.sampled_from(
    ["word ", "*", "**", "`", "```\n", "~~", "<del>", "</del>", "<div hidden>\n", "</div>\n", "<!-- ", "-->", "\n",
     "\n\n", "\n    ", "# ", "- ", "1. ", "> ", "> [!NOTE]\n", ":::note\n", ":::\n", "!!! tip\n    ", "\n: ", "[^1]",
     "[^1]: ", "| a |\n|---|\n| b |\n", "{", "}", "<A b={", ">", "import a from 'b'\n", "{#x}\n", "\\", "$",
     "$$\n", "%%", "==", "[[", "]]",
     "\\(", "<sup>", "</sup>", "<table>\n", "</table>\n", "<td>", "[a](http://b.c/d)", "é", "灯", "\t"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40), st.booleans())
def test_any_mixture_of_markup_is_blocks_in_order(pieces: list[str], as_mdx: bool) -> None:
    hanging((mdx if as_mdx else md)("# Start\n\nStart.\n\n" + "".join(pieces)))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("1200[^3] euros, 10<sup>6</sup> tons of CO<sub>2</sub>.\n\n[^3]: Net.", "1200 [3] euros, 10^6 tons of CO2."),
        ("Founded in 1204<sup><a href='#f1'>1</a></sup>.", "Founded in 1204 [1]."),
        ("Founded in 1204[<sup>2</sup>](#f2).", "Founded in 1204 [2]."),
        ("Take 1<sup>1</sup>/<sub>2</sub> cups, or 2&frac12;.", "Take 1 1/2 cups, or 2½."),
        (r"Take $\frac{1}{2}$, 2$\frac34$ or \(10^{-4}\) of $x$.", "Take 1/2, 2 3/4 or 10^-4 of x."),
        ("It costs $5, then $6; US$7 to A$8, or 5$ and 6$.", "It costs $5, then $6; US$7 to A$8, or 5$ and 6$."),
        ("Set $HOME:$PATH and \\(so\\), 50%% or 60%%.", "Set $HOME:$PATH and (so), 50%% or 60%%."),
        ("$$\n\\frac{a+b}{c}\n= 2\n$$", "(a+b)/c = 2"),
        ("```math\n\\sqrt{16}\n```", "sqrt(16)"),
        (r"It is $\unknown{x}$ here.", r"It is $\unknown{x}$ here."),
        ("See [[Wood types|wood]] in [[Tools#Oil]], ==three *years*== if a==b or c==d.",
         "See wood in Tools > Oil, three years if a==b or c==d."),
        ("The mast is oiled. ^mast-1", "The mast is oiled."),
        ("See [[1]](https://example.org/a).", "See [1] <https://example.org/a>."),
        ("Write to [Ann](mailto:ann@example.org?cc=x) or [us](tel:+4955).", "Write to Ann <ann@example.org> or us."),
        ("In [the portal](https://hr.example.org/leave), [here](#here), [there](b.md).",
         "In the portal <https://hr.example.org/leave>, here, there."),
        ("At [hr.example.org](https://hr.example.org/) and <https://a.example/b>.", "At hr.example.org and https://a.example/b."),
    ],
)  # fmt: skip
def test_a_line_says_what_is_shown(markup: str, text: str) -> None:
    assert md(markup).text.split("\n\n")[0] == text


def test_what_is_only_named_or_hidden_is_counted() -> None:
    parsed = md(
        "Hull ![[boat.png|300]] of wood %%cost 900%% is\n\n%%\nsecret\n\nmore\n%%\n\n[old](https://a.example/1)."
    )
    assert parsed.text == "Hull of wood is\n\nold."
    hidden, embedded, address = parsed.left_out
    assert (hidden,) == passages_left_out(2)
    assert embedded.startswith("1 embedded file")
    assert address.startswith("1 address")


def test_the_sources_of_formulas_stand_beside_them() -> None:
    parsed = md("# Of $x^2$\n\nA $\\frac12$ and\n\n$$\ny_1\n$$\n")
    assert [parsed.text[one.start : one.end] for one in parsed.formulas] == ["x^2", "1/2", "y_1"]
    assert [one.source for one in parsed.formulas] == ["x^2", r"\frac12", "y_1"]
    assert parsed.title == "Of x^2"


def test_html_within_markdown_is_read_as_a_page_is() -> None:
    table = "<table>\n<tr><td rowspan=2>Monday</td><td>9</td></tr>\n\n<tr><td>\n\n**10**\n\n</td></tr>\n</table>"
    assert hanging(md(f"Hours:\n\n{table}\n\n<ol start=3><li>Row</li></ol>\n\n<h2>Sail</h2>\n\nUp."))[1:] == [
        ("table_row", "Monday | 9", []),
        ("table_row", "Monday | 10", []),
        ("list_item", "3. Row", []),
        ("heading", "Sail", []),
        ("paragraph", "Up.", []),
    ]
    assert "Monday | 10" in mdx(table).text


def test_a_file_of_several_top_headings_is_titled_by_none_of_them() -> None:
    assert md("# Mast\n\nUp.\n\n# Sail\n\nDown.").title is None
    assert md("# Mast\n\nUp.\n\n## Sail\n\n## Rope\n\nDown.").title == "Mast"


def test_a_heading_from_the_middle_or_of_a_section_is_no_title() -> None:
    assert md(f"{'The sea is wide. ' * 200}\n\n# Harbours\n\nThey are deep.").title is None
    for numbered in ("1 Introduction", "1. Introduction", "5.1 Tuning of sails"):
        assert md(f"# {numbered}\n\nThe mast is high.").title is None
    for named in ("10 rules for sailors", "2031 report", "7 Seas"):
        assert md(f"# {named}\n\nThe mast is high.").title == named
