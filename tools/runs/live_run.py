"""A run that this process answers, with an event log that any number of readers follow at their own pace.

A run outlives its readers, since a graph that is iterated inside a response continues after its reader has left; so
events go to the log, not to a response. Readers receive an event only after its row is committed.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

from langgraph.runtime import RunControl
from pydantic_core import to_json

from answers.standing import RunView, view_run
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
from graph.evidence import Failure, FamilyName, Spent, StopReason
from tools.concurrency.tasks import cancel_and_wait
from tools.sessions.run_request import RunReader, RunRequest, Superseded
from tools.spending.accounts import RunAccount
from tools.telemetry.metrics import RunMetrics

DELTAS = (TextDelta, ThinkingDelta)
MOST_AT_ONCE = 100  # events of a batch, which a reader that joins late and reads slowly must accept in its time


@dataclass(slots=True)
class LogLine:
    """A serialised event with its sequence number; a pending delta absorbs the deltas that follow it."""

    _envelope: Envelope
    _more_deltas: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, envelope: Envelope) -> "LogLine":
        """Serialise an event. Raises PydanticSerializationError where JSON can't hold it, as lone surrogates."""
        return cls(_serialised(envelope))

    def absorb(self, event: AnyEvent) -> bool:
        """Append a delta that continues this one; False where the event is not one. Raises as ``of`` does."""
        match self._envelope.event, event:
            case TextDelta() as before, TextDelta() if before.section_index == event.section_index:
                pass
            case ThinkingDelta(), ThinkingDelta():
                pass
            case _:
                return False
        to_json(event.delta)  # raised here and not later, when it would be merged with valid deltas
        self._more_deltas.append(event.delta)
        return True

    @property
    def envelope(self) -> Envelope:
        if self._more_deltas and isinstance(event := self._envelope.event, DELTAS):
            longer = replace(event, delta=event.delta + "".join(self._more_deltas))
            self._more_deltas.clear()
            self._envelope = _serialised(replace(self._envelope, event=longer))
        return self._envelope

    @property
    def text(self) -> str:
        return self.envelope.text


def _serialised(envelope: Envelope) -> Envelope:
    text = to_json(payload(envelope)).decode()
    return Envelope(envelope.run_id, envelope.session_id, envelope.seq, envelope.at, envelope.event, text)


class Writer(Protocol):
    """What commits the events of runs; see ``EventWriter``."""

    def notify(self, run: "Run", event: AnyEvent | None = None) -> None: ...

    def forget(self, run: "Run") -> None: ...


