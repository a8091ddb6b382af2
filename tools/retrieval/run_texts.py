"""The library as one run sees it: a segment is read from storage once, whatever brings it.

A run's state holds ids alone, so that a checkpoint never holds text. What a search, a page or the web brought is kept
here, beside the state, until the run ends; another process that goes on with the run starts with nothing and reads.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from graph.evidence import Identity, Page, Segment
from graph.ports import Resources, SearchQuery, SearchResult

RUN_RESOURCES_KEY = "citewell_resources"  # in a run's configurable: its resources, kept from one step to the next


@dataclass(frozen=True, slots=True)
class RunTexts:
    """The ports of a run that bring segments. Each identity is given only what storage gave that identity."""

    live: Resources
    _known: dict[tuple[Identity, str], Segment] = field(default_factory=dict)

    async def search(self, query: SearchQuery) -> SearchResult:
        """Find segments; see ``graph.ports.SegmentSearcher``."""
        found = await self.live.searcher.search(query)
        self._keep((hit.segment for hit in found.hits), query.identity)
        return found

    async def search_web(
        self, query: str, identity: Identity, *, top_k: int, min_score: float, seconds: float | None
    ) -> SearchResult:
        """Search the web; see ``graph.ports.WebSearcher``."""
        assert self.live.web is not None
        found = await self.live.web.search_web(query, identity, top_k=top_k, min_score=min_score, seconds=seconds)
        self._keep((hit.segment for hit in found.hits), identity)
        return found

    async def find_passage(self, text: str, document_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Find a marked passage; see ``graph.ports.PassageFinder``."""
        assert self.live.passages is not None
        found = await self.live.passages.find_passage(text, document_ids, identity)
        self._keep(found, identity)
        return found

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        """Read whole documents; see ``graph.ports.SegmentReader``."""
        pages = await self.live.reader.read_pages(document_ids, identity)
        self._keep((segment for page in pages for segment in page.segments), identity)
        return pages

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Return segments in the order asked, and read from storage only those that the run has not had yet."""
        unread = [segment_id for segment_id in segment_ids if (identity, segment_id) not in self._known]
        if unread:
            self._keep(await self.live.reader.read_segments(unread, identity), identity)
        found = (self._known.get((identity, segment_id)) for segment_id in segment_ids)
        return [segment for segment in found if segment is not None]

    def _keep(self, segments: Iterable[Segment], identity: Identity) -> None:
        """Remember segments; one that the run has already had stays as it was, so that all its steps see one text."""
        for segment in segments:
            self._known.setdefault((identity, segment.segment_id), segment)


def resources_of_run(live: Resources) -> Resources:
    """Return the resources of one run, which remember its texts and hold one family for each model that it names."""
    texts = RunTexts(live)
    families: Callable[..., Any] = cache(live.families)
    return replace(
        live,
        searcher=texts,
        reader=texts,
        families=families,
        passages=None if live.passages is None else texts,
        web=None if live.web is None else texts,
    )
