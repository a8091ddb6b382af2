"""Which rows of the library a reader may see, how far a search reaches into them, and how a row becomes a segment."""

import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from typing import Any
from uuid import UUID

from graph.evidence import Identity, Segment
from graph.ports import SearchQuery
from tools.library.structure import unpack_blocks
from tools.storage.database import Connection

# Of segments AS s joined with documents AS d.
SEGMENT_COLUMNS = (
    "s.document_id::text, s.segment_index, s.start_offset, s.end_offset, s.body, s.page_idx, s.heading, s.tokens,"
    " d.title, d.source_type, d.slug, d.space_id, d.space_slug, d.url, d.metadata, s.structure,"
    " d.updated_at, d.content_hash, d.media_type"
)
NOT_EXPIRED = "(d.expires_at IS NULL OR d.expires_at > now())"
# What a run stored for its asker, a page of the web or a marked passage, is in no space.
IN_SPACES = (
    "(%(allowed_spaces)s::text[] IS NULL"
    " OR d.space_id = ANY(%(allowed_spaces)s) OR d.space_slug = ANY(%(allowed_spaces)s)"
    " OR d.expires_at IS NOT NULL AND d.owner IS NOT NULL)"
)


def readable(row: str) -> str:
    """Return the condition that an identity may read a row of documents or sources; ``reading_as`` binds it."""
    return (
        f"({row}.owner IS NULL AND {row}.readers IS NULL OR {row}.owner = %(user)s"
        f" OR {row}.readers && %(principals)s::text[])"
    )


def reading_as(identity: Identity) -> dict[str, Any]:
    """Return the parameters of ``readable`` and of ``IN_SPACES``."""
    spaces = None if identity.spaces is None else list(identity.spaces)
    return {"user": identity.user, "principals": identity.readers, "allowed_spaces": spaces}


READABLE = f"{readable('d')} AND {IN_SPACES}"
VISIBLE = f"d.deleted_at IS NULL AND {READABLE} AND {NOT_EXPIRED}"
# What has a time limit was brought by a run: a page of the web, a passage that a reader marked. It can be read and
# cited by its id, and is no part of the library that everybody's questions search.
LASTING = "d.expires_at IS NULL"


def as_segment(row: tuple[Any, ...]) -> Segment:
    """Read the first of a row's columns, as ``SEGMENT_COLUMNS`` orders them."""
    document_id, index, start, end, body, page_idx, heading, tokens, title, source_type, slug, *rest = row
    space_id, space_slug, url, metadata, structure, updated_at, content_hash, media_type = rest[:8]
    return Segment(
        document_id=document_id,
        segment_index=index,
        start=start,
        end=end,
        text=body,
        page_idx=page_idx,
        heading=heading,
        tokens=tokens,
        title=title,
        source_type=source_type,
        slug=slug,
        space=None if space_id is None and space_slug is None else {"id": space_id, "slug": space_slug},
        url=url,
        metadata=metadata,
        blocks=unpack_blocks(structure),
        updated_at=updated_at.astimezone(UTC).isoformat(timespec="seconds"),
        content_hash=content_hash,
        media_type=media_type,
    )


CANDIDATES = 2500  # segments that the lexical leg scores, about
MOST_CANDIDATES = 10 * CANDIDATES
FEW_DOCUMENTS = 200
KEPT_SECONDS = 60.0
MOST_KEPT = 1000  # readers


@dataclass(frozen=True, slots=True)
class Scope:
    """``document_ids`` are those to read whole, or None to search by index with a budget of ``candidates``."""

    document_ids: list[UUID] | None = None
    candidates: int = CANDIDATES


async def find_scope(conn: Connection, workspace: int, query: SearchQuery, shares: "ReadableShares") -> Scope:
    """Return how to search within the documents or spaces that a query names, and within what its identity may read.

    Candidates of a leg are picked before they are filtered. So that a narrow filter leaves enough of them, the
    documents of a small space are read whole, and the budget grows with the share that a larger one leaves out. It is
    the same where somebody may read less than half of a library; of more, enough candidates are left.
    """
    if query.document_ids:
        return Scope([identifier for identifier in map(as_uuid, query.document_ids) if identifier is not None])
    if not query.spaces:
        readable, documents = await shares.of(conn, workspace, query.identity)
        if 2 * readable >= documents:
            return Scope()
        if readable <= FEW_DOCUMENTS:
            allowed = {"workspace": workspace, **reading_as(query.identity), "most": FEW_DOCUMENTS + 1}
            cursor = await conn.execute(_FEW_READABLE, allowed, prepare=True)
            few: list[UUID] = [row[0] for row in await cursor.fetchall()]
            if len(few) <= FEW_DOCUMENTS:
                return Scope(few)
        return Scope(candidates=min(CANDIDATES * documents // max(readable, 1), MOST_CANDIDATES))
    parameters = {
        **reading_as(query.identity),
        "workspace": workspace,
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


class ReadableShares:
    """How much of each library somebody may read, kept for a minute: it is about how to search, never about rights."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, Identity], tuple[float, tuple[int, int]]] = OrderedDict()

    async def of(self, conn: Connection, workspace: int, identity: Identity) -> tuple[int, int]:
        """Return the number of documents that an identity may read, and that of all."""
        now, key = time.monotonic(), (workspace, identity)
        known = self._known.get(key)
        if known is not None and now - known[0] < KEPT_SECONDS:
            return known[1]
        row = {"workspace": workspace, **reading_as(identity)}
        found = await (await conn.execute(_REACH, row, prepare=True)).fetchone()
        assert found is not None
        self._known[key] = (now, (found[0], found[1]))
        self._known.move_to_end(key)
        while len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return found[0], found[1]


# Of each index its own part, so that those that are for others are not looked at.
_KEPT = f"d.workspace = %(workspace)s AND d.deleted_at IS NULL AND {LASTING} AND {IN_SPACES}"
_READABLE_IDS = f"""
SELECT d.document_id FROM documents AS d WHERE {_KEPT} AND d.owner IS NULL AND d.readers IS NULL
UNION SELECT d.document_id FROM documents AS d WHERE {_KEPT} AND d.owner = %(user)s
UNION SELECT d.document_id FROM documents AS d WHERE {_KEPT} AND d.readers && %(principals)s::text[]
"""
_FEW_READABLE = f"SELECT document_id FROM ({_READABLE_IDS}) AS d LIMIT %(most)s"
_REACH = f"""
SELECT (SELECT count(*) FROM ({_READABLE_IDS}) AS d),
    (SELECT count(*) FROM documents AS d WHERE d.workspace = %(workspace)s AND d.deleted_at IS NULL AND {LASTING})
"""


def as_uuid(text: str) -> UUID | None:
    """Read a document id; None where the text is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def as_array(values: Iterable[str]) -> str:
    """Write ids or numbers as PostgreSQL reads an array of them: psycopg takes ten times as long over a list."""
    return f"{{{','.join(values)}}}"


_SPACES = f"""
SELECT count(*), (SELECT documents FROM library_statistics WHERE workspace = %(workspace)s),
    CASE WHEN count(*) <= %(few)s THEN array_agg(d.document_id) END
FROM documents AS d
WHERE d.workspace = %(workspace)s AND {VISIBLE} AND {LASTING}
    AND (d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s))
"""
