"""Segments with their neighbours: a passage is grown in those, since a section may go on in the next segment.

It never leaves its page, which a citation names.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from graph.evidence import Identity, Proof, Segment, SegmentBlock
from graph.ports import SegmentReader
from graph.rows import SourceRow


async def read_around(
    reader: SegmentReader, segments: Sequence[Segment], identity: Identity, rows: Iterable[SourceRow] = ()
) -> Mapping[str, Segment]:
    """Return segments by their ids, each joined with its neighbours, and as they are the copies that ``rows`` name."""
    known = {segment.segment_id: segment for segment in segments}
    copies = {each for row in rows for each in row.get("copies", ())} - known.keys()
    wanted = [each for each in (*beside(known), *copies) if each not in known]
    read = {each.segment_id: each for each in await reader.read_segments(wanted, identity)} if wanted else {}
    return Around({**read, **known}, known, [each for each in copies if each in read])


def beside(segment_ids: Iterable[str]) -> list[str]:
    """Return the ids of the segments before and behind some segments, each once; there may be none of such an id."""
    found: dict[str, None] = {}
    for each in segment_ids:
        document_id, _, index = each.rpartition(":")
        found.update(dict.fromkeys(f"{document_id}:{at}" for at in (int(index) - 1, int(index) + 1) if at >= 0))
    return list(found)


class Around(Mapping[str, Segment]):
    """Segments by id, each joined with those of its neighbours on its page that are known, and ``others`` as they are.

    They are joined when they are asked for: a run that waits for its model does not hold their texts twice.
    """

    def __init__(self, segments: Mapping[str, Segment], own: Iterable[str], others: Iterable[str] = ()) -> None:
        self._segments = segments
        self._found = {**{each: segments[each] for each in others}, **dict.fromkeys(own)}

    def __getitem__(self, segment_id: str) -> Segment:
        found = self._found[segment_id]
        if found is None:
            found = self._found[segment_id] = self._joined(self._segments[segment_id])
        return found

    def __contains__(self, segment_id: object) -> bool:
        return segment_id in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def _joined(self, own: Segment) -> Segment:
        near = [self._segments.get(f"{own.document_id}:{own.segment_index + step}") for step in (-1, 1)]
        before, behind = (each if each is not None and each.page_idx == own.page_idx else None for each in near)
        wide = own
        if before is not None and before.end == own.start:
            wide = replace(wide, start=before.start, text=before.text + wide.text, blocks=_blocks(before, wide))
        return wide if behind is None else with_next(wide, behind)


def with_next(segment: Segment, behind: Segment) -> Segment:
    """Return a segment joined with the one behind it; alone where others lie between."""
    if behind.start != segment.end:
        return segment
    return replace(segment, end=behind.end, text=segment.text + behind.text, blocks=_blocks(segment, behind))


def leaves(proof: Proof, segments: Mapping[str, Segment]) -> bool:
    """Whether a proof goes beyond its segment, which is one of these, into a neighbour."""
    own = segments.get(proof["segment_id"])
    return own is not None and not own.start <= proof["start"] < proof["end"] <= own.end


def _blocks(left: Segment, right: Segment) -> tuple[SegmentBlock, ...]:
    """Return the blocks of two segments, a block that the cut between them goes through as one."""
    if not (left.blocks and right.blocks):
        return ()
    last, first = left.blocks[-1], right.blocks[0]
    if last.kind != first.kind or last.context != first.context or last.end != first.start:
        return left.blocks + right.blocks
    return (*left.blocks[:-1], replace(last, end=first.end), *right.blocks[1:])
