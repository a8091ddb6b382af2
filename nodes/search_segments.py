"""Search the library for segments relevant to the standalone question."""

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.fusion import hits_beside, search_wordings
from answers.links import without_marks
from answers.named_places import place_rows
from answers.search_results import sources_found
from graph.context import Context
from graph.errors import DependencyFailed
from graph.events import SearchFailed, SourcesFound
from graph.evidence import Hit
from graph.ports import SearchQuery, SegmentSearcher
from graph.rows import Found, SourceRow
from graph.state import State
from graph.usage import Meter

MOST_OF_PLACE = 12  # segments of a place that are read without a search


class SearchSegmentsUpdate(TypedDict):
    """The hits as candidates."""

    candidates: Found


async def search_segments(
    state: State, runtime: Runtime[Context], *, searcher: SegmentSearcher, meter: Meter
) -> SearchSegmentsUpdate:
    """Gather candidates from the library, within the spaces and pages that the run allows.

    A marked passage is added to the query; it is sent only to the library, never to the web. Hits below ``min_score``
    are gathered too: grading drops them, and a refusal names them as the nearest material. Where the question names a
    place, that is read instead; a document that it names is searched alone. A failed search emits an
    event and fails the run, unless it has selected pages or, as in a repair, already has sources.
    """
    context = runtime.context
    places = state.places if not state.rewrites else None  # which may not have been meant, if it does not answer
    named = place_rows(places)
    document_ids = tuple(state.page_ids) if context.only_selected_pages else ()
    if places is not None:
        if places["missing"] or 0 < len(named) <= MOST_OF_PLACE:
            runtime.stream_writer(SourcesFound(kind="search", query=without_marks(state.query), count=len(named)))
            return {"candidates": Found(found=named)}
        document_ids = tuple(places["documents"] or {span["document_id"]: None for span in places["spans"]})
    query = SearchQuery(
        text=state.query,
        identity=context.identity,
        top_k=context.top_k,
        min_score=0.0,
        spaces=tuple(context.spaces),
        document_ids=document_ids,
    )
    wordings = [f"{wording} {state.selected_text}".strip() for wording in (state.query, *state.beside)]
    try:
        results = await search_wordings(searcher, query, wordings)
    except DependencyFailed as error:
        runtime.stream_writer(SearchFailed(kind="search", code=error.code, message=error.message))
        if not (state.page_ids or state.sources):
            raise
        return {"candidates": Found(found=[])}
    for wording, result in results:
        runtime.stream_writer(sources_found("search", wording, result))
    hits = [hit for _, result in results for hit in result.hits]
    if named:  # of a long place what a search finds best, in reading order
        best = {hit.segment_id for hit in hits}
        found = [row for row in named if row["segment_id"] in best] or named[:MOST_OF_PLACE]
        return {"candidates": Found(found=found)}
    beside = hits_beside(hits)
    return {"candidates": Found(found=[_row(hit, beside.get(hit.segment_id)) for hit in hits])}


def _row(hit: Hit, beside: str | None) -> SourceRow:
    row = SourceRow(index=0, segment_id=hit.segment_id, kind=hit.kind, score=hit.score)
    if hit.copies:
        row["copies"] = list(hit.copies)
    if beside is not None:
        row["beside"] = beside
    if hit.turn:
        row["turn"] = hit.turn
    return row
