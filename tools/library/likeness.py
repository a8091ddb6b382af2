"""How much of its text a document shares with others: their sketches, compared in the database."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from graph.evidence import Identity
from tools.library.sketches import BITS
from tools.retrieval.scope import LASTING, VISIBLE, reading_as
from tools.storage.database import Connection

SIMILAR = 0.6  # the share from which a document is told of
MOST_TOLD = 3


class SimilarDocument(TypedDict):
    """A document that shares most of its text with another. ``share`` is about the share of pairs of words in both."""

    document_id: str
    title: str
    share: float


_DIFFERING = int((1 - SIMILAR) * BITS / 2)
_SIMILAR = f"""
SELECT n.document_id::text, near.document_id, near.title, near.differing
FROM documents AS n, LATERAL (
    SELECT d.document_id::text, d.title,
           CASE WHEN d.original_sha256 = n.original_sha256 THEN 0
                ELSE bit_count(d.likeness # n.likeness) END AS differing
    FROM documents AS d
    WHERE d.workspace = %(workspace)s AND d.document_id <> n.document_id AND {VISIBLE} AND {LASTING}
      AND (bit_count(d.likeness # n.likeness) <= {_DIFFERING} OR d.original_sha256 = n.original_sha256)
    ORDER BY differing, d.document_id LIMIT {MOST_TOLD}
) AS near
WHERE n.workspace = %(workspace)s AND n.document_id = ANY(%(ids)s::uuid[])
ORDER BY near.differing, near.document_id
"""


async def find_similar(
    connection: Connection, workspace: int, identity: Identity, document_ids: Sequence[str]
) -> dict[str, list[SimilarDocument]]:
    """Find for each document up to three others that share its file or most of its text, as the identity may read."""
    found: dict[str, list[SimilarDocument]] = {}
    row = {"workspace": workspace, **reading_as(identity), "ids": list(document_ids)}
    for document_id, other, title, differing in await (await connection.execute(_SIMILAR, row)).fetchall():
        share = round(1 - 2 * differing / BITS, 2)
        found.setdefault(document_id, []).append({"document_id": other, "title": title, "share": share})
    return found
