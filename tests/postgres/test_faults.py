"""A database that fails in the middle of runs: connections that are ended, answers that are lost, a server away."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any

import pytest
from pydantic import SecretStr

from graph.context import Context
from graph.errors import CitewellError, NotFound, SessionBusy
from graph.events import TERMINAL, AnyEvent, Envelope, RunFailed, RunFinished, StepStarted, TextDelta
from graph.evidence import Hit
from graph.ports import Draft, Grading
from graph.usage import Meter
from tests.fakes import HeldFamily, ScriptedFamily
from tests.postgres.processes import LEAVE, ME, Process, kinds, log_of, process
from tests.postgres.proxy import Proxy, proxied
from tests.standing_sections import standing_sections
from tools.runs.leases import Leases
from tools.runs.live_run import Run
from tools.runs.notifications import ABANDONED, NOTIFY
from tools.sessions.run_request import RunReader, RunRequest
from tools.sessions.session_store import Sessions
from tools.settings import Settings
from tools.storage.tenants import Workspaces

# A statement on a table ends its own connection, at the given times out of all on it.
FAULT = """
CREATE SEQUENCE faults;
CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('faults') = ANY (ARRAY{times}) THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER fault AFTER {doing} ON {table} FOR EACH STATEMENT EXECUTE FUNCTION fault();
"""
END_ALL = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


async def whole(at: Process, run: Run) -> list[Envelope]:
    """Read a run to its end, and see that it is told, logged and stored as one answer, once."""
    async with asyncio.timeout(60):
        log = await log_of(run)
        stored = await log_of(await at.runner.join(ME, run.run_id))
    assert [envelope.seq for envelope in log] == list(range(1, len(log) + 1))
    assert [envelope.event for envelope in log] == [envelope.event for envelope in stored]
    assert [type(envelope.event) in TERMINAL for envelope in log].count(True) == 1
    rows = await at.rows("SELECT seq FROM run_events WHERE run_id = %s ORDER BY seq", run.run_id)
    assert [seq for (seq,) in rows] == list(range(1, len(log) + 1))
    return log


async def answered(at: Process, run: Run) -> list[Envelope]:
    """See that a run is answered as if nothing had been."""
    log = await whole(at, run)
    end = log[-1].event
    assert isinstance(end, RunFinished), end
    assert (end.outcome, end.message["answer"]) == ("answered", LEAVE.text)
    found = await at.rows("SELECT role, content FROM messages WHERE run_id = %s ORDER BY created_at", run.run_id)
    assert found == [("user", "annual leave"), ("assistant", LEAVE.text)]
    return log


@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize(
    ("doing", "table", "times"),
    [
        ("INSERT", "run_events", [2, 4]),
        ("INSERT", "run_events", [3, 5, 6]),
        ("INSERT", "checkpoints", [1]),
        ("INSERT", "checkpoints", [3, 5]),
        ("INSERT", "checkpoint_writes", [1, 2]),
        ("UPDATE", "runs", [1, 2]),
        ("UPDATE", "sessions", [2, 3]),  # the first gives the session its title as the run is entered
        ("INSERT", "messages", [1]),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, list) else value,
)
async def test_a_run_outlives_the_connections_that_write_it(
    settings: Settings, durability: str, doing: str, table: str, times: list[int]
) -> None:
    async with process(settings, durability=durability) as at:
        session_id = await at.session()
        async with at.database.connection() as connection:
            await connection.execute(FAULT.format(doing=doing, table=table, times=times))
        # Beside the library the web is searched, and what it gave is stored before the checkpoint behind both.
        await answered(at, await at.ask(session_id, page_ids=("handbook",), context=Context(web="also")))
        ((happened,),) = await at.rows("SELECT last_value FROM faults WHERE is_called")
        assert happened >= times[0]


class Cutting(ScriptedFamily):
    """A family that ends every connection of the database while one of its steps is at work, once."""

    def __init__(self, step: str) -> None:
        super().__init__()
        self.step = step
        self.at: Process | None = None

    async def cut(self, step: str) -> None:
        if self.at is not None and step == self.step:
            at, self.at = self.at, None
            await at.rows(END_ALL)

    async def prepare(self, question: str, *args: Any, **named: Any) -> Any:
        await self.cut("decide_retrieval")
        return await super().prepare(question, *args, **named)

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        await self.cut("grade_segments")
        return await super().grade(question, candidates, meter=meter)

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        async for draft in super().write(question, sources, language=language, meter=meter):
            yield draft
            await self.cut("generate_answer")


@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize("step", ["decide_retrieval", "grade_segments", "generate_answer"])
async def test_a_run_outlives_all_connections_of_its_process(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, step: str, durability: str
) -> None:
    monkeypatch.setattr("tools.runs.notifications.RETRY_SECONDS", 0.1)
    family = Cutting(step)
    async with process(settings, family, durability=durability) as at, process(settings) as other:
        session_id = await at.session()
        run = await at.ask(session_id)
        reader = asyncio.create_task(log_of(await other.runner.join(ME, run.run_id)))
        family.at = other
        log = await answered(at, run)
        assert [envelope.event for envelope in await reader] == [envelope.event for envelope in log]


@asynccontextmanager
async def behind_a_proxy(
    settings: Settings, family: ScriptedFamily | None = None, **runs: Any
) -> AsyncIterator[tuple[Proxy, Process]]:
    """A process that reaches the database through a proxy."""
    assert settings.database_url is not None
    async with proxied(settings.database_url.get_secret_value()) as (proxy, url):
        through = settings.model_copy(update={"database_url": SecretStr(url), "pool_timeout_seconds": 0.3})
        async with process(through, family, **runs) as at:
            yield proxy, at


@pytest.mark.parametrize("unheard", [b"INTO run_events (run_id, seq, type, payload)\n", b"COMMIT"], ids=["log", "end"])
async def test_what_was_done_unheard_is_not_done_twice(settings: Settings, unheard: bytes) -> None:
    async with behind_a_proxy(settings) as (proxy, at):
        session_id = await at.session()
        run = await at.ask(session_id)
        proxy.swallow_answers_to = unheard
        await answered(at, run)
        assert proxy.swallow_answers_to is None


async def test_a_failure_is_logged_behind_what_was_stored_unheard(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.storage.database.PATIENCE_SECONDS", 0.0)
    async with behind_a_proxy(settings) as (proxy, at):
        run = await at.ask(await at.session())
        proxy.swallow_answers_to = b"INTO run_events (run_id, seq, type, payload)\n"
        assert run.task is not None
        async with asyncio.timeout(60):
            await run.task
        log = await whole(at, run)
        assert isinstance(log[-1].event, RunFailed)
        assert log[-1].event.code == "database_unavailable"
        assert len(log) > 2


async def test_a_run_waits_for_a_database_that_is_away_for_a_moment(settings: Settings) -> None:
    family = HeldFamily()
    async with behind_a_proxy(settings, family) as (proxy, at):
        run = await at.ask(await at.session())
        await family.writing.wait()
        reader = asyncio.create_task(log_of(run))
        proxy.refusing = True
        proxy.cut()
        family.released.set()
        await asyncio.sleep(1.0)
        assert not reader.done()
        proxy.refusing = False
        log = await whole(at, run)
        assert isinstance(log[-1].event, RunFinished)
        assert await reader == log


async def test_a_reader_elsewhere_waits_for_a_database_that_is_away_for_a_moment(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as first, behind_a_proxy(settings) as (proxy, second):
        run = await first.ask(await first.session())
        await family.writing.wait()
        reader = asyncio.create_task(log_of(await second.runner.join(ME, run.run_id)))
        await asyncio.sleep(0.1)
        proxy.refusing = True
        proxy.cut()
        family.released.set()
        log = await log_of(run)
        await asyncio.sleep(0.7)
        assert not reader.done()
        proxy.refusing = False
        async with asyncio.timeout(60):
            assert await reader == log


async def test_a_waiting_run_waits_for_a_database_that_is_away_for_a_moment(settings: Settings) -> None:
    family = HeldFamily()
    async with behind_a_proxy(settings, family) as (proxy, at):
        session_id = await at.session()
        run = await at.ask(session_id)
        await family.writing.wait()
        waiting = await at.ask(session_id, while_running="enqueue")
        proxy.refusing = True
        proxy.cut()
        await asyncio.sleep(0.8)
        proxy.refusing = False
        family.released.set()
        for each in (run, waiting):
            assert isinstance((await whole(at, each))[-1].event, RunFinished)


async def test_a_database_that_stays_away_is_told_once_and_the_run_finished_by_another(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.storage.database.PATIENCE_SECONDS", 0.5)
    family = HeldFamily()
    async with process(settings) as second:
        async with behind_a_proxy(settings, family) as (proxy, first):
            run = await first.ask(await first.session())
            await family.writing.wait()
            proxy.refusing = True
            proxy.cut()
            family.released.set()
            heard: list[Envelope] = []
            with pytest.raises(CitewellError) as failure:
                await asyncio.wait_for(follow(run, heard), 60)
            assert failure.value.code == "database_unavailable"
            assert run.task is not None
            await asyncio.wait([run.task], timeout=10)
            assert run.task.done()
            proxy.refusing = False
        await second.rows("UPDATE runs SET lease_until = '-infinity' RETURNING 1")
        second.runner.take_over_abandoned()
        async with asyncio.timeout(60):
            log = await log_of(await second.runner.join(ME, run.run_id))
        assert [envelope.seq for envelope in log] == list(range(1, len(log) + 1))
        assert log[: len(heard)] == heard
        assert isinstance(log[-1].event, RunFinished)
        assert kinds(log).count("run_finished") == 1


async def follow(run: Run, heard: list[Envelope]) -> None:
    async for envelope in run.events():
        heard.append(envelope)


async def delete_abandoned(at: Process, session_id: str) -> None:
    """Delete a session whose run's process is to have gone; it may extend its lease once more."""
    async with asyncio.timeout(60):
        while True:
            await at.rows("UPDATE runs SET lease_until = '-infinity' RETURNING 1")
            with suppress(SessionBusy):
                return await Sessions(at.database, Workspaces(at.database)).delete(ME, session_id)


