"""A run: one question being answered, with a log that any number of readers follow at their own pace.

A run outlives whoever reads it, since a graph that is iterated inside a response goes on running after its reader has
left; so its log, not a response, is where its events go.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from graph.context import Context
from graph.events import TERMINAL, AnyEvent, Envelope, RunFailed, RunFinished, SectionFinished, SectionRevised
from graph.evidence import FamilyName, Section, Spent, StopReason, WhileRunning
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


class RunReader(Protocol):
    """A run as its readers see it, whichever process answers it."""

    @property
    def run_id(self) -> str: ...

    @property
    def session_id(self) -> str: ...

    @property
    def message_id(self) -> str:
        """The id of the answer to come."""
        ...

    def events(self, after: int = 0) -> AsyncGenerator[Envelope, None]:
        """Follow the log from behind sequence number ``after`` to its terminal event."""
        ...

    async def cancel(self, reason: StopReason) -> None:
        """Stop the run where it stands and wait until that is recorded; a run that has ended stays as it is."""
        ...


@dataclass(slots=True, eq=False)
class Run:
    """A run and its log so far."""

    run_id: str
    session_id: str
    message_id: str
    request: RunRequest
    family: FamilyName
    model: str
    _log: list[Envelope] = field(default_factory=list)
    _grown: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    stop_reason: StopReason = "server_stopped"
    spent: dict[str, Spent] = field(default_factory=dict)  # by the steps that are behind it

    def tell(self, event: AnyEvent) -> None:
        """Append an event to the log and wake the readers."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._log.append(Envelope(self.run_id, self.session_id, len(self._log) + 1, at, event))
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()

    async def events(self, after: int = 0) -> AsyncGenerator[Envelope, None]:
        """Follow the log from behind sequence number ``after`` to its terminal event."""
        while True:
            grown = self._grown
            while after < len(self._log):
                envelope = self._log[after]
                after += 1
                yield envelope
                if isinstance(envelope.event, TERMINAL):
                    return
            await grown.wait()

    async def finished(self) -> RunFinished | RunFailed:
        """Wait for the run's end."""
        async for envelope in self.events(after=max(0, len(self._log) - 1)):
            if isinstance(envelope.event, RunFinished | RunFailed):
                return envelope.event
        raise AssertionError("a log ends with its terminal event")

    async def cancel(self, reason: StopReason) -> None:
        """Stop the run where it stands and wait until that is recorded; a run that has ended stays as it is."""
        if self.task is not None and not self.task.done():
            self.stop_reason = reason
            self.task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.shield(self.task)

    @property
    def sections(self) -> list[Section]:
        """The sections finished so far, as they stand: a revised one in its last form, a withdrawn one left out."""
        told = (envelope.event for envelope in self._log)
        standing = {
            event.section_index: Section(text=event.text, source_ids=event.source_ids)
            for event in told
            if isinstance(event, SectionFinished | SectionRevised)
        }
        return [section for section in standing.values() if section["text"]]
