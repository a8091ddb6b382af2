"""citewell search: search the library without generating an answer."""

from dataclasses import asdict
from typing import Annotated

import typer

from cli.command import Caller, acting, opened_embedder, warn_empty_library
from cli.console import print_json, progress_console, result_console
from cli.nearest_names import refuse_unknown_spaces
from cli.options import MinScore, SearchedPages, Spaces, TopK, as_id


@acting
async def search(
    by: Caller,
    query: Annotated[str, typer.Argument(help="What to look for, in any language.", show_default=False)],
    top_k: TopK = 10,
    min_score: MinScore = 0.0,
    space: Spaces = None,
    page: SearchedPages = None,
) -> None:
    """Search the library without generating an answer.

    Shows the best segments first, with their places.
    """
    from cli.rendering.transcript import show_hits
    from graph.errors import InvalidRequest
    from graph.ports import SearchQuery
    from tools.embeddings.embedder import refuse_mismatch
    from tools.retrieval.hybrid_search import HybridSearcher

    if not query.strip():
        raise InvalidRequest("query: it is empty.", suggestion="Write what to look for.")
    page_ids = tuple(as_id(each, "document") for each in page or ())
    async with by.storage() as storage, opened_embedder(storage.settings) as embedder:
        async with storage.database.connection() as connection:
            await refuse_mismatch(connection, embedder)
        await refuse_unknown_spaces(storage.documents, storage.identity, space or ())
        searcher = HybridSearcher(storage.database, storage.workspaces, embedder)
        found = await searcher.search(
            SearchQuery(
                query,
                storage.identity,
                top_k=top_k,
                min_score=min_score,
                spaces=tuple(space or ()),
                document_ids=page_ids,
                expand=0,
            )
        )
        if not found.hits:
            await warn_empty_library(storage)
    if by.as_json:
        hits = [
            {"segment_id": hit.segment.segment_id, "score": round(hit.score, 4), **asdict(hit.segment)}
            for hit in found.hits
        ]
        print_json({"query": query, "degraded": found.degraded, "hits": hits})
        return
    if found.degraded:
        progress_console().print(found.degraded, style="yellow")
    show_hits(result_console(), found.hits)