async def test_a_run_of_a_session_that_is_deleted_is_over_for_its_readers(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as first, process(settings) as second:
        session_id = await first.session()
        run = await first.ask(session_id)
        await family.writing.wait()
        stored = await second.runner.join(ME, run.run_id)
        reader = asyncio.create_task(log_of(stored))
        await delete_abandoned(second, session_id)
        family.released.set()
        async with asyncio.timeout(60):
            with pytest.raises(NotFound):
                await reader
            with pytest.raises(NotFound):
                await log_of(run)
            with pytest.raises(NotFound):
                await stored.cancel("cancel_requested")


async def test_a_waiting_run_of_a_session_that_is_deleted_stops_waiting(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.runs.executor.POLL_SECONDS", 0.2)
    family = HeldFamily()
    async with process(settings, family) as at:
        session_id = await at.session()
        run = await at.ask(session_id)
        await family.writing.wait()
        waiting = await at.ask(session_id, while_running="enqueue")
        asked = 0
        ahead = Leases.ahead

        async def counted(self: Leases, run: Run) -> int:
            nonlocal asked
            asked += 1
            return await ahead(self, run)

        monkeypatch.setattr(Leases, "ahead", counted)
        await at.rows("DELETE FROM sessions RETURNING 1")
        family.released.set()
        async with asyncio.timeout(60):
            for each in (run, waiting):
                with pytest.raises(NotFound):
                    await log_of(each)
                assert each.task is not None
                await asyncio.wait([each.task])
        assert asked < 10


async def test_a_run_that_was_handed_over_is_cancelled_where_it_goes_on(settings: Settings) -> None:
    held, other = HeldFamily(), HeldFamily()
    async with process(settings, held) as first, process(settings, other) as second:
        run = await first.ask(await first.session())
        await held.writing.wait()
        await first.rows("UPDATE runs SET lease_until = now() - interval '1 second' RETURNING 1")
        second.runner.take_over_abandoned()
        await other.writing.wait()
        held.released.set()
        assert run.task is not None
        await asyncio.wait([run.task])
        async with asyncio.timeout(60):
            await run.cancel("client_disconnected")
            log = await log_of(run)
        assert other.stopped
        end = log[-1].event
        assert isinstance(end, RunFinished)
        assert (end.outcome, end.stop_reason) == ("cancelled", "client_disconnected")
        assert await run.is_over(log[-1].seq)


async def read_text(run: RunReader, text: str) -> None:
    """Read a run until a reader has had this text."""
    had = ""
    async with aclosing(run.events()) as events:
        async for envelope in events:
            had += envelope.event.delta if isinstance(envelope.event, TextDelta) else ""
            if had == text:
                return


@pytest.mark.parametrize("asked", ["before", "after"])
async def test_a_run_cancelled_around_a_takeover_keeps_what_its_readers_have(settings: Settings, asked: str) -> None:
    family, other = HeldFamily(), HeldFamily()
    async with process(settings, other) as second:
        async with process(settings, family) as first:
            run = await first.ask(await first.session())
            await family.writing.wait()
            await read_text(run, LEAVE.text)
            if asked == "before":
                await first.rows("UPDATE runs SET stop_requested = 'cancel_requested' RETURNING 1")
        second.runner.take_over_abandoned()
        stored = await second.runner.join(ME, run.run_id)
        async with asyncio.timeout(60):
            if asked == "after":
                await other.writing.wait()
                await stored.cancel("cancel_requested")
            log = await log_of(stored)
        end = log[-1].event
        assert isinstance(end, RunFinished)
        assert end.outcome == "cancelled"
        used = {step: row["calls"] for step, row in end.spent.items()}
        assert (used["decide_retrieval"], used["grade_segments"]) == (1, 1)  # by the first process
        assert end.message["sections"] == standing_sections(envelope.event for envelope in log)
        assert end.message["answer"] == LEAVE.text


async def test_a_run_whose_request_cannot_be_read_fails_alone(settings: Settings) -> None:
    families = HeldFamily(), HeldFamily()
    async with process(settings) as second:
        async with process(settings, families[0]) as first:
            bad = await first.ask(await first.session())
            await families[0].writing.wait()
            await first.rows("UPDATE runs SET request = '{\"question\": 7}' RETURNING 1")
        async with process(settings, families[1]) as first:
            good = await first.ask(await first.session())
            await families[1].writing.wait()
        second.runner.take_over_abandoned()
        async with asyncio.timeout(60):
            log = await log_of(await second.runner.join(ME, bad.run_id))
            assert kinds(log)[-1] == "run_failed"
            log = await log_of(await second.runner.join(ME, good.run_id))
            assert kinds(log)[-1] == "run_finished"
            assert kinds(log).count("run_resumed") == 1


async def test_a_run_that_was_claimed_and_lost_is_told_to_have_started(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings) as second:
        async with process(settings, family) as first:
            session_id = await first.session()
            run = await first.ask(session_id)
            await family.writing.wait()
            waiting = await first.ask(session_id, while_running="enqueue")
        ended = "status = 'finished', outcome = 'failed', stop_reason = 'scripted'"
        await second.rows(f"UPDATE runs SET {ended} WHERE run_id = %s RETURNING 1", run.run_id)
        await second.rows("UPDATE runs SET status = 'running' WHERE run_id = %s RETURNING 1", waiting.run_id)
        second.runner.take_over_abandoned()
        async with asyncio.timeout(60):
            log = await log_of(await second.runner.join(ME, waiting.run_id))
        assert kinds(log).count("run_started") == 1
        assert kinds(log).index("run_started") < kinds(log).index("step_started")


async def test_a_run_that_drains_behind_a_step_is_left_at_once(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings) as second:
        second.runner.take_over_abandoned()
        async with process(settings, family, drain_seconds=3) as first:
            run = await first.ask(await first.session())
            await family.writing.wait()
            reader = asyncio.create_task(log_of(run))
            first.runner._drain_seconds = 0.2
            closing = asyncio.create_task(first.runner.close())
            async with asyncio.timeout(60):
                while not run.control.drain_requested:  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.01)
            family.released.set()  # and the graph stops behind the step
            with pytest.raises(CitewellError) as left:
                async with asyncio.timeout(60):
                    await reader
            assert left.value.code == "server_stopping"
            await closing
        async with asyncio.timeout(60):
            log = await log_of(await second.runner.join(ME, run.run_id))
        assert isinstance(log[-1].event, RunFinished)


class Endless:
    """A journal that has more to commit whenever it has committed."""

    def notify(self, run: Run, event: AnyEvent | None = None) -> None:
        """Commit, and be told more."""

        def commit() -> None:
            run.publish(run.take())
            run._pending.append(run.next_line(StepStarted(step="generate_answer")))

        asyncio.get_running_loop().call_soon(commit)


async def test_a_checkpoint_waits_for_what_was_told_before_it_and_not_for_a_pause() -> None:
    run = Run(*map(str, range(3)), RunRequest("annual leave", Context()), "llm", "", writer=Endless())
    run.emit(StepStarted(step="generate_answer"))
    async with asyncio.timeout(60):
        await run.committed()


async def test_a_process_closes_though_its_upkeep_misses_a_cancel(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Python 3.11 whoever waits for the database may miss one."""
    async with process(settings) as at:
        asked, missed = asyncio.Event(), asyncio.Event()

        async def take_over(self: Leases, limit: int) -> list[Any]:
            asked.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                missed.set()
            return []

        monkeypatch.setattr(Leases, "take_over", take_over)
        at.runner.take_over_abandoned()
        await asked.wait()
        async with asyncio.timeout(60):
            await at.runner.close()
        assert missed.is_set()


async def test_a_process_that_finds_its_own_run_abandoned_goes_on_with_it_once(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as at:
        run = await at.ask(await at.session())
        await family.writing.wait()
        at.runner.take_over_abandoned()
        assert run.task is not None
        async with asyncio.timeout(60):
            # A heartbeat that comes in between extends the lease again.
            while not run.task.done():
                await at.rows("UPDATE runs SET lease_until = '-infinity' WHERE attempt = 1 RETURNING 1")
                await at.rows(NOTIFY, ABANDONED)
                await asyncio.wait([run.task], timeout=0.5)
            assert family.stopped
            family.released.set()
            log = await whole(at, run)
        assert kinds(log).count("run_resumed") == 1
        assert isinstance(log[-1].event, RunFinished)


class Untitled:
    """Titling that takes note of what it is asked to title."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def title_by_rule(self, question: str, context: Any) -> None:
        return None

    async def title_session(self, session_id: str, question: str, context: Any, *, untitled: bool = False) -> None:
        self.asked.append(session_id)


async def test_a_title_that_was_being_made_is_made_by_who_takes_the_run_over(settings: Settings) -> None:
    family, titling = HeldFamily(), Untitled()
    async with process(settings, titling=titling) as second:
        async with process(settings, family) as first:
            run = await first.ask(await first.session())
            await family.writing.wait()
        second.runner.take_over_abandoned()
        await log_of(await second.runner.join(ME, run.run_id))
        assert titling.asked == [run.session_id]


async def test_a_reader_that_has_had_the_end_is_told_nothing_more(settings: Settings) -> None:
    async with process(settings) as at, asyncio.timeout(60):
        run = await at.ask(await at.session())
        log = await log_of(run)
        assert await log_of(run, after=len(log)) == []
        assert await log_of(await at.runner.join(ME, run.run_id), after=len(log)) == []
