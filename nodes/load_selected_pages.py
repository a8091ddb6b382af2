"""Read the selected pages whole as far as the writer has room, else the best of them; a marked passage comes first."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.fusion import search_wordings
from answers.named_places import place_rows
from answers.page_budget import best_fitting, fits_whole, total_tokens
from graph.context import Context
from graph.errors import DependencyFailed
from graph.events import PagesLoaded, SearchFailed, SourcesFound
from graph.evidence import Identity, Page, PagesRead, PageUse, Segment
from graph.ports import PassageFinder, SearchQuery, SearchResult, SegmentReader, SegmentSearcher, SourceRoom
from graph.reasons import why
from graph.rows import MOST_READ_WHOLE, Found, SourceRow
from graph.state import State, question_with_passage
from graph.usage import Meter

PAGE_SCORE = 1.0
PAGE_TOKENS = 6000  # read by a family that has no limit of its own, where none is set
FOUND_WITHIN = 30  # the most hits of the search of one page, not counting neighbours
AT_ONCE = 4  # concurrent searches


class LoadSelectedPagesUpdate(TypedDict):
    """The segments read, as candidates, and what was read of which document."""

    candidates: Found
    pages: PagesRead


@dataclass(frozen=True, slots=True)
class _PageRequest:
    """The segments to read of a page: all, or only those of places that the question ``named``."""

    page: Page
    segments: tuple[Segment, ...]
    named: bool


async def load_selected_pages(
    state: State,
    runtime: Runtime[Context],
    *,
    reader: SegmentReader,
    searcher: SegmentSearcher,
    passages: PassageFinder | None,
    room: SourceRoom | None,
    meter: Meter,
) -> LoadSelectedPagesUpdate:
    """Read as much of the selected pages as the writer has room for, and report what was cut, not found or left out.

    Where there are too many of them to read any whole, none is; the run searches within them. The marked passage comes
    first. Where the question names a place, only that is read of a document that has it, before the budget is spent on
    other documents. Pages that don't fit share the rest equally, each with its best segments for the
    question, in reading order.
    """
    context = runtime.context
    page_ids = list(dict.fromkeys(state.page_ids))
    whole = page_ids if len(page_ids) <= MOST_READ_WHOLE else []
    pages = await reader.read_pages(whole, context.identity) if whole else []
    marked = await _marked_passage(state, runtime, passages, page_ids)
    if room is not None:
        pages = [replace(page, segments=_measured(page.segments, room)) for page in pages]
        marked = list(_measured(marked, room))
    places = {row["segment_id"]: row for row in place_rows(state.places)}
    wanted = [_page_requests(page, places, marked) for page in pages]
    if state.places is not None and state.places["missing"]:
        wanted = []
    budget = read_tokens(question_with_passage(state), context.page_tokens, room) - total_tokens(marked)
    read = await _within_budget(wanted, state, runtime, searcher, budget)
    offered = [*marked, *(segment for page in pages for segment in read.get(page.document_id, ()))]
    report = _report(whole, pages, offered)
    runtime.stream_writer(PagesLoaded(**report))
    return {
        "candidates": Found(found=[places.get(each.segment_id) or _row(each.segment_id) for each in offered]),
        "pages": report,
    }


def read_tokens(question: str, cap: int | None, room: SourceRoom | None) -> int:
    """Return how many tokens of pages are read: what the writer has room for, at most the deployment's cap."""
    if room is None:
        return cap or PAGE_TOKENS
    own = max(0, room.tokens(question))
    return own if cap is None else min(own, cap)


def _measured(segments: Sequence[Segment], room: SourceRoom) -> tuple[Segment, ...]:
    """Return segments with the tokens that they take of the writer's room."""
    return tuple(replace(segment, tokens=room.measure(segment)) for segment in segments)


async def _marked_passage(
    state: State, runtime: Runtime[Context], passages: PassageFinder | None, page_ids: Sequence[str]
) -> list[Segment]:
    """Find the passage that the user marked; where that fails, emit an event and return nothing."""
    if not state.selected_text or passages is None:
        return []
    try:
        return await passages.find_passage(state.selected_text, page_ids, runtime.context.identity)
    except DependencyFailed as error:
        runtime.stream_writer(SearchFailed(kind="page", code=error.code, message=error.message))
        return []


def _row(segment_id: str) -> SourceRow:
    return SourceRow(index=0, segment_id=segment_id, kind="page", score=PAGE_SCORE)


