"""Excerpts and the gate that citations pass."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.citations import build_citation, build_claim, excerpt, landing_url, nearest_sources, said_place
from answers.fusion import repeated_texts, without_copies
from graph.evidence import Citation, Hit, Proof, Section, Segment, SegmentBlock, Spent
from graph.rows import ClaimRow, SourceRow
from graph.state import spent_with
from tests.fakes import segment


@given(st.text(max_size=1200))
def test_an_excerpt_is_short_and_says_where_it_was_cut(text: str) -> None:
    shown = excerpt(text)
    flat = " ".join(text.split())
    assert len(shown) <= 500
    assert shown == flat or (shown.endswith("...") and flat.startswith(shown[:-3]))


SOURCE = segment("doc", 2, "It rains. It snows.", start=40)


def proof(start: int, end: int) -> Proof:
    return Proof(segment_id="doc:2", start=start, end=end, origin="cited")


def test_a_citation_quotes_the_canonical_text_at_its_offsets() -> None:
    quoted = build_citation(proof(50, 59), SOURCE, source_index=1, section_index=0, verdict="supported")
    assert quoted is not None
    assert quoted["quote"] == "It snows."


@pytest.mark.parametrize(
    ("labels", "page_idx", "label"),
    [(["i", "ii", "1"], 1, "ii"), (["1", "2", "A-3"], 1, None), (["i"], 4, None), ({"i": 1}, 0, None), ([7], 0, None)],
)
def test_a_page_is_called_what_its_file_calls_it(labels: object, page_idx: int, label: str | None) -> None:
    labelled = replace(SOURCE, page_idx=page_idx, metadata={"page_labels": labels}, media_type="application/pdf")
    quoted = build_citation(proof(50, 59), labelled, source_index=1, section_index=0, verdict="supported")
    assert quoted is not None
    assert (quoted["page_idx"], quoted.get("page_label")) == (page_idx, label)
    assert said_place(quoted) == f"page {label or page_idx + 1}"


def anchored(url: str | None) -> Segment:
    blocks = (
        SegmentBlock(40, 49, "paragraph", anchor="rain"),
        SegmentBlock(50, 59, "paragraph", anchor="snow (deep)"),
    )
    return replace(SOURCE, url=url, blocks=blocks)


def test_a_quote_knows_its_place_in_the_page_that_its_document_has() -> None:
    def quoted(of: Segment, start: int, end: int) -> Citation:
        found = build_citation(proof(start, end), of, source_index=1, section_index=0, verdict="supported")
        assert found is not None
        return found

    page = anchored("https://weather.example/today")
    assert quoted(page, 40, 49)["anchor"] == quoted(page, 40, 59)["anchor"] == "rain"
    assert quoted(page, 50, 59)["anchor"] == "snow (deep)"
    assert "anchor" not in quoted(anchored(None), 50, 59)
    assert "anchor" not in quoted(replace(page, blocks=()), 50, 59)


def test_a_place_is_put_behind_an_address_that_has_none() -> None:
    assert landing_url("https://a.example/b", "guc-work-mem") == "https://a.example/b#guc-work-mem"
    assert landing_url("https://a.example/b", "snow (deep) 雪") == "https://a.example/b#snow%20%28deep%29%20%E9%9B%AA"
    assert landing_url("https://a.example/b#top", "rain") == "https://a.example/b#top"
    assert landing_url("https://a.example/b", "") == "https://a.example/b"


@pytest.mark.parametrize("span", [(30, 49), (50, 80), (50, 50)])
def test_a_span_that_lies_outside_its_segment_is_never_a_citation(span: tuple[int, int]) -> None:
    assert build_citation(proof(*span), SOURCE, source_index=1, section_index=0, verdict="supported") is None
    assert build_citation(proof(50, 59), None, source_index=1, section_index=0, verdict="supported") is None


def test_a_claim_that_nothing_can_be_quoted_for_any_more_is_not_supported() -> None:
    row = ClaimRow(section_index=0, start=0, end=9, verdict="supported", reasons=[], proofs=[proof(50, 59)])
    section = Section(text="It snows.", source_ids=["doc:2"])
    assert build_claim(row, section, {"doc:2": SOURCE}, {"doc:2": 1})["verdict"] == "supported"
    lost = build_claim(row, section, {}, {"doc:2": 1})
    assert (lost["verdict"], lost["citations"]) == ("unverified", [])
    assert "changed" in lost["reasons"][0]


def test_a_copy_is_told_by_its_text_and_a_short_one_by_its_whole_document() -> None:
    long = "The ferry to the island leaves at nine and at noon."
    first, again = segment("one", 0, long), segment("two", 0, long.replace(" ", "\n"))
    copied = {"two:0": "one:0"}
    assert repeated_texts([first, again]) == copied
    assert repeated_texts([first, again], {"one:0", "two:0"}) == {}
    assert repeated_texts([first, segment("two", 0, long.replace("noon", "dusk"))]) == {}
    assert repeated_texts([segment("three", 0, "Another text."), first, segment("two", 0, f"\n  {long} ")]) == copied
    assert repeated_texts([segment("one", 0, "See above."), segment("two", 0, "See above.")]) == {}
    same = [replace(segment(name, 0, "At noon."), content_hash="c0") for name in ("one", "two")]
    assert repeated_texts(same) == copied


def test_the_newest_document_stands_for_its_copies_unless_another_is_asked_for_or_kept() -> None:
    titles = {"one": "Timetable 2024", "two": "Timetable 2026", "three": "Timetable 2025"}
    hits = [
        Hit(
            replace(segment(name, 0, "The ferry to the island leaves at nine and at noon."), title=title),
            0.5,
            own_score=own,
        )
        for own, (name, title) in zip((0.9, 0.5, 0.4), titles.items(), strict=True)
    ]
    segments = [hit.segment for hit in hits]
    [newest] = without_copies(hits, repeated_texts(segments))
    assert (newest.segment_id, newest.own_score, newest.copies) == ("two:0", 0.9, ("three:0", "one:0"))
    assert set(repeated_texts(segments, question="When did it leave in 2024?").values()) == {"one:0"}
    assert set(repeated_texts(segments, {"three:0"}).values()) == {"three:0"}


def test_a_node_that_runs_twice_adds_to_its_account() -> None:
    once = spent_with({}, "grade_segments", Spent(calls=1, tokens=20, ms=1.5))
    assert once == {"calls": 1, "tokens": 20, "ms": 1.5}
    again = spent_with({"grade_segments": once}, "grade_segments", Spent(calls=1, tokens=20, ms=1.5))
    assert again == {"calls": 2, "tokens": 40, "ms": 3.0}


def test_what_came_nearest_is_named_once_however_it_was_gathered() -> None:
    gathered = [
        SourceRow(index=0, segment_id="a:0", kind="search", score=0.2),
        SourceRow(index=0, segment_id="b:0", kind="search", score=0.9),
        SourceRow(index=0, segment_id="a:0", kind="page", score=1.0),
        SourceRow(index=0, segment_id="c:0", kind="search", score=0.4),
        SourceRow(index=0, segment_id="d:0", kind="search", score=0.1),
    ]
    assert [row["segment_id"] for row in nearest_sources(gathered)] == ["a:0", "b:0", "c:0"]
