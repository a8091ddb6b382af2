"""How far a search reaches: few documents are read whole, many are searched by index and filtered."""

from dataclasses import dataclass
from uuid import UUID

from graph.ports import SearchQuery
from tools.database import Connection
from tools.retrieval.rows import LASTING, VISIBLE

CANDIDATES = 2500  # segments that the lexical leg scores, about
MOST_CANDIDATES = 10 * CANDIDATES
FEW_DOCUMENTS = 200


@dataclass(frozen=True, slots=True)
class Scope:
    """``document_ids`` are those to read whole, or None to search by index with a budget of ``candidates``."""

    document_ids: list[UUID] | None = None
    candidates: int = CANDIDATES


async def find_scope(conn: Connection, workspace: int, query: SearchQuery) -> Scope:
    """Tell how to search within the documents or spaces that a query names.

    Candidates of a leg are picked before they are filtered. So that a narrow filter leaves enough of them, the
    documents of a small space are read whole, and the budget grows with the share that a larger one leaves out. An
    owner's filter needs neither: of all those candidates, thirty are enough.
    """
    if query.document_ids:
        return Scope([identifier for identifier in map(as_uuid, query.document_ids) if identifier is not None])
    if not query.spaces:
        return Scope()
    parameters = {
        "workspace": workspace,
        "user": query.identity.user,
        "spaces": list(query.spaces),
        "few": FEW_DOCUMENTS,
    }
    found = await conn.execute(_SPACES, parameters, prepare=True)
    row = await found.fetchone()
    assert row is not None
    inside, documents, document_ids = row
    if document_ids is not None or inside == 0:
        return Scope(document_ids or [])
    return Scope(candidates=min(CANDIDATES * documents // inside, MOST_CANDIDATES))


def as_uuid(text: str) -> UUID | None:
    """Read a document id; None where the text is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


_SPACES = f"""
SELECT count(*), (SELECT documents FROM library_statistics WHERE workspace = %(workspace)s),
    CASE WHEN count(*) <= %(few)s THEN array_agg(d.document_id) END
FROM documents AS d
WHERE d.workspace = %(workspace)s AND {VISIBLE} AND {LASTING}
    AND (d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s))
"""
