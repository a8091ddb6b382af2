"""citewell search: search the library without generating an answer."""

from dataclasses import asdict
from typing import Annotated

import typer

from cli.command import (
    awaited,
    identity_of,
    opened_database,
    opened_embedder,
    settings_for,
    warn_empty_library,
)
from cli.console import print_json, progress_console, result_console
from cli.nearest_names import refuse_unknown_spaces
from cli.options import AsJson, MinScore, SearchedPages, Spaces, TopK, UserName, WorkspaceName, as_id


@awaited
async def search(
    query: Annotated[str, typer.Argument(help="What to look for, in any language.", show_default=False)],
    top_k: TopK = 10,
    min_score: MinScore = 0.0,
    space: Spaces = None,
    page: SearchedPages = None,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Search the library without generating an answer.

    Shows the best segments first, with their places.
    """
    from cli.rendering.transcript import show_hits
    from graph.errors import InvalidRequest
    from graph.ports import SearchQuery
    from tools.embeddings.embedder import refuse_mismatch
    from tools.library.catalogue import Documents
    from tools.retrieval.hybrid_search import HybridSearcher

    if not query.strip():
        raise InvalidRequest("query: it is empty.", suggestion="Write what to look for.")
    settings = settings_for(workspace, user)
    search_query = SearchQuery(
        query,
        identity_of(settings),
        top_k=top_k,
        min_score=min_score,
        spaces=tuple(space or ()),
        document_ids=tuple(as_id(each, "document") for each in page or ()),
        expand=0,
    )
    async with opened_database(settings) as storage, opened_embedder(settings) as embedder:
        async with storage.database.connection() as connection:
            await refuse_mismatch(connection, embedder)
        await refuse_unknown_spaces(Documents(storage.database, storage.workspaces), storage.identity, space or ())
        searcher = HybridSearcher(storage.database, storage.workspaces, embedder)
        found = await searcher.search(search_query)
        if not found.hits:
            await warn_empty_library(storage)
    if as_json:
        hits = [
            {"segment_id": hit.segment.segment_id, "score": round(hit.score, 4), **asdict(hit.segment)}
            for hit in found.hits
        ]
        print_json({"query": query, "degraded": found.degraded, "hits": hits})
        return
    if found.degraded:
        progress_console().print(found.degraded, style="yellow")
    show_hits(result_console(), found.hits)
