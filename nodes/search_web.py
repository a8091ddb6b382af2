"""Search the web as a second library for the standalone question."""

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.search_results import outside_rows, sources_found
from graph.context import Context
from graph.errors import DependencyFailed
from graph.events import SearchFailed
from graph.ports import WebSearcher
from graph.rows import Found
from graph.state import State
from graph.usage import Meter

NOT_CONFIGURED = "No web search is configured: set SERPER_API_KEY, or leave the web out of the request."


class SearchWebUpdate(TypedDict):
    """The hits as candidates, and whether the search failed."""

    candidates: Found
    web_failed: bool


async def search_web(
    state: State, runtime: Runtime[Context], *, web: WebSearcher | None, meter: Meter
) -> SearchWebUpdate:
    """Gather candidates from the web; a failed search emits an event, and the run continues without it."""
    context = runtime.context
    if web is None:
        runtime.stream_writer(SearchFailed(kind="web", code="web_not_configured", message=NOT_CONFIGURED))
        return {"candidates": Found(found=[]), "web_failed": True}
    try:
        result = await web.search_web(
            state.query, context.identity, top_k=context.top_k, min_score=0.0, seconds=meter.remaining()
        )
    except DependencyFailed as error:
        runtime.stream_writer(SearchFailed(kind="web", code=error.code, message=error.message))
        return {"candidates": Found(found=[]), "web_failed": True}
    runtime.stream_writer(sources_found("web", state.query, result))
    return {"candidates": outside_rows(result), "web_failed": False}
