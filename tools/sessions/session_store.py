"""Store of conversations: create, list, rename, read page by page, and delete with all their data."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg.rows import kwargs_row
from psycopg.types.json import Jsonb

from graph.errors import InvalidRequest, NotFound, SessionBusy, UnknownModel
from graph.evidence import Identity, Outcome
from graph.ports import Families, Titler
from tools.retrieval.segment_store import SegmentStore
from tools.retrieval.selections import delete_selections
from tools.retrieval.withholding import find_unreadable, hidden_from_another, uncited_in
from tools.rules.question_rules import DEFAULT_TITLE
from tools.sessions.history import Asked, BranchMessage, History, StoredMessage, read_asked, read_branch
from tools.sessions.history_search import FoundSession, search_history
from tools.sessions.message_reader import Encode, KnownMessage, MessageReader, ReadMessage
from tools.sessions.pruning import delete_threads
from tools.sessions.session_rows import (
    CHANGE_SESSION,
    CREATE_SESSION,
    FIRST_QUESTION,
    HAS_ACTIVE_RUN,
    LIST_SESSIONS,
    LOCK_SESSION,
    OPEN_SESSION,
    Session,
    own_session,
    unknown_session,
)
from tools.sessions.titles import SET_WHERE_UNTITLED, best_title
from tools.spending.charges import Spending
from tools.storage.database import Connection, Database, row_of, rows_of, value_of
from tools.storage.pagination import decode_cursor, encode_cursor
from tools.storage.tenants import Workspaces

__all__ = ["DEFAULT_TITLE", "History", "RunPage", "RunStatus", "Session", "SessionPage", "Sessions", "StoredMessage"]

EPHEMERAL_HOURS = 24
EVERY_MESSAGE = 1_000_000_000  # of a branch
LONGEST_EXTERNAL_ID = 500  # characters; short enough for an index entry in any script
_NAMED = """
SELECT session_id::text FROM sessions
WHERE workspace = %s AND "user" = %s AND dialect = %s AND external_id = %s
"""
_MESSAGE_IDS = "SELECT message_id::text FROM messages WHERE session_id = %(session_id)s"
RunState = Literal["queued", "running", "finished"]

_RUN = "run_id::text, session_id::text, question, status, outcome, stop_reason, created_at, started_at, finished_at"
_MINE = 'workspace = %(workspace)s AND "user" = %(user)s'
_ONE_RUN = f"SELECT {_RUN} FROM runs WHERE run_id = %(run_id)s AND {_MINE}"
_LIST_RUNS = f"""
SELECT {_RUN} FROM runs
WHERE {_MINE}
  AND (%(session_id)s::uuid IS NULL OR session_id = %(session_id)s)
  AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(before)s::timestamptz IS NULL OR created_at < %(before)s
       OR created_at = %(before)s AND run_id > %(after_id)s::uuid)
ORDER BY created_at DESC, runs.run_id LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of sessions, pinned ones first. ``next_cursor`` requests the next page; None at the end."""

    sessions: list[Session]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page of sessions in which something was found, last used first; ``next_cursor`` as in ``SessionPage``."""

    found: list[FoundSession]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class EncodedHistory:
    """A session with what ``History.shown`` has of messages, each as a wire format sends it."""

    session: Session
    messages: list[bytes]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class _Page:
    session: Session
    messages: list[ReadMessage]  # the newest first
    next_cursor: str | None
    waiting: list[StoredMessage]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The status of a run in the ledger."""

    run_id: str
    session_id: str
    question: str
    status: RunState
    outcome: Outcome | None
    stop_reason: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of runs, newest first; ``next_cursor`` fetches the next page, and is None at the end."""

    runs: list[RunStatus]
    next_cursor: str | None


async def named_session(
    database: Database, workspaces: Workspaces, identity: Identity, dialect: str, external_id: str
) -> str | None:
    """Return the id of the identity's session with a host's external id, or None if there is none yet."""
    if identity.is_shared and not _is_secret(external_id):
        return None
    row = [await workspaces.number(identity.workspace), identity.user, dialect, external_id]
    async with database.connection() as connection:
        found: str | None = await value_of(connection, _NAMED, row)
    return found


def _is_secret(external_id: str) -> bool:
    """Whether an id that a host made can't be guessed: a UUID of a version that is random."""
    try:
        return UUID(external_id).version in (4, 7)
    except ValueError:
        return False


