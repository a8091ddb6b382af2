"""What a search has found: the event that tells of it, and its hits as candidates."""

from collections.abc import Sequence

from answers.links import without_marks
from graph.events import SourcesFound
from graph.evidence import SourceKind
from graph.ports import SearchResult
from graph.reasons import why
from graph.rows import Found, SourceRow


def sources_found(kind: SourceKind, query: str, result: SearchResult, *, servers: Sequence[str] = ()) -> SourcesFound:
    """Return the event of a search."""
    return SourcesFound(
        kind=kind,
        query=without_marks(query),
        count=len(result.hits),
        degraded=result.degraded,
        why=why(result.degraded),
        servers=list(servers),
        also_searched=list(result.also_searched),
    )


def outside_rows(result: SearchResult) -> Found:
    """Return what a search outside of the library found, as candidates."""
    rows = [SourceRow(index=0, segment_id=hit.segment_id, kind="web", score=hit.score) for hit in result.hits]
    return Found(found=rows)
