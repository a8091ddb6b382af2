"""Write the answer in sections that cite the kept segments, and find the passage that proves each claim."""

from typing import Literal

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from graph.context import Context
from graph.evidence import Hit, Section, Segment, StopReason
from graph.ports import AnswerWriter, ClaimChecker, SegmentReader, WrittenSection
from graph.spending import Meter
from graph.state import CitationRow, SourceRow, State
from nodes.drafting import told


class GenerateAnswerUpdate(TypedDict):
    """The sections and their proof; no outcome where the writer found no answer in the sources."""

    sections: list[Section]
    citations: list[CitationRow]
    outcome: Literal["", "answered"]
    stop_reason: StopReason | Literal[""]


async def generate_answer(
    state: State,
    runtime: Runtime[Context],
    *,
    writer: AnswerWriter,
    checker: ClaimChecker,
    reader: SegmentReader,
    meter: Meter,
) -> GenerateAnswerUpdate:
    """Stream the sections as they are written, then prove what each cites."""
    segments = await reader.read_segments([row["segment_id"] for row in state.sources], runtime.context.identity)
    by_id = {segment.segment_id: segment for segment in segments}
    hits = [
        Hit(by_id[row["segment_id"]], row["score"], row["kind"]) for row in state.sources if row["segment_id"] in by_id
    ]
    drafts = writer.write(state.standalone_question, hits, language=state.language, meter=meter)
    sections = await told(drafts, runtime.stream_writer)
    citations: list[CitationRow] = []
    for section_index, section in enumerate(sections):
        citations += await prove(section, section_index, by_id, state.sources, checker=checker, meter=meter)
    if not sections:
        return {"sections": [], "citations": [], "outcome": "", "stop_reason": ""}
    return {
        "sections": sections,
        "citations": citations,
        "outcome": "answered",
        "stop_reason": "answer_complete",
    }


async def prove(
    section: Section,
    section_index: int,
    segments: dict[str, Segment],
    sources: list[SourceRow],
    *,
    checker: ClaimChecker,
    meter: Meter,
) -> list[CitationRow]:
    """Find the spans of the cited segments that support the section's claims."""
    index_of = {row["segment_id"]: row["index"] for row in sources}
    cited = [segments[segment_id] for segment_id in section["source_ids"]]
    checked = await checker.check([WrittenSection(section["text"], tuple(cited))], meter=meter)
    return [
        CitationRow(
            section_index=section_index,
            source_index=index_of[proof.segment_id],
            segment_id=proof.segment_id,
            start=proof.start,
            end=proof.end,
            origin=proof.origin,
            verdict=claim.verdict,
        )
        for claim in checked.sections[0]
        for proof in claim.proofs
    ]
