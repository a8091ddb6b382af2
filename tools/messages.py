"""Lay out what a run found as the finished message, with every citation quoted anew from storage."""

from graph.citations import claim
from graph.evidence import FamilyName, Identity, Message, Section, SectionClaim
from graph.ports import SegmentReader
from graph.sources import describe, nearest
from graph.state import SourceRow, State, answer_text


async def finished_message(state: State, reader: SegmentReader, identity: Identity, family: FamilyName) -> Message:
    """Read the run's sources back and quote them; a span that no longer lies in its segment is left out."""
    near = _near(state) if state.outcome == "abstained" else []
    rows = near or state.sources
    segments = {s.segment_id: s for s in await reader.read_segments([row["segment_id"] for row in rows], identity)}
    shown = [describe(row, segments[row["segment_id"]]) for row in rows if row["segment_id"] in segments]
    place = _places(state.sections)
    claims = [
        SectionClaim(
            **claim(row, state.sections[row["section_index"]], segments), section_index=place[row["section_index"]]
        )
        for row in ([] if near else state.claims)
        if row["section_index"] in place
    ]
    for each in claims:
        for citation in each["citations"]:
            citation["section_index"] = each["section_index"]
    message = Message(
        answer=answer_text(state.sections),
        sections=[section for section in state.sections if section["text"]],
        citations=[citation for each in claims for citation in each["citations"]],
        sources=[] if near else shown,
        family=family,
        claims=claims,
        disagreements=state.disagreements,
    )
    if near:
        message["nearest"] = shown
    if state.assessment is not None:
        message["assessment"] = state.assessment
    return message


def _places(sections: list[Section]) -> dict[int, int]:
    """Map the index that events gave a section to its place in the message, which leaves withdrawn ones out."""
    standing = [index for index, section in enumerate(sections) if section["text"]]
    return {index: place for place, index in enumerate(standing)}


def _near(state: State) -> list[SourceRow]:
    return [SourceRow(index=i, **row) for i, row in enumerate(nearest(state.candidates), start=1)]


def partial_message(sections: list[Section], family: FamilyName) -> Message:
    """Lay out what a cut-off run had finished; nothing of it is cited, since nothing of it was proven."""
    return Message(answer=answer_text(sections), sections=sections, citations=[], sources=[], family=family)
