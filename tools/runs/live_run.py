"""A run that this process answers, with an event log that any number of readers follow at their own pace.

A run outlives its readers, since a graph that is iterated inside a response goes on running after its reader has left;
so events go to its log, not to a response. Readers are given an event only after its row is committed.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from langgraph.runtime import RunControl
from pydantic_core import to_json

from answers.standing import written_sections
from graph.errors import CitewellError
from graph.events import (
    TERMINAL,
    AnyEvent,
    Envelope,
    RunFailed,
    RunFinished,
    RunStarted,
    TextDelta,
    ThinkingDelta,
    payload,
    timestamp,
)
from graph.evidence import FamilyName, Section, Spent, StopReason
from tools.runs.run_request import RunReader, RunRequest, Superseded
from tools.runs.tasks import cancel_and_wait

DELTAS = (TextDelta, ThinkingDelta)


@dataclass(slots=True)
class LogLine:
    """An event with its place in the log, written out. A delta that waits grows by those that follow it."""

    _envelope: Envelope
    _more: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, envelope: Envelope) -> "LogLine":
        """Write an event out. Raises PydanticSerializationError where it holds what no JSON can, as lone surrogates."""
        return cls(_serialised(envelope))

    def takes(self, event: AnyEvent) -> bool:
        """Take a delta in that goes on with this one; False where it is no such delta. Raises as ``of`` does."""
        match self._envelope.event, event:
            case TextDelta() as before, TextDelta() if before.section_index == event.section_index:
                pass
            case ThinkingDelta(), ThinkingDelta():
                pass
            case _:
                return False
        to_json(event.delta)  # refused here and not later, in the company of deltas that are well
        self._more.append(event.delta)
        return True

    @property
    def envelope(self) -> Envelope:
        if self._more and isinstance(event := self._envelope.event, DELTAS):
            longer = replace(event, delta=event.delta + "".join(self._more))
            self._more.clear()
            self._envelope = _serialised(replace(self._envelope, event=longer))
        return self._envelope

    @property
    def text(self) -> str:
        return self.envelope.text


def _serialised(envelope: Envelope) -> Envelope:
    return replace(envelope, text=to_json(payload(envelope)).decode())


class EventSink(Protocol):
    """Whatever commits the events of runs."""

    def due(self, run: "Run", event: AnyEvent | None = None) -> None:
        """Take note that a run has told an event, or with None that all it has told is wanted now."""
        ...


@dataclass(slots=True, eq=False)
class Run:
    """A run that this process answers. Without a journal its events are readers' at once."""

    run_id: str
    session_id: str
    message_id: str
    request: RunRequest
    family: FamilyName
    model: str
    journal: EventSink | None = None
    attempt: int = 1
    last_seq: int = 0  # of the events told, those of earlier attempts among them
    begins_at: int = 1  # the first event that this process told; those before it are read from the stored log
    before: tuple[AnyEvent, ...] = ()  # of those, the ones by which the run stands where it does
    fork_checkpoint: str | None = None  # to fork from; empty to start from nothing, None to go on from the last
    begun: bool = True  # False while it waits for its turn
    place: int = 0  # in the line, as it was last told
    ending: bool = False  # its terminal event is being written, and nothing may be told any more
    task: asyncio.Task[None] | None = None
    control: RunControl = field(default_factory=RunControl)
    watchers: int = 0
    stop_reason: StopReason = "server_stopped"
    spent: dict[str, Spent] = field(default_factory=dict)  # by the steps that are behind it
    beside: dict[str, Spent] = field(default_factory=dict)  # what was done beside the steps
    elsewhere: RunReader | None = None  # set when the run is no longer this process's
    left: CitewellError | None = None  # set when this process leaves it to whoever comes next
    failure: CitewellError | None = None  # why its events can't be told
    _log: list[Envelope] = field(default_factory=list)
    _pending: list[LogLine] = field(default_factory=list)
    _taken: list[LogLine] = field(default_factory=list)
    _grown: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, event: AnyEvent) -> None:
        """Append an event to the log; readers have it once it is committed. Deltas that wait become one.

        Raises PydanticSerializationError where the event can't be written out; the log is then as it was.
        """
        if self.ending or (self._pending and self._pending[-1].takes(event)):
            return
        line = self.next_line(event)
        self._pending.append(line)
        if self.journal is None:
            self.publish(self.take())
        else:
            self.journal.due(self, event)

    def next_line(self, event: AnyEvent) -> LogLine:
        """Give an event the next place in the log."""
        at = timestamp(datetime.now(UTC))
        line = LogLine.of(Envelope(self.run_id, self.session_id, self.last_seq + 1, at, event))
        self.last_seq += 1
        return line

    def take(self) -> list[LogLine]:
        """Give the events that are to be committed now, those taken before and not yet published among them."""
        self._taken += self._pending
        self._pending = []
        return list(self._taken)

    def publish(self, lines: Sequence[LogLine]) -> None:
        """Hand committed events to the readers."""
        committed = {line.envelope.seq for line in lines}
        self._taken = [line for line in self._taken if line.envelope.seq not in committed]
        self._log += [line.envelope for line in lines]
        self._wake()

    async def committed(self) -> None:
        """Wait until all that was told before now is committed.

        Raises Superseded where another process has the run, another CitewellError where that can't be.
        """
        upto = self.last_seq
        while self._waiting_from <= upto and not (self.failure or self.elsewhere or self.left):
            grown = self._grown
            if self.journal is not None:
                self.journal.due(self)
            await grown.wait()
        if self.elsewhere is not None:
            raise Superseded("Another process has taken this run over.")
        if (why := self.left or self.failure) is not None:
            raise why

    @property
    def _waiting_from(self) -> int:
        return self.last_seq - len(self._taken) - len(self._pending) + 1

    def drop_uncommitted(self) -> None:
        """Forget what was told and could not be committed, so that the log goes on without a gap."""
        self.last_seq = self._waiting_from - 1
        self._taken, self._pending = [], []

    def lose(self, failure: CitewellError) -> None:
        """Give up on telling: readers get the failure, and the run stops."""
        self.failure = failure
        self._stop()

    def leave(self, why: CitewellError) -> None:
        """Stop here without an end, since the process ends; readers are told why and may join the run elsewhere."""
        self.left = why
        self._stop()

    def hand_over(self, elsewhere: RunReader) -> None:
        """Leave the run to another process: readers go on reading it from the stored log, and it stops here."""
        self.elsewhere = elsewhere
        self._stop()

    async def events(self, after: int = 0) -> AsyncGenerator[Envelope, None]:
        """Follow the log from behind sequence number ``after`` to its terminal event."""
        while True:
            grown = self._grown
            for envelope in self._behind(after):
                after = envelope.seq
                yield envelope
                if isinstance(envelope.event, TERMINAL):
                    return
            if self.has_ended and self._log[-1].seq <= after:
                return
            if self.elsewhere is not None:
                async with aclosing(self.elsewhere.events(after)) as events:
                    async for envelope in events:
                        yield envelope
                return
            if (why := self.left or self.failure) is not None:
                raise why
            await grown.wait()

    def _behind(self, after: int) -> list[Envelope]:
        return self._log[max(0, after - self.begins_at + 1) :]

    async def finished(self) -> RunFinished | RunFailed:
        """Wait for the run's end."""
        async for envelope in self.events(after=max(0, self.last_seq - 1)):
            if isinstance(envelope.event, RunFinished | RunFailed):
                return envelope.event
        raise AssertionError("a log ends with its terminal event")

    async def is_over(self, after: int) -> bool:
        """Tell whether a reader that has had event ``after`` has had the terminal one."""
        if self.elsewhere is not None:
            return await self.elsewhere.is_over(after)
        return self.has_ended and self._log[-1].seq <= after

    async def cancel(self, reason: StopReason) -> None:
        """Stop the run where it stands and wait until that is recorded; a run that has ended stays as it is."""
        if self.task is not None and not self.task.done():
            self.stop_reason = reason
            await self.stopped()
        if self.elsewhere is not None:
            await self.elsewhere.cancel(reason)

    async def stopped(self) -> None:
        """Cancel the run's task until it is done."""
        if self.task is not None:
            await cancel_and_wait(self.task)

    @property
    def has_ended(self) -> bool:
        """Whether the terminal event has been told."""
        return bool(self._log) and isinstance(self._log[-1].event, TERMINAL)

    @property
    def sections(self) -> list[Section]:
        """The sections finished so far: a revised one in its last form, a withdrawn one left out."""
        return written_sections(self._told)

    @property
    def has_started(self) -> bool:
        """Whether its readers were told that it has begun, be it in an earlier attempt."""
        return any(isinstance(event, RunStarted) for event in self._told)

    @property
    def _told(self) -> list[AnyEvent]:
        waiting = [line.envelope for line in [*self._taken, *self._pending]]
        return [*self.before, *(envelope.event for envelope in [*self._log, *waiting])]

    def _stop(self) -> None:
        self._wake()
        if self.task is not None and not self.task.done() and self.task is not asyncio.current_task():
            self.task.cancel()

    def _wake(self) -> None:
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()
