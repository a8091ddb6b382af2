"""Notes: what somebody pinned with its proof, under a title and words of their own.

What is pinned is read like an old answer: each quote is looked up in today's text, and what its reader may not read, or
what is deleted, is withheld.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb
from typing_extensions import TypedDict

from graph.errors import InvalidRequest, NotFound, NotPermitted
from graph.evidence import Freshness, Identity, Section, SectionClaim, Source
from tools.retrieval.scope import LASTING, VISIBLE, reading_as
from tools.retrieval.segment_store import SegmentStore
from tools.retrieval.withholding import (
    brought_in,
    documents_of,
    find_deleted,
    find_unreadable,
    hidden_from_another,
    hidden_in,
    uncited_in,
    withhold,
)
from tools.sessions.freshness import call_fresh, check_freshness
from tools.sessions.history import StoredMessage
from tools.storage.database import Connection, Database, row_of, rows_of
from tools.storage.pagination import decode_cursor, encode_cursor
from tools.storage.tenants import Workspaces

MOST_NOTES = 1_000  # of one person in a workspace
MOST_ENTRIES = 100
MOST_LISTED = 200  # characters of its text that a list of notes tells
UNNAMED = "…"
_WORST: tuple[Freshness, ...] = ("fresh", "moved", "changed", "deleted", "withheld")

# Of each document that is pinned in a note, by its entry.
_PINNED = """
FROM note_entries AS e
CROSS JOIN LATERAL jsonb_path_query(e.body, '$.sources[*].document_id ? (@ like_regex "^[0-9a-f-]{36}$")') AS s (id)
JOIN documents AS d ON d.workspace = notes.workspace AND d.document_id = (s.id #>> '{}')::uuid
WHERE e.note_id = notes.note_id
"""
# One that nobody has named is called by its first passage, as far as its reader may read that.
_NAMED = f"""
coalesce(nullif(title, ''), (
    SELECT left(d.title, 255) {_PINNED} AND e.question = '' AND {VISIBLE} ORDER BY e.place, e.pinned_at LIMIT 1
), '{UNNAMED}') AS title
"""
_REST = (
    'shared, "user" = %(user)s AS is_own, created_at, updated_at,'
    " (SELECT count(*)::integer FROM note_entries AS e WHERE e.note_id = notes.note_id) AS entries"
)
_COLUMNS = f"note_id::text, {_NAMED}, body AS text, {_REST}"
_OWN = 'note_id = %(note_id)s AND workspace = %(workspace)s AND "user" = %(user)s'
# Whoever is restricted to some spaces sees of what others share what holds something for them.
_SEEN = f"""
workspace = %(workspace)s AND ("user" = %(user)s OR shared AND (
    %(allowed_spaces)s::text[] IS NULL OR EXISTS (SELECT {_PINNED} AND {LASTING} AND {VISIBLE})
))
"""
_YOURS = f'note_id = %(note_id)s AND {_SEEN} AND ("user" = %(user)s OR %(assigns_owners)s)'
_INSERT = f"""
INSERT INTO notes (note_id, workspace, "user", title, body)
SELECT %(note_id)s, %(workspace)s, %(user)s, %(title)s, %(text)s
WHERE (SELECT count(*) FROM notes WHERE workspace = %(workspace)s AND "user" = %(user)s) < {MOST_NOTES}
RETURNING {_COLUMNS}
"""
_LIST = f"""
SELECT note_id::text, {_NAMED}, left(body, {MOST_LISTED}) AS text, {_REST} FROM notes
WHERE {_SEEN} AND (%(before)s::timestamptz IS NULL OR (updated_at, note_id) < (%(before)s, %(after_id)s::uuid))
ORDER BY updated_at DESC, notes.note_id DESC LIMIT %(limit)s
"""
_GET = f"SELECT {_COLUMNS} FROM notes WHERE note_id = %(note_id)s AND {_SEEN}"
_CHANGE = f"""
UPDATE notes SET title = coalesce(%(title)s, title), body = coalesce(%(text)s, body),
       shared = coalesce(%(shared)s, shared), updated_at = now()
WHERE {_OWN} RETURNING {_COLUMNS}
"""
_UNSHARE = f"UPDATE notes SET shared = false, updated_at = now() WHERE {_YOURS} RETURNING {_COLUMNS}"
_DELETE = f"DELETE FROM notes WHERE {_YOURS}"
_ENTRIES = """
SELECT entry_id::text, question, body, pinned_at FROM note_entries WHERE note_id = %(note_id)s ORDER BY place, pinned_at
"""
_PIN = f"""
INSERT INTO note_entries (entry_id, note_id, place, question, body)
SELECT %(entry_id)s, %(note_id)s, coalesce(max(place), 0) + 1, %(question)s, %(body)s
FROM note_entries WHERE note_id = %(note_id)s HAVING count(*) < {MOST_ENTRIES}
"""
_REMOVE = "DELETE FROM note_entries WHERE note_id = %(note_id)s AND entry_id = %(entry_id)s"
# Entries that are not named, such as one that was pinned meanwhile, stand behind those that are.
_ORDER = """
UPDATE note_entries SET place = ordered.place FROM (
    SELECT entry_id, row_number() OVER (ORDER BY array_position(%(order)s::uuid[], entry_id), place, pinned_at) AS place
    FROM note_entries WHERE note_id = %(note_id)s
) AS ordered WHERE note_entries.entry_id = ordered.entry_id
"""


@dataclass(frozen=True, slots=True)
class NoteSummary:
    """A note without what is pinned in it. ``is_own``: its reader may change it; others read it where it is shared."""

    note_id: str
    title: str
    text: str
    shared: bool
    is_own: bool
    created_at: datetime
    updated_at: datetime
    entries: int


class NoteEntry(TypedDict):
    """What is pinned: sections in Markdown with their claims, each with the citations that prove it.

    ``question`` is empty for a passage of a document. ``freshness`` is the worst of its quotes today.
    """

    entry_id: str
    question: str
    pinned_at: datetime
    freshness: Freshness
    sections: list[Section]
    claims: list[SectionClaim]
    sources: list[Source]


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """A pinned answer as its reader may see it today; ``freshness`` is the worst of its quotes."""

    question: str
    answer: StoredMessage
    freshness: Freshness

    def as_json(self) -> NoteEntry:
        """Return the entry as programs are told of it."""
        body = self.answer.body
        return NoteEntry(
            entry_id=self.answer.message_id,
            question=self.question,
            pinned_at=self.answer.created_at,
            freshness=self.freshness,
            sections=body["sections"],
            claims=body["claims"],
            sources=body["sources"],
        )


class Notes:
    """The notes of a deployment. Those that an identity may not see raise NotFound, as if they did not exist."""

    def __init__(self, database: Database, workspaces: Workspaces, segments: SegmentStore) -> None:
        self._database = database
        self._workspaces = workspaces
        self._segments = segments

    async def create(
        self, identity: Identity, title: str, text: str = "", *, pinned: tuple[str, Mapping[str, Any]] | None = None
    ) -> NoteSummary:
        """Make a note, empty or with the question and the body that are ``pinned`` first.

        Without a title it is called by the first passage in it. Raises NotPermitted, InvalidRequest where there are too
        many.
        """
        if identity.is_shared:
            raise NotPermitted("A public key keeps no notes: those who share it would see each other's.")
        await self._database.require_room()
        row = {**await self._row(identity, str(uuid4())), "title": title, "text": text}
        async with self._database.connection() as connection, connection.transaction():
            made = await row_of(connection, NoteSummary, _INSERT, row)
            if made is None:
                raise InvalidRequest(
                    f"You have {MOST_NOTES} notes, and no more are possible.", suggestion="Delete some."
                )
            if pinned is not None:
                await _put(connection, row, *pinned)
                made = await row_of(connection, NoteSummary, _GET, row) or made
        return made

    async def list(
        self, identity: Identity, *, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[NoteSummary], str | None]:
        """List own and shared notes, the last changed first, and the cursor of the next page. Raises InvalidRequest."""
        before, after_id = decode_cursor(cursor)
        row = {**await self._row(identity), "before": before, "after_id": after_id, "limit": limit + 1}
        async with self._database.connection() as connection:
            found = await rows_of(connection, NoteSummary, _LIST, row)
        shown = found[:limit]
        more = len(found) > limit
        return shown, encode_cursor(shown[-1].updated_at, shown[-1].note_id) if more else None

    async def get(self, identity: Identity, note_id: str) -> tuple[NoteSummary, Sequence[ReadEntry]]:
        """Return a note with what is pinned in it, each quote looked up in today's text. Raises NotFound."""
        row = await self._row(identity, note_id)
        async with self._database.connection() as connection:
            note = await row_of(connection, NoteSummary, _GET, row)
            if note is None:
                raise _unknown(note_id)
            rows = await (await connection.execute(_ENTRIES, row)).fetchall()
            bodies = [body for _, _, body, _ in rows]
            documents = set[str]().union(*map(documents_of, bodies))
            refused, gone = await find_unreadable(connection, row["workspace"], identity, documents)
            deleted = await find_deleted(connection, row["workspace"], documents)
        for body in bodies:
            call_fresh(body)
        checked = [each.body for each in await check_freshness(bodies, self._segments, identity)]
        hiding = hidden_in if note.is_own else hidden_from_another
        hidden = [hiding(body, refused, gone) | ((documents_of(body) & deleted) - brought_in(body)) for body in checked]
        secret = not note.is_own and any(hidden)
        entries: list[ReadEntry] = []
        for (entry_id, question, _, pinned_at), body, documents in zip(rows, checked, hidden, strict=True):
            is_listing = not note.is_own and body.get("stop_reason") == "answered_from_catalogue"
            also = uncited_in(body) if secret or is_listing else set()
            shown = withhold(body, documents, also=also)
            elsewhere = set() if note.is_own else brought_in(body)  # stored for whoever asked alone
            states: list[Freshness] = [
                each.get("freshness", "fresh") for each in body["citations"] if each["document_id"] not in elsewhere
            ]
            states += ["withheld" if each in refused else "deleted" for each in documents]
            states += ["withheld" for _ in also]
            answer = StoredMessage(
                message_id=entry_id,
                run_id=None,
                parent_message_id=None,
                role="assistant",
                content="",
                body=shown,
                outcome=body.get("outcome", "answered"),
                stop_reason=body.get("stop_reason"),
                created_at=pinned_at,
            )
            entries.append(ReadEntry(question, answer, max(states, key=_WORST.index, default="fresh")))
        return note, entries

    async def change(
        self,
        identity: Identity,
        note_id: str,
        *,
        title: str | None = None,
        text: str | None = None,
        shared: bool | None = None,
        order: Sequence[str] | None = None,
    ) -> NoteSummary:
        """Change a note of the identity's own; None leaves a value unchanged. Raises NotFound, InvalidRequest.

        ``order`` are ids of its entries as they should stand; those that it does not name stand behind them. Whoever
        may administer the workspace ends that another's note is shared, and changes nothing else of it.
        """
        row = {**await self._row(identity, note_id), "title": title, "text": text, "shared": shared}
        async with self._database.connection() as connection, connection.transaction():
            unshares = shared is False and title is text is order is None
            changed = await row_of(connection, NoteSummary, _UNSHARE if unshares else _CHANGE, row)
            if changed is None:
                raise _unknown(note_id)
            if order is not None:
                known = {each[0] for each in await (await connection.execute(_ENTRIES, row)).fetchall()}
                if unknown := [each for each in order if each not in known]:
                    raise InvalidRequest(f"order: the note has no entry {unknown[0]}.")
                await connection.execute(_ORDER, {**row, "order": [UUID(each) for each in order]})
        return changed

    async def delete(self, identity: Identity, note_id: str) -> None:
        """Delete a note of the identity's own, or a shared one as who may administer. Raises NotFound."""
        if not await self._database.execute(_DELETE.encode(), await self._row(identity, note_id)):
            raise _unknown(note_id)

    async def pin(self, identity: Identity, note_id: str, question: str, body: Mapping[str, Any]) -> str:
        """Put something at the end of a note, and return its id there. Raises NotFound, InvalidRequest if full."""
        await self._database.require_room()
        row = await self._row(identity, note_id)
        async with self._database.connection() as connection, connection.transaction():
            await _touch(connection, row)
            return await _put(connection, row, question, body)

    async def remove(self, identity: Identity, note_id: str, entry_id: str) -> None:
        """Take an entry out of a note of the identity's own. Raises NotFound."""
        row = {**await self._row(identity, note_id), "entry_id": UUID(entry_id)}
        async with self._database.connection() as connection, connection.transaction():
            await _touch(connection, row)
            if not (await connection.execute(_REMOVE, row)).rowcount:
                raise NotFound(f"There is no entry {entry_id} in the note.")

    async def _row(self, identity: Identity, note_id: str | None = None) -> dict[str, Any]:
        number = await self._workspaces.number(identity.workspace)
        return {
            "workspace": number,
            **reading_as(identity),
            "assigns_owners": identity.assigns_owners,
            "note_id": None if note_id is None else UUID(note_id),
        }


async def _touch(connection: Connection, row: Mapping[str, Any]) -> None:
    """Say that a note of the identity's own changes, and keep others from changing it. Raises NotFound."""
    values = {**row, "title": None, "text": None, "shared": None}
    if await row_of(connection, NoteSummary, _CHANGE, values) is None:
        raise _unknown(str(row["note_id"]))


async def _put(connection: Connection, row: Mapping[str, Any], question: str, body: Mapping[str, Any]) -> str:
    """Put something at the end of a note, and return its id there. Raises InvalidRequest where the note is full."""
    values = {**row, "entry_id": uuid4(), "question": question, "body": Jsonb(body)}
    if not (await connection.execute(_PIN, values)).rowcount:
        raise InvalidRequest(
            f"The note has {MOST_ENTRIES} entries, and no more are possible.", suggestion="Begin another note."
        )
    return str(values["entry_id"])


def _unknown(note_id: str) -> NotFound:
    return NotFound(f"There is no note {note_id}.")
