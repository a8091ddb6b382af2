"""The request that a run answers, and the protocol by which a run is read from any process."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID, uuid5

from pydantic import TypeAdapter

from graph.context import Context
from graph.errors import CitewellError
from graph.events import Envelope
from graph.evidence import StopReason, WhileRunning
from graph.state import Turn


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One question as a session is asked it.

    ``history`` takes the place of what the session remembers; None leaves it. ``edit`` names a question of the session
    that this one replaces, ``regenerate`` an answer to be given anew (its own question is then asked again): either
    goes on from where the session stood before, as a branch of it.
    """

    question: str
    context: Context
    page_ids: tuple[str, ...] = ()
    selected_text: str = ""
    history: tuple[Turn, ...] | None = None
    while_running: WhileRunning = "reject"
    edit: str | None = None
    regenerate: str | None = None


_REQUEST = TypeAdapter(RunRequest)


def request_to_json(request: RunRequest) -> dict[str, Any]:
    """Lay out a request as the ledger keeps it."""
    laid_out: dict[str, Any] = _REQUEST.dump_python(request, mode="json")
    return laid_out


def request_from_json(stored: dict[str, Any]) -> RunRequest:
    """Read a request as the ledger has it, be it of another release: what it lacks has its default."""
    return _REQUEST.validate_python({"context": {}, **stored})


def question_id(message_id: str) -> str:
    """Give the id of the question that an answer's run was asked, known before either is stored."""
    return str(uuid5(UUID(message_id), "question"))


class Superseded(CitewellError):
    """Another process has taken the run over; what this one has to say of it no longer counts."""


class RunReader(Protocol):
    """A run as its readers see it, whichever process answers it."""

    watchers: int  # streams of this process that tell it

    @property
    def run_id(self) -> str: ...

    @property
    def session_id(self) -> str: ...

    @property
    def message_id(self) -> str:
        """The id of the answer to come."""
        ...

    def events(self, after: int = 0) -> AsyncGenerator[Envelope, None]:
        """Follow the log from behind sequence number ``after`` to its terminal event.

        Raises DatabaseUnavailable where the log can't be read, or could not be written, NotFound where the run is
        deleted.
        """
        ...

    async def is_over(self, after: int) -> bool:
        """Tell whether a reader that has had event ``after`` has had the terminal one."""
        ...

    async def cancel(self, reason: StopReason) -> None:
        """Stop the run where it stands and wait until that is recorded; a run that has ended stays as it is."""
        ...
