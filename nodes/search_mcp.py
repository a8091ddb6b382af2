"""Search MCP servers, which stand beside the web, for the standalone question."""

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.search_results import outside_rows, sources_found
from graph.context import Context
from graph.errors import DependencyFailed
from graph.events import SearchFailed
from graph.ports import McpSearcher
from graph.rows import Found
from graph.state import State
from graph.usage import Meter

NOT_CONFIGURED = "No MCP server is configured as a search source: set CITEWELL_MCP_SEARCH."


class SearchMcpUpdate(TypedDict):
    """The hits as candidates, and whether every server failed."""

    candidates: Found
    mcp_failed: bool


async def search_mcp(
    state: State, runtime: Runtime[Context], *, mcp: McpSearcher | None, meter: Meter
) -> SearchMcpUpdate:
    """Gather candidates from MCP servers; each that fails emits an event, and the run continues without it."""
    context = runtime.context
    if mcp is None:
        runtime.stream_writer(SearchFailed(kind="web", code="mcp_not_configured", message=NOT_CONFIGURED))
        return {"candidates": Found(found=[]), "mcp_failed": True}
    try:
        result = await mcp.search_mcp(
            state.query, context.identity, top_k=context.top_k, min_score=0.0, seconds=meter.remaining()
        )
    except DependencyFailed as error:
        runtime.stream_writer(
            SearchFailed(kind="web", code=error.code, message=error.message, servers=list(mcp.servers))
        )
        return {"candidates": Found(found=[]), "mcp_failed": True}
    for failure in result.failures:
        runtime.stream_writer(
            SearchFailed(kind="web", code=failure.code, message=failure.message, servers=[failure.server])
        )
    if not result.servers:
        return {"candidates": Found(found=[]), "mcp_failed": True}
    runtime.stream_writer(sources_found("web", state.query, result, servers=result.servers))
    return {"candidates": outside_rows(result), "mcp_failed": False}