def _page_requests(page: Page, places: Mapping[str, SourceRow], marked: Sequence[Segment]) -> _PageRequest:
    """Return what to read of a page: not the marked passage and, where a place in it is named, only that."""
    known = {segment.segment_id for segment in marked}
    unread = tuple(segment for segment in page.segments if segment.segment_id not in known)
    if not any(segment.segment_id in places for segment in page.segments):
        return _PageRequest(page, unread, named=False)
    return _PageRequest(page, tuple(each for each in unread if each.segment_id in places), named=True)


async def _within_budget(
    wanted: Sequence[_PageRequest], state: State, runtime: Runtime[Context], searcher: SegmentSearcher, room: int
) -> dict[str, list[Segment]]:
    """Choose the segments to read of each document, in reading order; documents with named pages come first."""
    wordings = [state.query or state.standalone_question, *state.beside]
    read: dict[str, list[Segment]] = {each.page.document_id: [] for each in wanted}
    for group in ([each for each in wanted if each.named], [each for each in wanted if not each.named]):
        fits = fits_whole([total_tokens(each.segments) for each in group], room)
        long = [each for each, fit in zip(group, fits, strict=True) if not fit]
        for each in (each for each, fit in zip(group, fits, strict=True) if fit):
            read[each.page.document_id] = list(each.segments)
            room -= total_tokens(each.segments)
        if long and room > 0:
            ranked = await _ranked(long, wordings, runtime, searcher)
            for each, segments in zip(long, best_fitting(ranked, room), strict=True):
                read[each.page.document_id] = sorted(segments, key=lambda segment: segment.segment_index)
                room -= total_tokens(segments)
    return read


async def _ranked(
    long: Sequence[_PageRequest], wordings: Sequence[str], runtime: Runtime[Context], searcher: SegmentSearcher
) -> list[list[Segment]]:
    """Rank each page's segments by the question, best first, or in reading order where the search fails."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def search(each: _PageRequest) -> list[tuple[str, SearchResult]]:
        async with turns:
            return await search_wordings(searcher, _within(each.page, runtime.context.identity), wordings)

    try:
        results = await asyncio.gather(*(search(each) for each in long))
    except DependencyFailed as error:
        runtime.stream_writer(SearchFailed(kind="page", code=error.code, message=error.message))
        return [list(each.segments) for each in long]
    for of_pages in zip(*results, strict=True):
        count = sum(len(result.hits) for _, result in of_pages)
        degraded = next((result.degraded for _, result in of_pages if result.degraded), None)
        text = of_pages[0][0]
        runtime.stream_writer(SourcesFound(kind="page", query=text, count=count, degraded=degraded, why=why(degraded)))
    return [_best_first(each, found) for each, found in zip(long, results, strict=True)]


def _best_first(wanted: _PageRequest, results: Sequence[tuple[str, SearchResult]]) -> list[Segment]:
    """Return the found segments first; add the rest only if none was found or the question names the page."""
    offered = {segment.segment_id: segment for segment in wanted.segments}
    hits = sorted((hit for _, result in results for hit in result.hits), key=lambda hit: -hit.score)
    found = {hit.segment_id: offered[hit.segment_id] for hit in hits if hit.segment_id in offered}
    return list(found.values() if found and not wanted.named else (found | offered).values())


def _within(page: Page, identity: Identity) -> SearchQuery:
    """Return a query over one page, without a minimum score: its hits are ranked, not dropped."""
    return SearchQuery(text="", identity=identity, top_k=FOUND_WITHIN, min_score=0.0, document_ids=(page.document_id,))


def _report(page_ids: Sequence[str], pages: Sequence[Page], offered: Sequence[Segment]) -> PagesRead:
    """List the pages read whole, cut pages, and pages not found or left out."""
    taken = Counter(segment.document_id for segment in offered)
    uses = [
        PageUse(
            document_id=page.document_id,
            title=page.title,
            segments=taken[page.document_id],
            of=len(page.segments),
        )
        for page in pages
        if taken[page.document_id]
    ]
    reported = {use["document_id"] for use in uses}
    return PagesRead(
        used=[use for use in uses if use["segments"] == use["of"]],
        cut=[use for use in uses if use["segments"] < use["of"]],
        unused=[page_id for page_id in page_ids if page_id not in reported],
    )
