"""Lay out what a run found as the finished message: the one gate that every citation passes."""

from graph.evidence import Citation, FamilyName, Identity, Message, Section, Segment
from graph.ports import SegmentReader
from graph.sources import describe, nearest
from graph.state import CitationRow, SourceRow, State, answer_text


async def finished_message(state: State, reader: SegmentReader, identity: Identity, family: FamilyName) -> Message:
    """Read the run's sources back and quote them; a span that no longer lies in its segment is left out."""
    near = _near(state) if state.outcome == "abstained" else []
    rows = near or state.sources
    segments = {s.segment_id: s for s in await reader.read_segments([row["segment_id"] for row in rows], identity)}
    shown = [describe(row, segments[row["segment_id"]]) for row in rows if row["segment_id"] in segments]
    message = Message(
        answer=answer_text(state.sections),
        sections=state.sections,
        citations=[] if near else cite(state.citations, segments),
        sources=[] if near else shown,
        family=family,
    )
    if near:
        message["nearest"] = shown
    return message


def cite(rows: list[CitationRow], segments: dict[str, Segment]) -> list[Citation]:
    """Quote each proven span from the canonical text of its segment."""
    return [
        quoted(row, segments[row["segment_id"]])
        for row in rows
        if row["segment_id"] in segments and _within(row, segments[row["segment_id"]])
    ]


def _within(row: CitationRow, segment: Segment) -> bool:
    return segment.start <= row["start"] < row["end"] <= segment.end


def quoted(row: CitationRow, segment: Segment) -> Citation:
    """Make the citation of a span that lies in its segment."""
    return Citation(
        segment_id=segment.segment_id,
        document_id=segment.document_id,
        segment_index=segment.segment_index,
        page_idx=segment.page_idx,
        start=row["start"],
        end=row["end"],
        quote=segment.text[row["start"] - segment.start : row["end"] - segment.start],
        origin=row["origin"],
        verdict=row["verdict"],
        source_index=row["source_index"],
        section_index=row["section_index"],
    )


def _near(state: State) -> list[SourceRow]:
    return [SourceRow(index=i, **row) for i, row in enumerate(nearest(state.candidates), start=1)]


def partial_message(sections: list[Section], family: FamilyName) -> Message:
    """Lay out what a cut-off run had finished; nothing of it is cited, since nothing of it was proven."""
    return Message(answer=answer_text(sections), sections=sections, citations=[], sources=[], family=family)
