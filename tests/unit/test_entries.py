"""Entries: exact slices with what they hang on, and the passage that is quoted for one."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.citations import context_of_quote, heading_path
from answers.entries import entries_of
from answers.entry import Entry
from graph.evidence import ContextSlice, Segment, SegmentBlock
from tools.embeddings.embedder import count_tokens
from tools.parsers import parse
from tools.parsers.canonical_text import CanonicalText
from tools.retrieval.segmenting import SegmentSize, segment
from tools.retrieval.structure import MOST_HEADINGS, blocks_within, pack_blocks, unpack_blocks

SETTINGS = b"""<html><body><main><h1>Memory</h1><p>These settings limit memory.</p>
<dl><dt id="guc-pool">pool_size (integer)</dt>
<dd><p>Sets the size of the pool. The default is four megabytes. It needs a restart.</p></dd>
<dt>pool_wait (seconds)</dt><dd><p>How long to wait. The default is ten.</p></dd></dl>
<p>Set it for one run with this command:</p><pre>broker --pool-size 8MB</pre>
<table><caption>Limits</caption><tr><th>Item</th><th>Most</th></tr><tr><td>queues</td><td>400</td></tr>
<tr><td>readers</td><td>25</td></tr></table></main></body></html>"""


def segments_of(data: bytes, name: str, limit: int = 300) -> list[Segment]:
    parsed = parse(data, name=name)
    return [
        Segment("d", span.segment_index, span.start, span.end, parsed.text[span.start : span.end], blocks=span.blocks)
        for span in segment(parsed, SegmentSize(limit), count_tokens)
    ]


def entry(text: str, limit: int = 300) -> Entry:
    for one in segments_of(SETTINGS, "settings.html", limit):
        for each in entries_of(one):
            if each.text == text:
                return each
    raise AssertionError(text)


def around(one: Entry) -> dict[str, str]:
    return {each.role: each.text for each in one.context}


@pytest.mark.parametrize("limit", [300, 30, 12])
def test_a_sentence_is_read_with_its_term_wherever_its_segment_begins(limit: int) -> None:
    found = entry("The default is four megabytes.", limit)
    assert around(found)["term"] == "pool_size (integer)"
    assert around(found)["heading"] == "Memory"
    assert found.anchor == "guc-pool"


@pytest.mark.parametrize("limit", [300, 12])
def test_a_row_is_read_under_its_header_and_caption(limit: int) -> None:
    found = entry("readers | 25", limit)
    assert around(found)["header"] == "Item | Most"
    assert around(found)["caption"] == "Limits"


HANDBOOK = b"""# Handbook

## Not allowed

### File > Save

- a grill on the balcony

## Allowed

