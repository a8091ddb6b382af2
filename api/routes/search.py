"""The library searched, without an answer."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.dependencies import Me, OpenLibrary
from api.errors import problems
from api.schemas.fields import Body, Name, Printable
from graph.evidence import Source
from graph.ports import SearchQuery
from graph.sources import describe
from graph.state import SourceRow

router = APIRouter(tags=["search"])


class SearchResults(Body):
    """Segments that bear on the query, best first. ``degraded`` says why a part of search did not take part."""

    query: str
    degraded: str | None
    results: list[Source]


@router.get("/api/search", responses=problems(422, 503))
async def search(
    me: Me,
    library: OpenLibrary,
    q: Annotated[str, Query(min_length=1, max_length=10_000, description="What to look for."), Printable],
    top_k: Annotated[int, Query(ge=1, le=30)] = 10,
    min_score: Annotated[float, Query(ge=0, le=1)] = 0.3,
    space: Annotated[list[Name], Query(description="Ids or slugs of spaces; all where absent.", max_length=100)] = [],  # noqa: B006
) -> SearchResults:
    """Search the library by words and meaning."""
    query = SearchQuery(q, me, top_k=top_k, min_score=min_score, spaces=tuple(space), expand=0)
    found = await library.searcher.search(query)
    results = [
        describe(SourceRow(index=i, segment_id=hit.segment.segment_id, kind=hit.kind, score=hit.score), hit.segment)
        for i, hit in enumerate(found.hits, start=1)
    ]
    return SearchResults(query=q, degraded=found.degraded, results=results)
