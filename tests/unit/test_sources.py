"""Excerpts and the gate that citations pass."""

from hypothesis import given
from hypothesis import strategies as st

from graph.sources import excerpt, nearest
from graph.state import Candidate, CitationRow, merge_spent
from tests.fakes import segment
from tools.messages import cite


@given(st.text(max_size=1200))
def test_an_excerpt_is_short_and_says_where_it_was_cut(text: str) -> None:
    shown = excerpt(text)
    flat = " ".join(text.split())
    assert len(shown) <= 500
    assert shown == flat or (shown.endswith("...") and flat.startswith(shown[:-3]))


def row(start: int, end: int) -> CitationRow:
    return CitationRow(
        section_index=0,
        source_index=1,
        segment_id="doc:2",
        start=start,
        end=end,
        origin="cited",
        verdict="supported",
    )


def test_a_citation_quotes_the_canonical_text_at_its_offsets() -> None:
    source = segment("doc", 2, "It rains. It snows.", start=40)
    (citation,) = cite([row(50, 59)], {"doc:2": source})
    assert citation["quote"] == "It snows."


def test_a_span_that_lies_outside_its_segment_is_never_a_citation() -> None:
    source = segment("doc", 2, "It rains. It snows.", start=40)
    assert cite([row(30, 49), row(50, 80), row(50, 50)], {"doc:2": source}) == []
    assert cite([row(50, 59)], {}) == []


def test_a_node_that_runs_twice_adds_to_its_account() -> None:
    once = {"grade_segments": {"calls": 1, "tokens": 20, "ms": 1.5}}
    assert merge_spent(once, once) == {"grade_segments": {"calls": 2, "tokens": 40, "ms": 3.0}}  # type: ignore[arg-type]


def test_what_came_nearest_is_named_once_however_it_was_gathered() -> None:
    gathered = [
        Candidate(segment_id="a:0", kind="search", score=0.2),
        Candidate(segment_id="b:0", kind="search", score=0.9),
        Candidate(segment_id="a:0", kind="page", score=1.0),
        Candidate(segment_id="c:0", kind="search", score=0.4),
        Candidate(segment_id="d:0", kind="search", score=0.1),
    ]
    assert [row["segment_id"] for row in nearest(gathered)] == ["a:0", "b:0", "c:0"]
