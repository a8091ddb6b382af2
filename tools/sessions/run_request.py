"""The request that a run answers, where it continues its session, and the protocol for reading a run from any process.

A run continues at the end of its session, or at an edited or regenerated message.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Protocol
from uuid import UUID, uuid5

from pydantic import TypeAdapter

from graph.context import Context
from graph.errors import CitewellError, InvalidRequest, NotFound
from graph.events import Envelope
from graph.evidence import Identity, StopReason, WhileRunning
from graph.rows import Turn
from tools.storage.database import Connection, value_of


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A question to a session, with its context.

    ``collected`` are the documents of its collections, to be read beside those of ``page_ids``.
    ``history`` replaces the turns that the session remembers; None keeps them. ``edit`` is the id of a question of the
    session that this one replaces, ``regenerate`` that of an answer to generate again (its question is then asked
    again): either starts a branch from the session's state before that question. ``once`` asks nothing while the
    session has an unfinished run of the same question that was asked so, too.
    """

    question: str
    context: Context
    page_ids: tuple[str, ...] = ()
    selected_text: str = ""
    collection_ids: tuple[str, ...] = ()
    collected: tuple[str, ...] = ()
    history: tuple[Turn, ...] | None = None
    while_running: WhileRunning = "reject"
    edit: str | None = None
    regenerate: str | None = None
    once: bool = False

    @property
    def names_no_message(self) -> bool:
        """Whether it goes on at the end of its session."""
        return self.edit is None and self.regenerate is None


@cache
def _stored_request() -> TypeAdapter[RunRequest]:
    return TypeAdapter(RunRequest)


def request_to_json(request: RunRequest) -> dict[str, Any]:
    """Return a request as the JSON object that the ledger stores."""
    return asdict(request)


def request_from_json(stored: dict[str, Any]) -> RunRequest:
    """Parse a stored request; fields that another release did not write get their defaults."""
    return _stored_request().validate_python({"context": {}, **stored})


def question_id(message_id: str) -> str:
    """Return the id of the question that belongs to an answer, known before either is stored."""
    return str(uuid5(UUID(message_id), "question"))


class AlreadyAsked(CitewellError):
    """The question is being answered already, by the run ``run_id`` of the session."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"The run {run_id} answers this question.")
        self.run_id = run_id


class Superseded(CitewellError):
    """Another process has taken the run over; what this one writes about it no longer counts."""


class RunReader(Protocol):
    """A run as readers see it, whichever process answers it."""

    watchers: int  # its readers in this process
    abandoned: bool  # whether its last reader has left it
    cancel_when_unread: bool  # whether it is to be cancelled once nobody reads it

    @property
    def run_id(self) -> str: ...

    @property
    def session_id(self) -> str: ...

    @property
    def message_id(self) -> str: ...

    def events(self, after: int = 0) -> AsyncGenerator[Envelope, None]:
        """Yield what ``batches`` yields, one by one."""
        ...

    def batches(self, after: int = 0) -> AsyncGenerator[Sequence[Envelope], None]:
        """Yield the events after sequence number ``after``, those that came together at once, up to the terminal event.

        No batch is empty. Raises DatabaseUnavailable where the log can't be read or could not be written, NotFound
        where the run was deleted.
        """
        ...

    async def is_over(self, after: int) -> bool:
        """Whether a reader that has received event ``after`` has received the terminal event."""
        ...

    async def cancel(self, reason: StopReason) -> None:
        """Cancel the run and wait until its end is recorded; a run that has ended is unchanged."""
        ...


def question_body(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a question of a stored request: its pages, and its passage and collections if any."""
    rest = {name: asked[name] for name in ("selected_text", "collection_ids", "collected") if asked.get(name)}
    return {"page_ids": list(asked.get("page_ids", ())), **rest}


