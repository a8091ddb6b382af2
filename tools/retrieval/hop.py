"""The second hop of a search: to documents that the question, or the best of what was found, names by their titles.

A question about two things is often answered by a document that shares no word with it, and that the first document
found names. Names are followed to titles exactly, so a search that names nothing costs one look-up in an index.
docs/adr/0016-hops-through-titles.md tells what it brings.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from uuid import UUID

from graph.evidence import Hit
from graph.ports import SearchQuery
from tools.database import Connection
from tools.retrieval.found import Found, join
from tools.retrieval.names import find_asked_names, find_names
from tools.retrieval.naming import Named, Naming, common_terms, find_named, title_terms
from tools.retrieval.scoring import NAMED, with_odds

FOLLOWED = 2  # documents whose best segment is searched for names

SearchDocuments = Callable[[list[UUID], float], Awaitable[list[Found]]]


async def hop(
    conn: Connection, workspace: int, query: SearchQuery, first: Sequence[Found], search_documents: SearchDocuments
) -> Sequence[Found]:
    """Let the documents that are named join what a search found.

    ``search_documents`` finds the best segments of some documents, from a least score on. What is named is scored as
    everything is, with its odds raised: ``NAMED`` times, or its share of that where a text names several. It does not
    rise above the text that names it, so the best hit stays the best.
    Raises DatabaseUnavailable.
    """
    if not first or query.top_k == 1 or len(query.document_ids) == 1:
        return first
    named = await find_named(conn, workspace, query, list(_namings(query, first)))
    if not named:
        return first
    common = await common_terms(conn, workspace, named)
    telling = {str(each.document_id): each for each in named if not common.issuperset(title_terms(each.title))}
    if not telling:
        return first
    document_ids = [each.document_id for each in telling.values()]
    found = await search_documents(document_ids, with_odds(query.min_score, 1 / NAMED))
    return join(first, list(_raised(found, telling)), query)


def _namings(query: SearchQuery, first: Sequence[Found]) -> Iterator[Naming]:
    yield Naming(find_asked_names(query.text), first[0].hit.score)
    seen: set[str] = set()
    for each in first:
        segment = each.hit.segment
        if each.own > 0 and segment.document_id not in seen:
            seen.add(segment.document_id)
            yield Naming(find_names(segment.text), each.own, UUID(segment.document_id))
        if len(seen) == FOLLOWED:
            return


def _raised(found: Sequence[Found], telling: dict[str, Named]) -> Iterator[Found]:
    """Raise the best segment of each document; its neighbours come along unchanged."""
    done: set[str] = set()
    for each in found:
        document_id = each.hit.segment.document_id
        if each.own > 0 and document_id not in done:
            done.add(document_id)
            naming = telling[document_id]
            score = max(each.own, min(naming.ceiling, with_odds(each.own, max(1.0, NAMED * naming.share))))
            yield Found(Hit(each.hit.segment, score), score)
        else:
            yield Found(each.hit, 0.0)
