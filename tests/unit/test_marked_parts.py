"""Parts of a section with marks join to the whole section with marks, and claims are found again in it."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from api.dialects.citation_marks import JOINER, Mark, MarkedSection, bracket, footnote, marked_pieces, reference, utf16
from api.dialects.citation_marks import placed_claims as placed
from api.dialects.section_buffer import FinalSection, SectionBuffer
from graph.events import AnyEvent, ClaimChecked, SectionChecked, SectionFinished, SectionStarted, TextDelta
from graph.evidence import Claim
from tests.unit.test_answer_markdown import MARKDOWN
from tests.wire.texts import citation, source
from text.answer_markdown import units
from text.mark_places import code_spans, settled_end

ADDED = re.compile(r"\[\[9\d\]\]\(/s\)|\[(?:\^|ref:)?9\d\]")


def linked(index: int) -> str:
    return f"[[{index}]](/s)"


MARKS: st.SearchStrategy[Mark] = st.sampled_from([bracket, footnote, reference, linked])


def section_of(text: str, position: int = 0) -> FinalSection:
    """Give a section of which every claim cites a source of its own, numbered from 90."""
    spans = [claim for unit in units(text) for claim in unit.claims][:10]
    claims = [
        Claim(
            start=start,
            end=end,
            text=text[start:end],
            verdict="supported",
            reasons=[],
            citations=[citation(source(index), "supported", 0)],
        )
        for index, (start, end) in enumerate(spans, start=90)
    ]
    return FinalSection(position, text, [], claims)


def parts_of(section: FinalSection) -> list[FinalSection]:
    """Give a section as it leaves: each part up to the end of a claim, and the rest."""
    parts, start = [], 0
    for end in [*dict.fromkeys(claim["end"] for claim in section.claims), len(section.text)]:
        if end > start:
            claims = [claim for claim in section.claims if claim["end"] <= end]
            parts.append(replace(section, text=section.text[:end], claims=claims, start=start))
            start = end
    return parts


@given(MARKDOWN, MARKS, st.integers(0, 1))
def test_parts_join_to_the_whole(text: str, mark: Mark, position: int) -> None:
    section = section_of(text, position)
    whole = "".join(marked_pieces(section, mark))
    assert "".join(piece for part in parts_of(section) for piece in marked_pieces(part, mark)) == whole
    own = ADDED.sub("", whole.replace(JOINER, "")).replace(" ", "")
    assert own == ("\n\n" * position + text if text else "").replace(JOINER, "").replace(" ", "")


@given(MARKDOWN, MARKS, st.data())
def test_parts_whose_marks_leave_once_a_judge_has_spoken_join_to_the_whole(
    text: str, mark: Mark, data: st.DataObject
) -> None:
    section = section_of(text)
    claims = [Claim(**{**each, "verdict": "unverified"}) for each in section.claims]
    pending = [Claim(**each, mark="pending") if data.draw(st.booleans()) else each for each in claims]
    said: list[AnyEvent] = [
        SectionStarted(section_index=0),
        TextDelta(section_index=0, delta=text),
        *(ClaimChecked(section_index=0, claim=each) for each in pending),
        SectionFinished(section_index=0, text=text, source_ids=[]),
        SectionChecked(section_index=0, claims=pending, judging=True),
        SectionChecked(section_index=0, claims=claims),
    ]
    held = SectionBuffer()
    parts = [part for event in said for part in held.feed(event)]
    assert "".join(piece for part in parts for piece in marked_pieces(part, mark)) == "".join(
        marked_pieces(replace(section, claims=claims), mark)
    )


@given(MARKDOWN, MARKS)
def test_a_claim_is_where_it_is_said_to_be(text: str, mark: Mark) -> None:
    section = section_of(text)
    units_of_it = "".join(marked_pieces(section, mark)).encode("utf-16-le", "surrogatepass")
    for each in placed([section], mark):
        found = units_of_it[2 * each.start : 2 * each.end].decode("utf-16-le", "surrogatepass")
        assert found.replace(JOINER, "") == each.claim["text"].replace(JOINER, "")


@given(MARKDOWN, MARKS)
def test_code_stays_byte_for_byte(text: str, mark: Mark) -> None:
    section = section_of(text)
    marked = MarkedSection(section, mark)
    written = "".join(marked.pieces)
    for start, end in code_spans(text):
        assert written[marked.start_of(start) : marked.end_of(end)] == text[start:end]


@given(MARKDOWN, st.lists(st.integers(0, 200), max_size=6))
def test_text_without_claims_may_leave_at_any_moment(text: str, cuts: list[int]) -> None:
    sent, start = "", 0
    for cut in [*sorted(cut for cut in cuts if cut < len(text)), len(text)]:
        end = settled_end(text[:cut]) if cut < len(text) else cut
        if end > start:
            sent += "".join(marked_pieces(FinalSection(0, text[:end], [], [], start), bracket))
            start = end
    assert sent == "".join(marked_pieces(FinalSection(0, text, [], []), bracket))
    assert utf16(sent, len(sent)) >= len(text)
