"""Where claims that are verified are looked up: texts that the caller gives, or the library through its search."""

import asyncio
from collections.abc import Sequence
from functools import cached_property

from typing_extensions import TypedDict

from answers.inline_marks import InlineMark
from answers.nearness import Nearness
from graph.evidence import Identity, Segment
from graph.ports import SearchQuery, SegmentReader, SegmentSearcher
from graph.usage import Meter

MOST_COMMON = 30  # segments that each claim is checked against, as many as a run reads
NEAREST = 12  # of more segments
MOST_SEARCHES = 100
TOP_K = 5
LEAST_SCORE = 0.1  # what is only distantly related costs the checks little, and may still bear a claim
QUERY_CHARACTERS = 2000


class CitedSource(TypedDict):
    """What a mark in an answer names: a given text by its number, or a segment of the library; both None if neither."""

    mark: str
    source: int | None
    segment_id: str | None


class GivenEvidence:
    """Given texts, of which each segment's ``document_id`` is the 1-based number of its text.

    A claim is checked against all of their segments, or where there are many against those nearest to it.
    """

    degraded = None

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = tuple(segments)
        self._nearness = Nearness(self._segments)

    @property
    def common(self) -> tuple[Segment, ...] | None:
        """The segments that every claim is checked against: all, unless there are too many."""
        return self._segments if len(self._segments) <= MOST_COMMON else None

    async def find(self, claim: str, *, meter: Meter) -> tuple[Segment, ...]:
        """Return all segments, or the nearest."""
        return await self._few(claim, self._segments)

    async def read_cited(self, claim: str, marks: Sequence[InlineMark]) -> tuple[Segment, ...]:
        """Return the segments of the texts that the marks' numbers name, or the nearest of them."""
        wanted = {str(number) for mark in marks for number in _numbers(mark)}
        return await self._few(claim, [segment for segment in self._segments if segment.document_id in wanted])

    async def _few(self, claim: str, segments: Sequence[Segment]) -> tuple[Segment, ...]:
        if self.common is not None:
            return tuple(segments)
        return tuple((await asyncio.to_thread(self.nearest, claim, segments))[:NEAREST])

    def name_cited(self, mark: InlineMark) -> list[CitedSource]:
        """Return the texts that a mark's numbers name."""
        return [
            CitedSource(mark=mark.text, source=number if str(number) in self._known else None, segment_id=None)
            for number in _numbers(mark) or (0,)
        ]

    def is_lost(self, marks: Sequence[InlineMark]) -> bool:
        """Return True: marks of which nothing could be read name no text, since all that there are were given."""
        return True

    def nearest(self, claim: str, segments: Sequence[Segment]) -> list[Segment]:
        """Return segments in the order in which a judge should read them: by how much they hold of a claim."""
        return self._nearness.nearest(claim, segments)

    def number_of(self, segment: Segment) -> int:
        """Return the number of the text."""
        return int(segment.document_id)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(segment.document_id for segment in self._segments)


class LibraryEvidence:
    """The library as one identity may read it; each claim is a search."""

    common = None

    def __init__(
        self,
        searcher: SegmentSearcher,
        reader: SegmentReader,
        identity: Identity,
        *,
        spaces: Sequence[str] = (),
        document_ids: Sequence[str] = (),
    ) -> None:
        self._searcher = searcher
        self._reader = reader
        self._identity = identity
        self._spaces = tuple(spaces)
        self._document_ids = tuple(document_ids)
        self._searches = 0
        self.degraded: str | None = None

    async def find(self, claim: str, *, meter: Meter) -> tuple[Segment, ...] | None:
        """Search for a claim; None after the last search that a verification may make, and without a second left."""
        if self._searches >= MOST_SEARCHES or meter.remaining() == 0.0:
            return None
        self._searches += 1
        query = SearchQuery(
            claim[:QUERY_CHARACTERS],
            self._identity,
            top_k=TOP_K,
            min_score=LEAST_SCORE,
            spaces=self._spaces,
            document_ids=self._document_ids,
            expand=0,
        )
        found = await self._searcher.search(query)
        self.degraded = self.degraded or found.degraded
        return tuple(hit.segment for hit in found.hits)

    async def read_cited(self, claim: str, marks: Sequence[InlineMark]) -> tuple[Segment, ...]:
        """Return the segments whose ids the marks name, as far as the identity may read them."""
        ids = list(dict.fromkeys(mark.segment_id for mark in marks if mark.segment_id))
        return tuple(await self._reader.read_segments(ids, self._identity)) if ids else ()

    def name_cited(self, mark: InlineMark) -> list[CitedSource]:
        """Return the segment id that a mark holds; a number names nothing here."""
        return [CitedSource(mark=mark.text, source=None, segment_id=mark.segment_id)]

    def is_lost(self, marks: Sequence[InlineMark]) -> bool:
        """Whether marks of which nothing could be read hold ids; the numbers of somebody else's list are not known."""
        return any(mark.segment_id for mark in marks)

    def nearest(self, claim: str, segments: Sequence[Segment]) -> list[Segment]:
        """Return the segments as the search ordered them."""
        return list(segments)

    def number_of(self, segment: Segment) -> None:
        """Return None: segments of the library have ids."""


Evidence = GivenEvidence | LibraryEvidence  # where claims are looked up


def _numbers(mark: InlineMark) -> tuple[int, ...]:
    """Return a mark's numbers; an id that is a number counts as one."""
    written = mark.segment_id or ""
    return (int(written),) if written.isascii() and written.isdigit() and len(written) < 4 else mark.numbers
