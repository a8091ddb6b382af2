"""The request that a run answers, and the protocol for reading a run from any process."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Protocol
from uuid import UUID, uuid5

from pydantic import TypeAdapter

from graph.context import Context
from graph.errors import CitewellError
from graph.events import Envelope
from graph.evidence import StopReason, WhileRunning
from graph.rows import Turn


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A question to a session, with its context.

    ``history`` replaces the turns that the session remembers; None keeps them. ``edit`` is the id of a question of the
    session that this one replaces, ``regenerate`` that of an answer to generate again (its question is then asked
    again): either starts a branch from the session's state before that question. ``once`` asks nothing while the
    session has an unfinished run of the same question that was asked so, too.
    """

    question: str
    context: Context
    page_ids: tuple[str, ...] = ()
    selected_text: str = ""
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
    def message_id(self) -> str:
        """The id of the answer to come."""
        ...

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