@dataclass(slots=True, eq=False)
class Run:
    """A run that this process answers; without a writer its events are published at once."""

    run_id: str
    session_id: str
    message_id: str
    request: RunRequest
    family: FamilyName
    model: str
    writer: Writer | None = None
    fallback: Failure | None = None  # what of the request its family does not fulfil
    attempt: int = 1
    last_seq: int = 0  # of the emitted events, including those of earlier attempts
    begins_at: int = 1  # the first event that this process emits; earlier ones are in the stored log
    before: tuple[AnyEvent, ...] = ()  # of those earlier events, the ones that its current state follows from
    fork_checkpoint: str | None = None  # to fork from; empty to start afresh, None to continue from the last
    remembers: bool = True  # False where its session had no checkpoint when it began
    begun: bool = True  # False while it waits for its turn
    queue_position: int = 0  # in the line, as last emitted
    ending: bool = False  # its terminal event is being written, and nothing more may be emitted
    task: asyncio.Task[None] | None = None
    control: RunControl = field(default_factory=RunControl)
    watchers: int = 0
    abandoned: bool = False  # whether its last reader has left it
    cancel_when_unread: bool = False  # since a later question of its session waits
    stop_reason: StopReason = "server_stopped"
    spent: dict[str, Spent] = field(default_factory=dict)  # by finished steps
    checkpoints: int = 0  # that this process has saved of it
    side_usage: dict[str, Spent] = field(default_factory=dict)  # usage outside the steps
    account: RunAccount | None = None  # what it is charged to
    elsewhere: RunReader | None = None  # set when the run is no longer this process's
    left: CitewellError | None = None  # set when this process leaves it to another
    failure: CitewellError | None = None  # why its events can't be committed
    metrics: RunMetrics = field(default_factory=RunMetrics)
    _log: list[Envelope] = field(default_factory=list)  # what was published
    _pending: list[LogLine] = field(default_factory=list)
    _taken: list[LogLine] = field(default_factory=list)
    _grown: asyncio.Event = field(default_factory=asyncio.Event)

    def emit(self, event: AnyEvent) -> None:
        """Append an event to the log; readers receive it once it is committed. Pending deltas are merged.

        Raises PydanticSerializationError where the event can't be serialised; the log is then unchanged.
        """
        if self.ending or (self._pending and self._pending[-1].absorb(event)):
            return
        line = self.next_line(event)
        self._pending.append(line)
        if self.writer is None:
            self.publish(self.take())
        else:
            self.writer.notify(self, event)

    def next_line(self, event: AnyEvent) -> LogLine:
        """Return an event as a log line with the next sequence number."""
        at = timestamp(datetime.now(UTC))
        line = LogLine.of(Envelope(self.run_id, self.session_id, self.last_seq + 1, at, event))
        self.last_seq += 1
        return line

    def take(self) -> list[LogLine]:
        """Return the lines to commit now, including those taken before and not yet published."""
        self._taken += self._pending
        self._pending = []
        return list(self._taken)

    def publish(self, lines: Sequence[LogLine]) -> None:
        committed = {line.envelope.seq for line in lines}
        self._taken = [line for line in self._taken if line.envelope.seq not in committed]
        self._pending = [line for line in self._pending if line.envelope.seq not in committed]
        self._log += [line.envelope for line in lines]
        for line in lines:
            self.metrics.feed(line.envelope.event)
        self._wake()

    async def committed(self) -> None:
        """Wait until all events emitted so far are committed.

        Raises Superseded where another process has the run, another CitewellError where they can't be committed.
        """
        upto = self.last_seq
        while self._waiting_from <= upto and not (self.failure or self.elsewhere or self.left):
            grown = self._grown
            if self.writer is not None:
                self.writer.notify(self)
            await grown.wait()
        self._raise_if_lost()

    async def withdraw(self) -> list[LogLine]:
        """Return the lines that are yet to be committed: who ends the run commits them with its end.

        Those that are being committed are waited for. Raises as ``committed`` does.
        """
        if self.writer is not None:
            self.writer.forget(self)
        while self._taken and not (self.failure or self.elsewhere or self.left):
            await self._grown.wait()
        self._raise_if_lost()
        return list(self._pending)

    def _raise_if_lost(self) -> None:
        if self.elsewhere is not None:
            raise Superseded("Another process has taken this run over.")
        if (why := self.left or self.failure) is not None:
            raise why

    @property
    def _waiting_from(self) -> int:
        return self.last_seq - len(self._taken) - len(self._pending) + 1

    def drop_uncommitted(self) -> None:
        """Drop the events that could not be committed, so that the log continues without a gap."""
        self.last_seq = self._waiting_from - 1
        self._taken, self._pending = [], []

    def fail_log(self, failure: CitewellError) -> None:
        """Stop the run because its events can't be committed; readers get the failure."""
        self.failure = failure
        self._stop()

    def leave(self, why: CitewellError) -> None:
        """Stop without a terminal event, since the process stops; readers get the error and may rejoin elsewhere."""
        self.left = why
        self._stop()

    def hand_over(self, elsewhere: RunReader) -> None:
        """Stop the run here and leave it to another process; readers continue from the stored log."""
        self.elsewhere = elsewhere
        self._stop()

    async def events(self, after: int = 0) -> AsyncGenerator[Envelope, None]:
        """Yield the events after sequence number ``after``, as they are committed, up to the terminal event."""
        async with aclosing(self.batches(after)) as batches:
            async for batch in batches:
                for envelope in batch:
                    yield envelope

    async def batches(self, after: int = 0) -> AsyncGenerator[Sequence[Envelope], None]:
        """Yield the events after sequence number ``after``, those that were committed meanwhile at once."""
        while True:
            grown = self._grown
            first = max(0, after - self.begins_at + 1)
            if new := self._log[first : first + MOST_AT_ONCE]:
                after = new[-1].seq
                yield new
                continue
            if self._is_read(after):
                return
            if self.elsewhere is not None:
                async with aclosing(self.elsewhere.batches(after)) as others:
                    async for each in others:
                        yield each
                return
            if (why := self.left or self.failure) is not None:
                raise why
            await grown.wait()

    def _is_read(self, after: int) -> bool:
        return self.has_ended and self._log[-1].seq <= after

    async def finished(self) -> RunFinished | RunFailed:
        async for envelope in self.events(after=max(0, self.last_seq - 1)):
            if isinstance(envelope.event, TERMINAL):
                return envelope.event
        raise AssertionError("a log ends with its terminal event")

    async def is_over(self, after: int) -> bool:
        """Whether a reader that has received event ``after`` has received the terminal event."""
        if self.elsewhere is not None:
            return await self.elsewhere.is_over(after)
        return self._is_read(after)

    async def cancel(self, reason: StopReason) -> None:
        """Cancel the run and wait until its end is recorded; a run that has ended is unchanged."""
        if self.has_ended:
            return
        if self.task is not None and not self.task.done():
            self.stop_reason = reason
            await self.stopped()
        if self.elsewhere is not None:
            await self.elsewhere.cancel(reason)

    async def stopped(self) -> None:
        if self.task is not None:
            await cancel_and_wait(self.task)

    @property
    def end(self) -> RunFinished | RunFailed | None:
        """The terminal event, None until it has been published."""
        last = self._log[-1].event if self._log else None
        return last if isinstance(last, TERMINAL) else None

    @property
    def has_ended(self) -> bool:
        return self.end is not None

    @property
    def view(self) -> RunView:
        """The state after the events emitted so far, in this and in earlier attempts."""
        return view_run(self._emitted)

    @property
    def has_started(self) -> bool:
        """Whether its start event was emitted, in this or an earlier attempt."""
        return any(isinstance(event, RunStarted) for event in self._emitted)

    @property
    def _emitted(self) -> list[AnyEvent]:
        waiting = [line.envelope for line in [*self._taken, *self._pending]]
        return [*self.before, *(envelope.event for envelope in [*self._log, *waiting])]

    def _stop(self) -> None:
        self._wake()
        if self.task is not None and not self.task.done() and self.task is not asyncio.current_task():
            self.task.cancel()

    def _wake(self) -> None:
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()


def new_run_id() -> str:
    """Return the id of a run made now: a UUID of version 7, milliseconds and 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    return str(UUID(int=milliseconds << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)))
