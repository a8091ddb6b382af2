"""A grader with its mind made up, and a reader of segments whose offsets are of another version of the text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.evidence import Hit, Identity, Page, Segment
from graph.ports import Grading, SegmentReader
from graph.spending import Meter

_INSERTED = 40  # characters that the stored text had gained before the segments


@dataclass(frozen=True, slots=True)
class OneSidedGrader:
    """Keeps every candidate, so that everything is answered, or none, so that nothing is."""

    keeps: bool

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Judge without reading."""
        scores = {hit.segment.segment_id: hit.score for hit in candidates}
        if self.keeps:
            return Grading(tuple(scores.items()))
        return Grading((), tuple((segment_id, "dropped unread") for segment_id in scores))


@dataclass(frozen=True, slots=True)
class StaleReader:
    """Reads segments with offsets of a text that was changed above them."""

    reader: SegmentReader

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Read segments by id, misplaced."""
        return [_stale(segment) for segment in await self.reader.read_segments(segment_ids, identity)]

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        """Read whole documents, all of their segments misplaced."""
        pages = await self.reader.read_pages(document_ids, identity)
        return [replace(page, segments=tuple(_stale(segment) for segment in page.segments)) for page in pages]


def _stale(segment: Segment) -> Segment:
    return replace(segment, start=segment.start + _INSERTED, end=segment.end + _INSERTED)
