"""Passages: what is shown for an entry can be judged alone, whatever structure the entry stands in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.citations import heading_path
from answers.entries import entries_of
from answers.entry import Entry
from answers.passage_markdown import as_markdown
from answers.passages import MOST_LISTED, MOST_SHOWN, ROWS_BESIDE, Passages, is_whole
from graph.evidence import Segment
from tools.embeddings.embedder import count_tokens
from tools.parsers import parse
from tools.retrieval.segmenting import SegmentSize, segment

SENTENCE = st.sampled_from(
    [
        "The harbour opens at six.",
        "Dogs travel on a lead.",
        "What does it cost?",
        "It costs ten euros and no more.",
        "Why?",
    ]
)
LINES = st.lists(SENTENCE, min_size=1, max_size=6).map(" ".join)
BLOCK = st.one_of(
    LINES,
    SENTENCE.map(lambda text: f"## {text.rstrip('.?')}"),
    SENTENCE.map(lambda text: f"{text.rstrip('.?')}:"),
    st.lists(SENTENCE, min_size=1, max_size=30).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(SENTENCE, min_size=1, max_size=4).map(
        lambda items: "\n".join(f"{at}. {each}" for at, each in enumerate(items, 1))
    ),
    st.lists(SENTENCE, min_size=1, max_size=40).map(
        lambda rows: "| What | Says |\n|---|---|\n" + "\n".join(f"| {at} | {row} |" for at, row in enumerate(rows))
    ),
    st.just("```\nharbour --open 6\n```"),
    st.just("> Where do I park?"),
)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=12).map("\n\n".join)


def segments_of(text: str, name: str = "a.md", size: int = 300) -> list[Segment]:
    parsed = parse(text.encode(), name=name)
    return [
        Segment("d", each.segment_index, each.start, each.end, parsed.text[each.start : each.end], blocks=each.blocks)
        for each in segment(parsed, SegmentSize(size), count_tokens)
    ]


def shown_for(text: str, begins: str, name: str = "a.md") -> str:
    """Return the passage of the entry that begins so, as Markdown."""
    for one in segments_of(text, name):
        entries = entries_of(one)
        for at, entry in enumerate(entries):
            if entry.quotable and entry.text.startswith(begins):
                shown = Passages(entries).of(at)
                assert is_whole(entries, shown)
                return as_markdown(one, entries[shown.start : shown.stop])
    raise AssertionError(begins)


def size(entries: tuple[Entry, ...], shown: range) -> int:
    return entries[shown[-1]].end - entries[shown[0]].start


@given(DOCUMENT)
def test_a_passage_is_a_slice_of_one_section_that_holds_its_entry_and_is_not_too_long(text: str) -> None:
    for one in segments_of(text):
        entries = entries_of(one)
        for at, entry in enumerate(entries):
            if not entry.quotable:
                continue
            shown = Passages(entries).of(at)
            told = entries[shown.start : shown.stop]
            assert at in shown
            assert not any(each.kind == "heading" for each in told)
            assert len({tuple(heading_path(one, each.start)) for each in told}) == 1
            fewest = 2 * ROWS_BESIDE + 1 if entry.kind == "table_row" else 1
            listed = any(each.kind in ("list_item", "table_row") for each in told)
            assert len(shown) <= fewest or size(entries, shown) <= (MOST_LISTED if listed else MOST_SHOWN)


@given(DOCUMENT)
def test_a_passage_ends_in_no_question_and_no_lead_in_unless_nothing_follows_in_its_section(text: str) -> None:
    for one in segments_of(text):
        entries = entries_of(one)
        for at, entry in enumerate(entries):
            if entry.quotable and not is_whole(entries, shown := Passages(entries).of(at)):
                last = shown[-1]
                follows = last + 1 < len(entries) and entries[last + 1].kind != "heading"
                assert not follows or entries[last + 1].asks or size(entries, range(last, last + 2)) > MOST_SHOWN


FAQ = {
    "bold": "# Help\n\n**How do I cancel?**\n\nWrite to billing ten days before.\n\n**How do I pay?**\n\nBy card.",
    "plain": "# Help\n\nHow do I cancel?\n\nWrite to billing ten days before.\n\nHow do I pay?\n\nBy card.",
    "labels": "# Help\n\nQ: How do I cancel?\nA: Write to billing ten days before.\n\nQ: How do I pay?\nA: By card.",
    "numbered": "1. How do I cancel?\n\n   Write to billing ten days before.\n\n2. How do I pay?\n\n   By card.",
    "led up to": "I bought too much. How do I cancel?\n\nWrite to billing at once.\n\nHow do I pay?\n\nBy card.",
    "Chinese": "# 帮助\n\n如何取消？\n\n请提前十天写信。\n\n如何付款？\n\n刷卡。",
}


@pytest.mark.parametrize("form", FAQ)
def test_a_stored_question_and_its_answer_are_shown_together_and_without_the_next_question(form: str) -> None:
    asked, answer, following = (
        ("如何取消", "请提前十天", "付款") if form == "Chinese" else ("How do I", "Write to", "pay")
    )
    for one in segments_of(FAQ[form]):
        entries = entries_of(one)
        for at, entry in enumerate(entries):
            if entry.quotable and (answer in entry.text or "cancel" in entry.text or "取消" in entry.text):
                shown = Passages(entries).of(at)
                text = as_markdown(one, entries[shown.start : shown.stop])
                assert asked in text
                assert answer in text
                assert following not in text
                assert ("too much" in text) == (form == "led up to")


def test_a_reply_is_shown_under_the_question_that_it_quotes() -> None:
    assert "Where do I park" in shown_for("> Where do I park?\n\nBehind the hall.\n\n> And when?\n\nAt noon.", "Behind")


def test_an_item_brings_its_lead_in_its_list_and_what_is_nested_in_it() -> None:
    text = "# Balcony\n\nNot allowed:\n\n- smoking\n- grills\n  - of coal\n  - of gas\n- cats\n\nAsk the office."
    for begins in ("- smoking", "- grills", "- of gas", "- cats", "Not allowed"):
        shown = shown_for(text, begins)
        assert all(each in shown for each in ("Not allowed:", "smoking", "grills", "of coal", "of gas", "cats"))


def test_a_bullet_of_minutes_is_shown_with_its_speaker() -> None:
    said = "- Ann: We close the pier. " + "It leaks. " * 20 + "\n- Bob: I am against it. Boats need it."
    assert "Bob:" in shown_for(f"# Minutes\n\n{said}", "Boats need it")


TABLE = "# Rooms\n\n| Room | Seats |\n|---|---|\n" + "\n".join(
    f"| Room {at} | {at * 3} on {'oak ' * 90} |" for at in range(1, 80)
)


def test_a_row_of_a_long_table_is_shown_as_a_table_under_its_header() -> None:
    shown = shown_for(TABLE, "Room 40").splitlines()
    assert shown[:2] == ["| Room | Seats |", "| --- | --- |"]
    assert any(row.startswith("| Room 40 | 120 ") for row in shown)
    assert sum(map(len, shown)) <= MOST_LISTED


def test_a_short_table_is_shown_whole_with_its_caption() -> None:
    html = "<table><caption>Fares</caption><tr><th>Who</th><th>Euro</th></tr><tr><td>Adult</td><td>9</td></tr>"
    shown = shown_for(f"<main><h1>Ferry</h1>{html}<tr><td>Child</td><td>4</td></tr></table></main>", "Child", "a.html")
    assert shown == "Fares\n\n| Who | Euro |\n| --- | --- |\n| Adult | 9 |\n| Child | 4 |"


def test_a_bar_in_a_cell_and_a_fence_in_code_break_nothing() -> None:
    assert r"a\|b" in shown_for("| Key | Says |\n|---|---|\n| x | a\\|b c |", "x")
    assert shown_for("````\nopen\n```\n````", "open").startswith("````")


def test_a_term_is_shown_with_its_definition_and_code_with_what_introduces_it() -> None:
    settings = "<dl><dt>pool (integer)</dt><dd><p>Sets the size.</p><p>The default is four.</p></dd></dl>"
    shown = shown_for(
        f"<main><h1>S</h1>{settings}<p>To see it, run this:</p><pre>show pool</pre></main>", "The def", "a.html"
    )
    assert shown.startswith("pool (integer)")
    assert "Sets the size." in shown
    assert "To see it" in shown_for("# S\n\nTo see it, run this:\n\n```\nshow pool\n```", "show pool")


def test_short_surroundings_are_shown_on_both_sides_but_no_other_section() -> None:
    text = "# A\n\nOld.\n\n## B\n\nThe pier is open.\n\nDogs are welcome.\n\nThis was withdrawn.\n\n## C\n\nNew."
    shown = shown_for(text, "Dogs")
    assert all(each in shown for each in ("pier", "withdrawn"))
    assert not any(each in shown for each in ("Old", "New"))


def test_tables_that_stand_back_to_back_stay_apart_and_one_without_a_header_has_none() -> None:
    first = "<table><tr><th>Room</th><th>Seats</th></tr><tr><td>A</td><td>20</td></tr></table>"
    second = "<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Pro</td><td>9</td></tr></table>"
    shown = shown_for(f"<main><h1>T</h1>{first}{second}</main>", "Pro", "a.html")
    assert shown.endswith("| Plan | Price |\n| --- | --- |\n| Pro | 9 |")
    bare = "<table><tr><td>Alice</td><td>100</td></tr><tr><td>Bob</td><td>200</td></tr></table>"
    shown = shown_for(f"<main><h1>T</h1>{bare}</main>", "Bob", "a.html")
    assert shown.splitlines()[0].replace(" ", "") == "|||"


def test_a_row_of_long_cells_is_shown_alone_and_code_keeps_its_first_indent() -> None:
    rows = "\n".join(f"| Row {at} | {'oak ' * 400} |" for at in range(3))
    shown = shown_for(f"| Key | Says |\n|---|---|\n{rows}", "Row 1")
    assert "Row 0" not in shown
    assert "Row 2" not in shown
    assert shown_for("```\n    def f():\n        return 1\n```", "def f") == "```\n    def f():\n        return 1\n```"
