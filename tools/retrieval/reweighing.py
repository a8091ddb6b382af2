"""Weigh the terms of segments anew that earlier rules weighed, page by page, while search and ingestion go on."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, LiteralString

from psycopg import sql

from graph.errors import NotFound
from text.near_words import vocabulary_of
from text.terms import TERMS_VERSION, TermVector, weigh_segment, with_impacts
from tools.retrieval.indexing import add_words, counting_memory
from tools.retrieval.scope import as_array
from tools.retrieval.structure import named_and_around, unpack_blocks
from tools.retrieval.term_counting import count_common_terms
from tools.storage.database import Connection, has_vectors
from tools.storage.index_changes import QUEUE_CHANGES
from tools.storage.partitions import Tables, lock_library

PAGE = 500  # segments that are weighed in one transaction, for which ingestion waits
_FIRST = ("00000000-0000-0000-0000-000000000000", -1)


async def weigh_all_anew(conn: Connection, workspaces: Sequence[int]) -> None:
    """Weigh each workspace anew; see ``weigh_anew``. One that is removed meanwhile is passed over."""
    for workspace in workspaces:
        with suppress(NotFound):
            await weigh_anew(conn, workspace)


async def weigh_anew(conn: Connection, workspace: int) -> int:
    """Weigh a workspace's segments by the rules of this release, if earlier ones did; return how many there were.

    Needs an autocommit connection. Where it is cut short it begins again. Raises NotFound where the workspace is gone.
    """
    found = await conn.execute(
        "SELECT terms_version, segments FROM library_statistics WHERE workspace = %s", [workspace]
    )
    row = await found.fetchone()
    if row is None or row[0] >= TERMS_VERSION:
        return 0
    as_vectors, after, weighed = await has_vectors(conn), _FIRST, 0
    while True:
        async with conn.transaction():
            place = await lock_library(conn, workspace)
            bound = {"workspace": workspace, "document": after[0], "index": after[1], "limit": PAGE}
            page = await (await conn.execute(sql.SQL(_PAGE.format(segments=place.read.segments)), bound)).fetchall()
            if not page:
                await conn.execute(
                    "UPDATE library_statistics SET terms_version = %s WHERE workspace = %s", [TERMS_VERSION, workspace]
                )
                break
            await _write(conn, workspace, place.tables, page, as_vectors=as_vectors)
        after, weighed = (str(page[-1][0]), page[-1][1]), weighed + len(page)
    await count_common_terms(conn, workspace, memory=counting_memory(row[1]))
    return weighed


async def _write(
    conn: Connection, workspace: int, tables: list[Tables], page: list[tuple[Any, ...]], *, as_vectors: bool
) -> None:
    words: set[str] = set()
    weights, terms = [], []
    for _, _, start, end, heading, body, structure, title in page:
        named, around = named_and_around(unpack_blocks(structure), start, end, body)
        vector = weigh_segment(body, title=title, heading=heading, named=named, around=around)
        weights.append(_as_sparse(vector) if as_vectors else as_array(map(str, vector.weights.tolist())))
        terms.append(as_array(map(str, with_impacts(vector).tolist())))
        words |= vocabulary_of(f"{title} {heading} {body}")
    bound = {
        "workspace": workspace,
        "documents": [row[0] for row in page],
        "indexes": [row[1] for row in page],
        "weights": weights,
        "terms": terms,
    }
    for each in tables:
        kind = sql.SQL("sparsevec" if as_vectors else "real[]")
        await conn.execute(sql.SQL(_WEIGH).format(segments=each.segments, kind=kind), bound)
    await conn.execute(_QUEUE, {"workspace": workspace, "documents": list({row[0] for row in page})})
    await add_words(conn, workspace, words)


def _as_sparse(vector: TermVector) -> str:
    pairs = zip(vector.ids.tolist(), vector.weights.tolist(), strict=True)
    return "{" + ",".join([f"{term}:{weight:.7g}" for term, weight in pairs]) + "}/1000000000"


_PAGE: LiteralString = """
SELECT s.document_id, s.segment_index, s.start_offset, s.end_offset, s.heading, s.body, s.structure, d.title
FROM {segments} AS s JOIN documents AS d ON d.workspace = s.workspace AND d.document_id = s.document_id
WHERE s.workspace = %(workspace)s AND (s.document_id, s.segment_index) > (%(document)s::uuid, %(index)s)
ORDER BY s.document_id, s.segment_index LIMIT %(limit)s
"""
_WEIGH: LiteralString = """
UPDATE {segments} AS s SET weights = new.weights::{kind}, terms = new.terms::integer[]
FROM unnest(%(documents)s::uuid[], %(indexes)s::integer[], %(weights)s::text[], %(terms)s::text[])
    AS new (document_id, segment_index, weights, terms)
WHERE s.workspace = %(workspace)s AND s.document_id = new.document_id AND s.segment_index = new.segment_index
"""
_QUEUE = QUEUE_CHANGES.format(workspace="%(workspace)s", documents="unnest(%(documents)s::uuid[]) AS document_id")
