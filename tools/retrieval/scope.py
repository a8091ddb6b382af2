"""Which rows of the library a reader may see, how far a search reaches into them, and how a row becomes a segment."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any
from uuid import UUID

from graph.evidence import EVERYONE, Identity, Segment
from graph.ports import SearchQuery
from tools.retrieval.structure import unpack_blocks
from tools.storage.database import Connection, value_of

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
MOST_KEPT = 2000  # counts


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
    few = {**_bound(workspace, query.identity, query.spaces), "most": FEW_DOCUMENTS + 1}
    if query.spaces:
        inside = await _read(conn, _FEW_IN_SPACES, few)
        if len(inside) <= FEW_DOCUMENTS:
            return Scope([document_id for document_id, is_readable in inside if is_readable])
    readable, documents = await shares.of(conn, workspace, query.identity, query.spaces)
    if not query.spaces and 2 * readable >= documents:
        return Scope()
    if readable <= FEW_DOCUMENTS:
        found = await _read(conn, _FEW_READABLE_IN_SPACES if query.spaces else _FEW_READABLE, few)
        if len(found) <= FEW_DOCUMENTS:
            return Scope([document_id for (document_id,) in found])
    budget = CANDIDATES * documents // max(readable, 1)  # of counts of different ages: never less than for all
    return Scope(candidates=max(CANDIDATES, min(budget, MOST_CANDIDATES)))


async def _read(conn: Connection, statement: str, bound: dict[str, Any]) -> list[tuple[Any, ...]]:
    return await (await conn.execute(statement, bound, prepare=True)).fetchall()


def _bound(workspace: int, identity: Identity, spaces: Sequence[str]) -> dict[str, Any]:
    named = [reader for reader in identity.readers if reader != EVERYONE]
    return {"workspace": workspace, **reading_as(identity), "named": named, "spaces": list(spaces) or None}


@dataclass(slots=True)
class _Count:
    documents: int = 0
    counted_at: float = -math.inf
    counting: asyncio.Lock = field(default_factory=asyncio.Lock)


class ReadableShares:
    """How much of each library somebody may read: it is about how to search, never about rights.

    What everyone may read is counted once for all, and for each reader only what is theirs beside it. Each count is
    kept for a minute. While it is counted anew others take the one of before, and wait where there is none.
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[Hashable, _Count] = OrderedDict()

    async def of(
        self, conn: Connection, workspace: int, identity: Identity, spaces: Sequence[str] = ()
    ) -> tuple[int, int]:
        """Return the number of documents that an identity may read, in ``spaces`` if there are any, and that of all."""
        bound, within = _bound(workspace, identity, spaces), tuple(spaces)

        async def counted(statement: str, *of: Hashable) -> int:
            return await self._counted(conn, statement, bound, (statement, workspace, *of))

        documents = await counted(_INDEXED if spaces else _ALL)
        for_everyone = await counted(_FOR_EVERYONE, identity.spaces, within)
        for_reader = await counted(_FOR_READER, identity, within)
        return for_everyone + for_reader, documents

    async def _counted(self, conn: Connection, statement: str, bound: dict[str, Any], key: Hashable) -> int:
        count = self._counts.setdefault(key, _Count())
        self._counts.move_to_end(key)
        while len(self._counts) > MOST_KEPT:
            self._counts.popitem(last=False)
        if count.counting.locked() and count.counted_at > -math.inf:
            return count.documents
        async with count.counting:
            now = time.monotonic()
            if now - count.counted_at >= KEPT_SECONDS:
                count.documents = await value_of(conn, statement, bound, prepare=True) or 0  # it may be gone
                count.counted_at = now
            return count.documents


_KEPT = f"d.workspace = %(workspace)s AND d.deleted_at IS NULL AND {LASTING} AND {IN_SPACES}"
_INSIDE = "(d.space_id = ANY(%(spaces)s::text[]) OR d.space_slug = ANY(%(spaces)s::text[]))"


def _few_readable(kept: str) -> str:
    """Return what reads the few documents that somebody may read, of each index its own part alone."""
    return f"""
SELECT document_id FROM (
    SELECT d.document_id FROM documents AS d WHERE {kept} AND d.owner IS NULL AND d.readers IS NULL
    UNION SELECT d.document_id FROM documents AS d WHERE {kept} AND d.owner = %(user)s
    UNION SELECT d.document_id FROM documents AS d WHERE {kept} AND d.readers && %(principals)s::text[]
) AS d LIMIT %(most)s
"""


_FEW_READABLE = _few_readable(_KEPT)
_FEW_READABLE_IN_SPACES = _few_readable(f"{_KEPT} AND {_INSIDE}")
# Bounded before rights are looked at: else all of a large space would be read for somebody who may read little of it.
_OF_SPACES = f"""
SELECT d.document_id, d.owner, d.readers, d.space_id, d.space_slug, d.expires_at FROM documents AS d
WHERE d.workspace = %(workspace)s AND d.deleted_at IS NULL AND {LASTING}"""
_FEW_IN_SPACES = f"""
SELECT d.document_id, {READABLE} AS is_readable FROM (
    ({_OF_SPACES} AND d.space_id = ANY(%(spaces)s::text[]) LIMIT %(most)s)
    UNION ({_OF_SPACES} AND d.space_slug = ANY(%(spaces)s::text[]) LIMIT %(most)s)
) AS d
"""

# Two counts that share no document, and are together what ``_FEW_READABLE`` reads.
_COUNTED = f"""{_KEPT}
    AND (%(spaces)s::text[] IS NULL OR d.space_id = ANY(%(spaces)s) OR d.space_slug = ANY(%(spaces)s))"""
_NAMES_EVERYONE = f"d.readers @> '{{{EVERYONE}}}'::text[]"
_FOR_EVERYONE = f"""
SELECT (SELECT count(*) FROM documents AS d WHERE {_COUNTED} AND d.owner IS NULL AND d.readers IS NULL)
    + (SELECT count(*) FROM documents AS d WHERE {_COUNTED} AND {_NAMES_EVERYONE})
"""
_FOR_READER = f"""
SELECT count(*) FROM (
    SELECT d.document_id FROM documents AS d
    WHERE {_COUNTED} AND d.owner = %(user)s AND {_NAMES_EVERYONE} IS NOT TRUE
    UNION SELECT d.document_id FROM documents AS d
    WHERE {_COUNTED} AND d.readers && %(named)s::text[] AND NOT {_NAMES_EVERYONE}
) AS d
"""
_ALL = f"""
SELECT count(*) FROM documents AS d WHERE d.workspace = %(workspace)s AND d.deleted_at IS NULL AND {LASTING}
"""
_INDEXED = "SELECT documents FROM library_statistics WHERE workspace = %(workspace)s"


def as_uuid(text: str) -> UUID | None:
    """Read a document id; None where the text is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def as_array(values: Iterable[str]) -> str:
    """Write ids or numbers as PostgreSQL reads an array of them: psycopg takes ten times as long over a list."""
    return f"{{{','.join(values)}}}"
