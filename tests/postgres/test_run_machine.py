"""Any order of questions, readers, cancels, pauses, takeovers and restarts: every run has one log, one end, one answer.

Two processes share a database. One that is paused goes on thinking, but nothing of it reaches the database until it is
woken, long after its leases are over: what comes then is too late, and must leave no trace.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck
from hypothesis import settings as how
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from graph.errors import CitewellError, NotFound, Overloaded, ServerStopping, SessionBusy
from graph.events import TERMINAL, Envelope, RunFinished, RunResumed, RunStarted, SectionStarted, TextDelta
from graph.evidence import Hit, StopReason, WhileRunning
from graph.ports import Draft
from graph.usage import Meter
from tests.fakes import ScriptedFamily, quote
from tests.postgres.processes import ME, Process, process
from tools.runs.notifications import ABANDONED, NOTIFY
from tools.sessions.run_request import RunReader
from tools.sessions.session_store import Sessions
from tools.settings import Settings
from tools.storage.tenants import Workspaces

EXAMPLES, STEPS = 15, 12
MOST_ATTEMPTS = 5
A_MOMENT = 0.05
PATIENCE = 20.0


@dataclass
class Gates(ScriptedFamily):
    """A family that all processes have: the writer of a held question waits between its sections."""

    held: dict[str, asyncio.Event] = field(default_factory=dict)

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Quote the first segment, wait, and quote it again."""
        for draft in quote(sources[0].segment.text, sources[0].segment.segment_id):
            yield draft
        if (gate := self.held.get(question)) is not None:
            await gate.wait()
        for draft in quote(sources[0].segment.text, sources[0].segment.segment_id):
            yield draft


class Pausable:
    """A process that can be cut off from the database, and let back."""

    def __init__(self, opened: Process) -> None:
        self.process = opened
        self.awake = asyncio.Event()
        self.awake.set()
        pool = opened.database.pool
        lend = pool.connection

        @asynccontextmanager
        async def connection(timeout: float | None = None) -> AsyncIterator[Any]:
            await self.awake.wait()
            async with lend(timeout) as lent:
                yield lent

        pool.connection = connection


@dataclass
class Reading:
    """What one reader of a run has heard from behind a place in its log, and what it was told at the end."""

    after: int
    heard: list[Envelope] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    async def follow(self, reader: RunReader) -> None:
        async for envelope in reader.events(self.after):
            self.heard.append(envelope)


@dataclass
class Asked:
    """A question that was taken on."""

    run_id: str
    session_id: str
    question: str
    readings: list[Reading] = field(default_factory=list)