A lamp.
"""


@pytest.mark.parametrize("limit", [300, 9])
@pytest.mark.parametrize(
    ("start", "path"),
    [
        ("- a grill", ["Handbook", "Not allowed", "File > Save"]),
        ("A lamp", ["Handbook", "Allowed"]),
        ("Allowed", []),
    ],
)
def test_all_headings_above_an_entry_are_known_wherever_its_segment_begins(
    start: str, path: list[str], limit: int
) -> None:
    [(of, found)] = [
        (one, each)
        for one in segments_of(HANDBOOK, "a.md", limit)
        for each in entries_of(one)
        if each.text.startswith(start)
    ]
    assert heading_path(of, found.start) == path
    assert found.surroundings == "".join(path[-1:])


def test_headings_above_a_text_without_structure_are_those_of_its_segment() -> None:
    assert heading_path(Segment("d", 0, 7, 13, "A lamp", heading="Handbook > Allowed"), 7) == ["Handbook", "Allowed"]


def headings_above(text: CanonicalText) -> dict[str, list[str]]:
    parsed = text.parsed()
    [blocks] = blocks_within(parsed, [(0, len(parsed.text))])
    return {parsed.text[each.start : each.end]: [part.text for part in each.context] for each in blocks}


def test_a_slide_without_a_heading_hangs_on_none_of_the_slide_before() -> None:
    text = CanonicalText()
    text.add_heading(1, "Prices")
    text.add("paragraph", "A day costs 4 euros.")
    text.leave_headings()
    text.add("paragraph", "Thank you.")
    assert headings_above(text) == {"Prices": [], "A day costs 4 euros.": ["Prices"], "Thank you.": []}


def test_what_is_attached_stands_below_the_headings_of_both() -> None:
    attached, mail = CanonicalText(), CanonicalText()
    attached.add_heading(1, "Offer")
    attached.add("paragraph", "It costs 4 euros.")
    mail.add_heading(1, "Re: offer")
    mail.include(attached.parsed())
    mail.add("paragraph", "Yours, Ann")
    above = headings_above(mail)
    assert above["It costs 4 euros."] == ["Re: offer", "Offer"]
    assert above["Yours, Ann"] == ["Re: offer"]


def test_of_very_many_headings_the_nearest_are_kept() -> None:
    text = CanonicalText()
    for level in range(1, 10):
        text.add_heading(level, f"Level {level}")
    text.add("paragraph", "A lamp.")
    assert headings_above(text)["A lamp."] == [f"Level {level}" for level in range(10 - MOST_HEADINGS, 10)]


def test_it_is_read_with_the_sentence_before() -> None:
    found = entry("It needs a restart.")
    assert around(found)["before"] == "The default is four megabytes."


def test_a_pronoun_reaches_the_sentence_that_names_whom_it_points_to() -> None:
    text = b"Her sister Greta left for Rome. She learned to draw. She opened a shop in 1902."
    [*_, she] = entries_of(segments_of(text, "a.md")[0])
    assert [each.text for each in she.context if each.role == "before"] == [
        "Her sister Greta left for Rome.",
        "She learned to draw.",
    ]


def test_a_sentence_about_he_hangs_on_the_one_that_names_him_not_on_one_before() -> None:
    [of] = segments_of(b"Rumours say that the Kestrel weighs 2 kg. Tom Berry designed it. He lives in Oslo.", "a.md")
    [*_, he] = entries_of(of)
    assert [each["text"] for each in context_of_quote(of, he.start, he.end)] == ["Tom Berry designed it."]


def test_headings_terms_and_headers_are_never_quoted() -> None:
    [whole] = segments_of(SETTINGS, "settings.html")
    quotable = {each.text for each in entries_of(whole) if each.quotable}
    assert not {"Memory", "pool_size (integer)", "Limits", "Item | Most"} & quotable
    assert {"queues | 400", "The default is ten.", "broker --pool-size 8MB"} <= quotable


WORDS = st.text("ab .:\n", max_size=12)
PAGE = st.recursive(
    WORDS,
    lambda inner: st.tuples(
        st.sampled_from(["p", "dl", "dt", "dd", "ul", "li", "table", "tr", "td", "th", "pre", "h2", "div"]),
        st.lists(inner, max_size=4),
    ).map(lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"),
    max_leaves=24,
)


@given(PAGE, st.integers(4, 60))
def test_entries_are_exact_in_order_and_their_contexts_too(page: str, limit: int) -> None:
    data = f"<html><body>a b.{page}</body></html>".encode()
    text = parse(data, name="page.html").text
    for one in segments_of(data, "page.html", limit):
        entries = entries_of(one)
        assert all(text[each.start : each.end] == each.text for each in entries)
        assert all(one.start <= each.start < each.end <= one.end for each in entries)
        assert all(before.end <= after.start for before, after in itertools.pairwise(entries))
        assert all(text[part.start : part.end] == part.text for each in entries for part in each.context)


def test_a_segment_without_structure_is_read_by_the_form_of_its_text() -> None:
    [whole] = segments_of(SETTINGS, "settings.html")
    bare = replace(whole, blocks=())
    assert "The default is ten." in {each.text for each in entries_of(bare)}


def test_blocks_are_stored_and_read_back() -> None:
    for one in segments_of(SETTINGS, "settings.html", 12):
        assert unpack_blocks(pack_blocks(one.blocks)) == one.blocks
    assert unpack_blocks(None) == ()


@pytest.mark.parametrize("kind", [(), ("repeals",), (None,)])
def test_what_an_earlier_release_stored_as_governing_is_left_out(kind: tuple[str | None, ...]) -> None:
    slices = [["heading", 0, 5, "Leave"], ["governs", 35, 58, "That was never adopted.", *kind], ["lead", 7, 9, "A:"]]
    stored = [slices, [[0, 5, "heading", [], "", 1], [7, 9, "paragraph", [0, 1]], [10, 34, "list_item", [0, 1, 2]]]]
    heading, lead = ContextSlice("heading", 0, 5, "Leave"), ContextSlice("lead", 7, 9, "A:")
    assert unpack_blocks(stored) == (
        SegmentBlock(0, 5, "heading", depth=1),
        SegmentBlock(7, 9, "paragraph", (heading,)),
        SegmentBlock(10, 34, "list_item", (heading, lead)),
    )


def test_a_wide_header_row_is_never_quoted() -> None:
    header = "".join(f"<th>The name of the column {number}</th>" for number in range(12))
    page = f"<html><body><table><tr>{header}</tr><tr>{'<td>1</td>' * 12}</tr></table></body></html>"
    [whole] = segments_of(page.encode(), "wide.html")
    assert [each.text for each in entries_of(whole) if each.quotable] == [" | ".join("1" * 12)]
