"""Each place of a segment of many short parts is told with the headings above it, and not with those of the first."""

from bisect import bisect_right
from dataclasses import replace

from answers.citations import build_citation
from answers.entries import entries_of
from graph.evidence import Segment
from tools.embeddings.embedder import count_tokens
from tools.llm.prompting import segment_context
from tools.parsers import parse
from tools.retrieval.segmenting import SegmentSize, segment

HANDBOOK = (
    "# Handbook\n\nIt is for all.\n\n## Leave\n\nStaff get 25 days.\n\n### Sick leave\n\nTell us by nine.\n\n"
    "## Travel\n\n### Trains\n\nGo second class.\n\n### Planes\n\nAsk first.\n\n# Annex\n\nNothing else.\n"
)


def test_every_entry_of_a_merged_segment_has_its_own_path() -> None:
    parsed = parse(HANDBOOK.encode(), name="x.md")
    [span] = segment(parsed, SegmentSize(300), count_tokens)
    merged = Segment("d", 0, 0, len(parsed.text), parsed.text, heading=span.heading, title="T", blocks=span.blocks)
    starts = [block.start for block in parsed.blocks]
    quotable = [entry for entry in entries_of(merged) if entry.quotable]
    for entry in quotable:
        proof = {"segment_id": "d:0", "start": entry.start, "end": entry.end, "origin": "cited"}
        citation = build_citation(proof, merged, source_index=1, section_index=0, verdict="supported")  # type: ignore[arg-type]
        block = parsed.blocks[bisect_right(starts, entry.start) - 1]
        assert citation is not None
        assert citation["heading_path"] == block.heading.split(" > ")
    assert len(quotable) == 6

    lines = segment_context([merged], max_tokens=1000).text.splitlines()
    assert lines[0] == "# T > Handbook"
    for path, below in {
        "Handbook > Leave": "Staff get 25 days.",
        "Handbook > Leave > Sick leave": "Tell us by nine.",
        "Handbook > Travel > Trains": "Go second class.",
        "Handbook > Travel > Planes": "Ask first.",
        "Annex": "Nothing else.",
    }.items():
        assert lines[lines.index(below) - 2] == path


def test_a_block_below_no_heading_has_none_of_the_blocks_before_it() -> None:
    parsed = parse(b"# Leave\n\nStaff get 25 days.\n\nThe office closes at six.\n", name="x.md")
    [span] = segment(parsed, SegmentSize(300), count_tokens)
    first, *rest = span.blocks
    blocks = (first, rest[0], replace(rest[1], context=()))
    merged = Segment("d", 0, 0, len(parsed.text), parsed.text, heading="Leave", title="T", blocks=blocks)
    proof = {"segment_id": "d:0", "start": blocks[2].start, "end": blocks[2].end, "origin": "cited"}
    citation = build_citation(proof, merged, source_index=1, section_index=0, verdict="supported")  # type: ignore[arg-type]
    assert citation is not None
    assert citation["heading_path"] == []
