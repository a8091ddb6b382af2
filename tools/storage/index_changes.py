"""The state of an index outside of PostgreSQL, and the queue of documents in which it lags behind.

Whoever changes segments or vectors queues their documents in the same transaction, so that no change is lost, and none
is queued that did not happen. Without such an index nothing is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, LiteralString

from tools.storage.database import Connection, row_of, value_of

IndexState = Literal["filling", "serving"]

# A part of statements that change the segments of documents, which ``{documents}`` selects.
QUEUE_CHANGES: LiteralString = """
INSERT INTO index_changes (workspace, document_id)
SELECT {workspace}, document_id FROM {documents} WHERE EXISTS (SELECT FROM search_index)
"""
_QUEUE_WORKSPACE = "INSERT INTO index_changes (workspace) SELECT %s WHERE EXISTS (SELECT FROM search_index)"
_READ = """
SELECT engine, prefix || '_' || library || '_' || generation AS collection, dimension, state
FROM search_index
"""
_BEGIN = """
INSERT INTO search_index (engine, prefix, dimension) VALUES ('milvus', %(prefix)s, %(dimension)s)
ON CONFLICT DO NOTHING RETURNING 1
"""
_BEGIN_AGAIN = """
UPDATE search_index SET state = 'filling', generation = generation + 1, began_at = now(), dimension = %(dimension)s,
                        filled_at = NULL, compared_at = NULL
"""
_QUEUE_ALL = """
INSERT INTO index_changes (workspace, document_id, is_refill)
SELECT %(workspace)s, document_id, true FROM (
    SELECT DISTINCT document_id FROM segments WHERE workspace = %(workspace)s
    UNION SELECT document_id FROM further_segments WHERE workspace = %(workspace)s
) AS every
WHERE EXISTS (SELECT FROM search_index) AND NOT EXISTS (
    SELECT FROM index_changes AS c WHERE c.workspace = %(workspace)s AND c.document_id = every.document_id
)
"""
_BACKLOG = """
SELECT count(DISTINCT (workspace, document_id))::integer AS documents,
       coalesce(extract(epoch FROM now() - min(changed_at)), 0)::float AS seconds
FROM index_changes
"""


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """An index outside of PostgreSQL: where it is, and whether it is complete enough to be asked."""

    engine: str
    collection: str
    dimension: int
    state: IndexState


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many documents the index lags behind by, and since how many seconds the first of them does."""

    documents: int
    seconds: float


async def read_index(conn: Connection) -> SearchIndex | None:
    """Return the index outside of PostgreSQL, or None where there is none."""
    return await row_of(conn, SearchIndex, _READ)


async def read_backlog(conn: Connection) -> Backlog:
    """Return how far the index lags behind."""
    found = await row_of(conn, Backlog, _BACKLOG)
    assert found is not None
    return found


async def begin_index(conn: Connection, prefix: str, dimension: int) -> bool:
    """Begin an index; whatever changes from now on is queued. Returns False where there is one already."""
    return await value_of(conn, _BEGIN, {"prefix": prefix, "dimension": dimension}) is not None


async def begin_again(conn: Connection, dimension: int) -> bool:
    """Give up what an index holds and let it be filled anew, as for another model. Returns False where there is none.

    Within the transaction that swaps the vectors; it holds the locks of all libraries. ``queue_all`` follows.
    """
    return bool((await conn.execute(_BEGIN_AGAIN, {"dimension": dimension})).rowcount)


async def end_index(conn: Connection) -> None:
    """Forget the index and its queue: PostgreSQL alone is searched."""
    async with conn.transaction():
        await conn.execute("DELETE FROM search_index")
        await conn.execute("DELETE FROM index_changes")


async def queue_all(conn: Connection, workspace: int) -> int:
    """Queue every document of a workspace that is not queued yet; return how many there were.

    Those of a workspace in the shared tables are none: PostgreSQL alone searches it. Where the library's lock is held
    nothing is missed: who changes segments afterwards knows of the index.
    """
    return (await conn.execute(_QUEUE_ALL, {"workspace": workspace})).rowcount


async def queue_documents(conn: Connection, workspace: int, document_ids: Sequence[str]) -> None:
    """Queue documents whose rows in the index have to be repaired."""
    await conn.execute(
        "INSERT INTO index_changes (workspace, document_id, is_refill) SELECT %s, unnest(%s::uuid[]), true",
        [workspace, list(document_ids)],
    )


async def queue_deleted_workspace(conn: Connection, workspace: int) -> None:
    """Queue that a workspace is gone with all that it held, or in the shared tables from now on."""
    await conn.execute(_QUEUE_WORKSPACE, [workspace])