class Sessions:
    """The sessions of a deployment. Those of other identities raise NotFound, as if they did not exist.

    With ``families`` models make titles, charged to ``spending``; without it, titles are cut from the question.
    """

    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        families: Families | None = None,
        spending: Spending | None = None,
    ) -> None:
        self._database = database
        self._workspaces = workspaces
        self._messages = MessageReader(database, SegmentStore(database, workspaces))
        self._families = families
        self._spending = spending

    async def create(
        self,
        identity: Identity,
        *,
        title: str | None = None,
        page_id: str | None = None,
        page_ids: Sequence[str] = (),
        collection_ids: Sequence[str] = (),
        ephemeral: bool = False,
        external_id: str | None = None,
        dialect: str = "native",
    ) -> Session:
        """Create a session, or return the existing one with the host's ``external_id`` in this dialect.

        An ephemeral session is never listed and expires after 24 hours. Raises InvalidRequest for an ``external_id``
        that can't be stored, or that strangers who share the identity could guess, DiskLow.
        """
        await self._database.require_room()
        if external_id is not None and (len(external_id) > LONGEST_EXTERNAL_ID or "\0" in external_id):
            raise InvalidRequest(f"A session's id may have at most {LONGEST_EXTERNAL_ID} characters and no NUL.")
        if external_id is not None and identity.is_shared and not _is_secret(external_id):
            raise InvalidRequest(
                "With a public key, the id of a conversation is what opens it, so it has to be a random UUID.",
                suggestion="Make it by crypto.randomUUID(), or leave it out where the format allows.",
            )
        row = {
            "workspace": await self._workspaces.ensure(identity.workspace),
            "user": identity.user,
            "session_id": uuid4(),
            "title": title or DEFAULT_TITLE,
            "page_id": page_id,
            "page_ids": Jsonb(list(page_ids)),
            "collection_ids": Jsonb(list(collection_ids)),
            "dialect": dialect,
            "external_id": external_id,
            "ephemeral": ephemeral,
            "hours": EPHEMERAL_HOURS,
        }
        async with self._database.connection() as connection:
            session = await row_of(connection, Session, CREATE_SESSION, row)
        assert session is not None
        return session

    async def list(
        self, identity: Identity, *, limit: int = 50, cursor: str | None = None, dialect: str | None = None
    ) -> SessionPage:
        """List sessions of one dialect or of all, pinned ones first, then the last used, ``limit`` per page.

        Raises InvalidRequest for a cursor that does not come from this method.
        """
        before, after_id = decode_cursor(cursor)
        row = {
            **await self._owner(identity),
            "before": before,
            "after_id": after_id,
            "limit": limit + 1,
            "dialect": dialect,
        }
        async with self._database.connection() as connection:
            found = await rows_of(connection, Session, LIST_SESSIONS, row)
        shown = found[:limit]
        return SessionPage(
            shown, encode_cursor(shown[-1].updated_at, shown[-1].session_id) if len(found) > limit else None
        )

    async def search(self, identity: Identity, query: str, *, limit: int = 50, cursor: str | None = None) -> FoundPage:
        """Find the sessions whose title, questions or answers have all words of a query, last used first.

        A page may hold fewer than ``limit``, where the identity may no longer read what matches. Raises InvalidRequest
        for a cursor that does not come from this method.
        """
        before, after_id = decode_cursor(cursor)
        row = {**await self._owner(identity), "before": before, "after_id": after_id, "limit": limit}
        found, last = await self._database.read(lambda connection: search_history(connection, row, identity, query))
        return FoundPage(found, None if last is None else encode_cursor(last.updated_at, last.session_id))

    async def get(
        self,
        identity: Identity,
        session_id: str,
        *,
        limit: int = 100,
        cursor: str | None = None,
        branch: str | None = None,
    ) -> History:
        """Read a session with the newest ``limit`` messages of a branch, or with those before a cursor.

        The branch is the one through the message ``branch``, or the most recently continued one. The quotes of answers
        are looked up in today's text, and each citation has the resulting ``freshness``; what the identity may no
        longer read is withheld. Questions that are still being answered are with the newest messages.

        Raises NotFound, and InvalidRequest for a cursor that does not come from this method.
        """
        page = await self._page(identity, session_id, limit, cursor, branch)
        messages = [each.shown() for each in page.messages]
        self._messages.recent.keep(each.known for each in reversed(page.messages))
        return History(page.session, messages[::-1], page.next_cursor, page.waiting)

    async def get_encoded(
        self,
        identity: Identity,
        session_id: str,
        encode: Encode,
        *,
        limit: int = 100,
        cursor: str | None = None,
        branch: str | None = None,
    ) -> EncodedHistory:
        """Read a session like ``get``, each message as ``encode`` writes it.

        What it wrote of a message is kept for the next reading, so pass the same function each time.
        """
        page = await self._page(identity, session_id, limit, cursor, branch, encode)
        encoded = [each.encoded(encode) for each in page.messages]
        self._messages.recent.keep(known for _, known in reversed(encoded))
        messages = [*(text for text, _ in reversed(encoded)), *map(encode, page.waiting)]
        return EncodedHistory(page.session, messages, page.next_cursor)

    async def _page(
        self,
        identity: Identity,
        session_id: str,
        limit: int,
        cursor: str | None,
        branch: str | None,
        encode: Encode | None = None,
    ) -> _Page:
        row = {**await self._owner(identity), "session_id": session_id}
        async with self._database.connection() as connection:
            session, answers = await _opened(connection, row)
            # Read before the messages, so that a run that ends meanwhile is in at least one of the two.
            newest = cursor is None and branch is None
            asked = await read_asked(connection, session_id) if newest and answers else Asked([])
            places = await read_branch(
                connection, session_id, limit=limit + 1, cursor=cursor, branch=branch, asked=asked
            )
            found = await self._messages.read(connection, places[:limit], encode)
            refused, gone = await find_unreadable(connection, row["workspace"], identity, _documents(found))
        messages = await self._messages.check(found, refused, gone, identity)
        last = messages[-1].known if messages and len(places) > limit else None
        stored = {each.known.run_id for each in messages}
        return _Page(
            session,
            messages,
            None if last is None else encode_cursor(last.created_at, last.message_id),
            [question for question in asked.questions if question.run_id not in stored],
        )

    async def whole(
        self, identity: Identity, session_id: str, *, through: str | None = None, reader: Identity | None = None
    ) -> History:
        """Read all messages of a branch of a session, up to the message ``through``, or of the one used last.

        ``reader`` is somebody else whom the session is shown to, whose own rights decide what is withheld. Questions
        that are still being answered are left out. Raises NotFound.
        """
        row = {**await self._owner(identity), "session_id": session_id}
        viewer = reader or identity
        async with self._database.connection() as connection:
            session = await own_session(connection, row)
            branch = await read_branch(
                connection, session_id, limit=EVERY_MESSAGE, cursor=None, branch=through, asked=Asked([])
            )
            ids = [place.message_id for place in branch]
            upwards = branch[ids.index(through) :] if through in ids else branch
            found = await self._messages.read(connection, upwards)
            refused, gone = await find_unreadable(connection, row["workspace"], viewer, _documents(found))
        messages = (await self._messages.check(found, refused, gone, viewer))[::-1]
        if reader is None:
            return History(session, [each.shown() for each in messages], None)
        bodies = [each.body or {} for each in messages]
        hidden = [hidden_from_another(body, refused, gone) for body in bodies]
        # A follow-up may repeat what an answer before it said, so nothing without a source is shown beside a secret.
        secret = any(hidden)
        shown: list[StoredMessage] = []
        for message, body, documents in zip(messages, bodies, hidden, strict=True):
            listing = message.known.stop_reason == "answered_from_catalogue"
            also = uncited_in(body) if secret or listing else ()
            shown.append(replace(message, hidden=documents).shown(also=also))
        return History(session, shown, None)

    async def change(
        self,
        identity: Identity,
        session_id: str,
        *,
        title: str | None = None,
        page_ids: Sequence[str] | None = None,
        collection_ids: Sequence[str] | None = None,
        pinned: bool | None = None,
    ) -> Session:
        """Change a session's title, what is selected in it, or whether it is pinned; None leaves a value unchanged.

        Raises NotFound.
        """
        row = {
            **await self._owner(identity),
            "session_id": session_id,
            "title": title,
            "page_ids": None if page_ids is None else Jsonb(list(page_ids)),
            "collection_ids": None if collection_ids is None else Jsonb(list(collection_ids)),
            "pinned": pinned,
        }
        async with self._database.connection() as connection:
            changed = await row_of(connection, Session, CHANGE_SESSION, row)
        if changed is None:
            raise unknown_session(session_id)
        return changed

    async def auto_title(self, identity: Identity, session_id: str) -> str:
        """Title a session after its first question, even while that is being answered, and return its title.

        The model that answers the question makes it. A session that has a title keeps it, and one without a question
        stays untitled. Raises NotFound.
        """
        row = {**await self._owner(identity), "session_id": session_id}
        async with self._database.connection() as connection:
            session = await own_session(connection, row)
            question = await (await connection.execute(FIRST_QUESTION, [session_id])).fetchone()
        if session.title != DEFAULT_TITLE or question is None:
            return session.title
        async with nullcontext() if self._spending is None else self._spending.beside_runs(identity, "title"):
            title, _ = await best_title(self._titler(question[1]), question[0])
        async with self._database.connection() as connection:
            await connection.execute(SET_WHERE_UNTITLED, {**row, "title": title})
            return (await own_session(connection, row)).title

    def _titler(self, model: str) -> Titler | None:
        if self._families is None:
            return None
        try:
            return self._families(model).titler
        except UnknownModel:  # it was configured when the question was asked
            return self._families("").titler

    async def delete(self, identity: Identity, session_id: str) -> None:
        """Delete a session with its checkpoints, messages, runs and marked passages, in one transaction.

        Raises NotFound, and SessionBusy while one of its runs is in progress.
        """
        row = {**await self._owner(identity), "session_id": session_id}
        async with self._database.connection() as connection, connection.transaction():
            if await (await connection.execute(LOCK_SESSION, row)).fetchone() is None:
                raise unknown_session(session_id)
            if await (await connection.execute(HAS_ACTIVE_RUN, row)).fetchone() is not None:
                raise SessionBusy("The session is answering a question.")
            await delete_selections(connection, [session_id])
            await delete_threads(connection, [session_id])
            messages = await (await connection.execute(_MESSAGE_IDS, row)).fetchall()
            await connection.execute("DELETE FROM sessions WHERE session_id = %(session_id)s", row)
        self._messages.recent.forget(message_id for (message_id,) in messages)

    async def run(self, identity: Identity, run_id: str) -> RunStatus:
        """Return the status of a run, whichever process executes it. Raises NotFound."""
        row = {**await self._owner(identity), "run_id": run_id}
        async with self._database.connection() as connection:
            found = await row_of(connection, RunStatus, _ONE_RUN, row)
        if found is None:
            raise NotFound(f"There is no run {run_id}.")
        return found

    async def list_runs(
        self,
        identity: Identity,
        *,
        session_id: str | None = None,
        status: RunState | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> RunPage:
        """List runs of one session or of all, with one status or any, newest first, ``limit`` per page.

        Raises NotFound if the session is not the identity's, InvalidRequest for a cursor that does not come from this
        method.
        """
        before, after_id = decode_cursor(cursor)
        row = {
            **await self._owner(identity),
            "session_id": session_id,
            "status": status,
            "before": before,
            "after_id": after_id,
            "limit": limit + 1,
        }
        async with self._database.connection() as connection:
            if session_id is not None:
                await own_session(connection, row)
            # Not prepared: a generic plan would read every run of the user.
            found = await rows_of(connection, RunStatus, _LIST_RUNS, row, prepare=False)
        shown = found[:limit]
        return RunPage(shown, encode_cursor(shown[-1].created_at, shown[-1].run_id) if len(found) > limit else None)

    async def _owner(self, identity: Identity) -> dict[str, Any]:
        return {"workspace": await self._workspaces.number(identity.workspace), "user": identity.user}


def _documents(found: Sequence[tuple[BranchMessage, KnownMessage]]) -> set[str]:
    return {document_id for _, known in found for document_id in known.documents}


async def _opened(connection: Connection, row: dict[str, Any]) -> tuple[Session, bool]:
    """Return one's own session, and whether a question in it is still being answered. Raises NotFound."""

    def opened(*, answers: bool, **fields: Any) -> tuple[Session, bool]:
        return Session(**fields), answers

    async with connection.cursor(row_factory=kwargs_row(opened)) as rows:
        found = await (await rows.execute(OPEN_SESSION, row)).fetchone()
    if found is None:
        raise unknown_session(row["session_id"])
    return found