_MESSAGE = """
SELECT role, content, body, parent_message_id::text
FROM messages JOIN sessions USING (session_id) JOIN workspaces ON number = workspace
WHERE session_id = %(session_id)s AND message_id = %(message_id)s AND name = %(workspace)s AND "user" = %(user)s
"""
# The newest message, unless the thread's last checkpoint belongs to it, so that the next run just goes on: a failed
# fork leaves newer checkpoints, which hold the memory of another branch. While a run is in progress, the next run
# continues from the checkpoints of that run.
APART = """
SELECT message_id::text FROM (
    SELECT message_id, role, checkpoint_id FROM messages
    WHERE session_id = %(session_id)s::uuid
      AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session_id = %(session_id)s::uuid AND status <> 'finished')
    ORDER BY created_at DESC, message_id DESC LIMIT 1
) AS newest
WHERE (role = 'assistant' AND checkpoint_id = (
    SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = %(session_id)s::text AND checkpoint_ns = ''
)) IS NOT TRUE
"""
# Skips questions that were never answered: they are not part of the session's memory.
_LAST_ANSWER = """
WITH RECURSIVE branch AS (
    SELECT parent_message_id, role, checkpoint_id FROM messages
    WHERE session_id = %(session_id)s AND message_id = %(message_id)s
    UNION ALL
    SELECT messages.parent_message_id, messages.role, messages.checkpoint_id FROM branch
    JOIN messages ON messages.message_id = branch.parent_message_id
    WHERE branch.role <> 'assistant' OR branch.checkpoint_id IS NULL
)
SELECT checkpoint_id FROM branch WHERE role = 'assistant' AND checkpoint_id IS NOT NULL
"""
EMPTY_MEMORY = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """A request with the question that it asks, and where in its session its run continues.

    ``fork_checkpoint`` is the checkpoint to continue from: "" for an empty memory, None for the thread's last one,
    after the session's last message. If it is not None, ``parent_message_id`` is the parent of the run's first message;
    None then starts a new branch at the root.
    """

    request: RunRequest
    parent_message_id: str | None = None
    fork_checkpoint: str | None = None


async def resolve_fork(connection: Connection, session_id: str, request: RunRequest) -> Fork:
    """Return where a request continues in its session.

    ``regenerate`` names an answer, or a question without an answer: the question is asked again with its original pages
    and passage. ``edit`` names a question, which the new one replaces.
    Raises NotFound for a message that is not in the identity's session, InvalidRequest for one of the wrong kind.
    """
    if request.edit is not None and request.regenerate is not None:
        raise InvalidRequest("edit: a request can either edit a question or regenerate an answer, not both.")
    if request.regenerate is not None:
        return await _regenerated(connection, session_id, request)
    if request.edit is not None:
        edited = await _message(connection, session_id, request.edit, "edit", request.context.identity)
        if edited["role"] != "user":
            raise InvalidRequest("edit: it must name a question, not an answer.")
        return await _behind(connection, session_id, edited["parent_message_id"], request)
    newest = await (await connection.execute(APART, {"session_id": session_id})).fetchone()
    return Fork(request) if newest is None else await _behind(connection, session_id, newest[0], request)


async def _behind(connection: Connection, session_id: str, message_id: str | None, request: RunRequest) -> Fork:
    return Fork(request, message_id, await _memory_at(connection, session_id, message_id))


async def _regenerated(connection: Connection, session_id: str, request: RunRequest) -> Fork:
    asked, identity = str(request.regenerate), request.context.identity
    message = await _message(connection, session_id, asked, "regenerate", identity)
    if message["role"] == "assistant":
        asked = message["parent_message_id"]
        message = await _message(connection, session_id, asked, "regenerate", identity)
    body: dict[str, Any] = message["body"]
    again = replace(
        request,
        question=message["content"],
        page_ids=tuple(body.get("page_ids", ())),
        selected_text=body.get("selected_text", ""),
        collection_ids=tuple(body.get("collection_ids", ())),
        collected=tuple(body.get("collected", ())),
    )
    return Fork(again, asked, await _memory_at(connection, session_id, message["parent_message_id"]))


async def _memory_at(connection: Connection, session_id: str, message_id: str | None) -> str:
    values = {"session_id": session_id, "message_id": message_id}
    return str(await value_of(connection, _LAST_ANSWER, values) or EMPTY_MEMORY)


async def _message(
    connection: Connection, session_id: str, message_id: str, field: str, identity: Identity
) -> dict[str, Any]:
    unknown = NotFound(f"{field}: there is no message {message_id} in the session.")
    try:
        values = {"session_id": session_id, "message_id": UUID(message_id), **asdict(identity)}
    except ValueError:
        raise unknown from None
    found = await (await connection.execute(_MESSAGE, values)).fetchone()
    if found is None:
        raise unknown
    return dict(zip(("role", "content", "body", "parent_message_id"), found, strict=True))