class Runs(RuleBasedStateMachine):
    """What clients and processes may do, in any order."""

    settings: Settings
    sessions = Bundle("sessions")
    asked = Bundle("asked")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.all: dict[str, Asked] = {}
        self.beside: list[asyncio.Task[None]] = []
        self.family = Gates()
        self.count = 0

    def do(self, work: Any) -> Any:
        return self.loop.run(work)

    @initialize()
    def open(self) -> None:
        self.do(self._open())

    async def _open(self) -> None:
        self.stacks = [AsyncExitStack(), AsyncExitStack()]
        self.processes = [await self._opened(stack) for stack in self.stacks]

    async def _opened(self, stack: AsyncExitStack) -> Pausable:
        opened = Pausable(await stack.enter_async_context(process(self.settings, self.family)))
        opened.process.runner.take_over_abandoned()
        return opened

    @rule(target=sessions)
    def create_session(self) -> str:
        async def create() -> str:
            return await self._awake().process.session()

        return str(self.do(create()))

    @rule(
        target=asked,
        session_id=sessions,
        which=st.integers(0, 1),
        mode=st.sampled_from(["reject", "enqueue", "interrupt"]),
        held=st.booleans(),
    )
    def ask(self, session_id: str, which: int, mode: WhileRunning, held: bool) -> Asked | None:
        asked: Asked | None = self.do(self._ask(session_id, which, mode, held))
        return asked

    async def _ask(self, session_id: str, which: int, mode: WhileRunning, held: bool) -> Asked | None:
        if not self.processes[which].awake.is_set():
            return None
        self.count += 1
        question = f"annual number-{self.count}"
        if held:
            self.family.held[question] = asyncio.Event()
        try:
            run = await self.processes[which].process.ask(session_id, question, while_running=mode)
        except (SessionBusy, NotFound, Overloaded, ServerStopping):
            return None
        asked = Asked(run.run_id, session_id, question)
        self.all[run.run_id] = asked
        self._read(asked, run, 0)
        await asyncio.sleep(A_MOMENT)
        return asked

    def _read(self, asked: Asked, reader: RunReader, after: int) -> None:
        reading = Reading(after)
        reading.task = asyncio.create_task(reading.follow(reader))
        asked.readings.append(reading)

    @rule(asked=asked, which=st.integers(0, 1), share=st.floats(0, 1))
    def rejoin(self, asked: Asked | None, which: int, share: float) -> None:
        async def join() -> None:
            if asked is None or not self.processes[which].awake.is_set():
                return
            try:
                reader = await self.processes[which].process.runner.join(ME, asked.run_id)
            except NotFound:
                return
            self._read(asked, reader, int(share * len(asked.readings[0].heard)))
            await asyncio.sleep(A_MOMENT)

        self.do(join())

    @rule(asked=consumes(asked))
    def release(self, asked: Asked | None) -> None:
        async def release() -> None:
            if asked is not None and (gate := self.family.held.get(asked.question)) is not None:
                gate.set()
                await asyncio.sleep(A_MOMENT)

        self.do(release())

    @rule(asked=asked, which=st.integers(0, 1), reason=st.sampled_from(["cancel_requested", "client_disconnected"]))
    def cancel(self, asked: Asked | None, which: int, reason: StopReason) -> None:
        async def cancel() -> None:
            assert asked is not None
            with suppress(NotFound):
                await (await self.processes[which].process.runner.join(ME, asked.run_id)).cancel(reason)

        async def begin() -> None:
            if asked is not None:
                self.beside.append(asyncio.create_task(cancel()))
                await asyncio.sleep(A_MOMENT)

        self.do(begin())

    @precondition(lambda self: all(each.awake.is_set() for each in self.processes))
    @rule(which=st.integers(0, 1))
    def pause(self, which: int) -> None:
        self.do(self._pause(which))

    async def _pause(self, which: int) -> None:
        paused = self.processes[which]
        paused.awake.clear()
        owner = paused.process.runner._leases._owner
        other = self._awake().process
        await other.rows(
            "UPDATE runs SET lease_until = '-infinity' WHERE lease_owner = %s AND status <> 'finished' RETURNING 1",
            owner,
        )
        await other.rows(NOTIFY, ABANDONED)
        await asyncio.sleep(A_MOMENT)

    @rule()
    def wake(self) -> None:
        async def wake() -> None:
            for each in self.processes:
                each.awake.set()
            await asyncio.sleep(A_MOMENT)

        self.do(wake())

    @precondition(lambda self: all(each.awake.is_set() for each in self.processes))
    @rule(which=st.integers(0, 1))
    def restart(self, which: int) -> None:
        async def restart() -> None:
            await self.stacks[which].aclose()
            self.processes[which] = await self._opened(self.stacks[which])

        self.do(restart())

    @rule(session_id=consumes(sessions))
    def delete_session(self, session_id: str) -> None:
        async def delete() -> None:
            database = self._awake().process.database
            try:
                await Sessions(database, Workspaces(database)).delete(ME, session_id)
            except SessionBusy:
                return
            for run_id in [each.run_id for each in self.all.values() if each.session_id == session_id]:
                self.family.held.get(self.all.pop(run_id).question, asyncio.Event()).set()

        self.do(delete())

    def _awake(self) -> Pausable:
        return next(each for each in self.processes if each.awake.is_set())

    def teardown(self) -> None:
        try:
            if hasattr(self, "processes"):
                self.do(self._settle())
        finally:
            self.loop.close()

    async def _settle(self) -> None:
        try:
            for each in self.processes:
                each.awake.set()
            for gate in self.family.held.values():
                gate.set()
            async with asyncio.timeout(PATIENCE):
                for asked in self.all.values():
                    await self._check(asked)
                for session_id in {asked.session_id for asked in self.all.values()}:
                    await self._check_session(session_id)
                await asyncio.gather(*self.beside)
        finally:
            for stack in self.stacks:
                await stack.aclose()

    async def _check(self, asked: Asked) -> None:
        at = self.processes[0].process
        last = Reading(0)
        await last.follow(await at.runner.join(ME, asked.run_id))
        log = last.heard
        assert [envelope.seq for envelope in log] == list(range(1, len(log) + 1))
        assert [type(envelope.event) in TERMINAL for envelope in log].count(True) == 1
        end = log[-1].event
        ((stored, attempt),) = await at.rows(
            "SELECT (SELECT max(seq) FROM run_events WHERE run_events.run_id = runs.run_id), attempt"
            " FROM runs WHERE run_id = %s AND status = 'finished'",
            asked.run_id,
        )
        assert stored == len(log)
        assert sum(isinstance(envelope.event, RunStarted) for envelope in log) <= 1
        for reading in asked.readings:
            assert reading.task is not None
            await asyncio.wait([reading.task])
            error = reading.task.exception()
            assert error is None or isinstance(error, CitewellError), error
            expected = log[reading.after :]
            assert reading.heard == (expected if error is None else expected[: len(reading.heard)])
        if attempt > MOST_ATTEMPTS and not isinstance(end, RunFinished):
            return
        assert isinstance(end, RunFinished), end
        said = await at.rows("SELECT content FROM messages WHERE run_id = %s AND role = 'assistant'", asked.run_id)
        assert said == [(end.message["answer"],)]
        assert end.message["answer"] == standing_text(log)

    async def _check_session(self, session_id: str) -> None:
        at = self.processes[0].process
        together = await at.rows(
            "SELECT one.run_id, two.run_id FROM runs AS one JOIN runs AS two USING (session_id)"
            " WHERE session_id = %s AND one.run_id < two.run_id"
            " AND one.started_at < two.finished_at AND two.started_at < one.finished_at",
            session_id,
        )
        assert together == []
        said = await at.rows(
            "SELECT message.role, parent.role FROM messages AS message"
            " LEFT JOIN messages AS parent ON parent.message_id = message.parent_message_id"
            " JOIN runs ON runs.run_id = message.run_id"
            " WHERE message.session_id = %s AND NOT EXISTS"
            " (SELECT 1 FROM runs AS failed WHERE failed.session_id = runs.session_id AND failed.outcome = 'failed')",
            session_id,
        )
        assert {("user", None), *said} <= {("user", None), ("user", "assistant"), ("assistant", "user")}
        assert said.count(("user", None)) <= 1


def standing_text(log: list[Envelope]) -> str:
    """Put the answer together as a reader does from deltas alone, dropping what was never finished."""
    text: dict[int, str] = {}
    finished: set[int] = set()
    for event in (envelope.event for envelope in log):
        match event:
            case RunResumed():
                text = {index: said for index, said in text.items() if index in event.sections and index in finished}
                finished &= text.keys()
            case SectionStarted():
                text[event.section_index] = ""
                finished.discard(event.section_index)
            case TextDelta():
                text[event.section_index] += event.delta
            case _ if event.type == "section_finished":
                finished.add(event.section_index)
    return "\n\n".join(text[index] for index in sorted(finished))


def test_every_run_has_one_log_one_end_and_one_answer(settings: Settings) -> None:
    Runs.settings = settings
    slow = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    run_machine(
        Runs,
        settings=how(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=True,
            suppress_health_check=slow,
            print_blob=False,
        ),
    )
