"""Runs across processes on one database: read, stopped, waited for and taken over from another than answers them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from graph.errors import NotFound, Overloaded, SessionBusy
from graph.events import Queued, RunFailed, RunFinished
from graph.evidence import Hit, Identity
from graph.ports import Draft
from graph.usage import Meter
from tests.fakes import HeldFamily
from tests.postgres.processes import ME, Process, kinds, log_of, process
from tools.sessions.run_request import RunReader
from tools.settings import Settings


async def test_another_process_follows_a_run_while_it_goes_on(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as first, process(settings) as second:
        run = await first.ask(await first.session())
        await family.writing.wait()
        reader = await second.runner.join(ME, run.run_id)
        assert reader is not run
        following = asyncio.create_task(log_of(reader))
        behind = asyncio.create_task(log_of(reader, after=5))
        family.released.set()
        told = await log_of(run)
        assert await following == told
        assert await behind == told[5:]
        assert await log_of(await second.runner.join(ME, run.run_id)) == told


async def test_every_event_is_committed_before_a_reader_has_it(settings: Settings) -> None:
    async with process(settings) as at:
        run = await at.ask(await at.session())
        async for envelope in run.events():
            found = await at.rows(
                "SELECT type FROM run_events WHERE run_id = %s AND seq = %s", run.run_id, envelope.seq
            )
            assert found == [(envelope.event.type,)]


async def test_a_run_is_stopped_from_another_process(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as first, process(settings) as second:
        run = await first.ask(await first.session())
        await family.writing.wait()
        await (await second.runner.join(ME, run.run_id)).cancel("cancel_requested")
        assert family.stopped
        end = await run.finished()
        assert isinstance(end, RunFinished)
        assert (end.outcome, end.stop_reason) == ("cancelled", "cancel_requested")


@pytest.mark.parametrize("identity", [Identity("default", "somebody else"), Identity("elsewhere", "local")])
async def test_a_strangers_run_is_not_found(settings: Settings, identity: Identity) -> None:
    async with process(settings) as first, process(settings) as second:
        run = await first.ask(await first.session())
        for each in (first, second):
            with pytest.raises(NotFound):
                await each.runner.join(identity, run.run_id)
        with pytest.raises(NotFound):
            await second.runner.join(ME, str(uuid4()))
        await run.finished()


async def test_a_busy_session_refuses_a_question_of_another_process(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as first, process(settings) as second:
        session_id = await first.session()
        run = await first.ask(session_id)
        await family.writing.wait()
        with pytest.raises(SessionBusy):
            await second.ask(session_id)
        family.released.set()
        await run.finished()


async def test_questions_wait_for_each_other_across_processes(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as first, process(settings) as second:
        session_id = await first.session()
        run = await first.ask(session_id)
        await family.writing.wait()
        waiting = [await second.ask(session_id, f"annual leave {i}", while_running="enqueue") for i in range(2)]
        with pytest.raises(SessionBusy):
            await first.ask(session_id)
        assert await at_status(second, "queued") == 2
        family.released.set()
        ends = [await each.finished() for each in (run, *waiting)]
        assert [end.outcome for end in ends if isinstance(end, RunFinished)] == ["answered"] * 3
        asked = await first.rows("SELECT content FROM messages WHERE role = 'user' ORDER BY created_at")
        assert asked == [("annual leave",), ("annual leave 0",), ("annual leave 1",)]
        log = await log_of(waiting[1])
        assert kinds(log)[0] == "queued"
        assert kinds(log).count("run_started") == 1
        places = [envelope.event.position for envelope in log if isinstance(envelope.event, Queued)]
        assert places == sorted(places, reverse=True) or places[1:] == sorted(places[1:], reverse=True)


async def test_a_question_interrupts_the_one_that_another_process_answers(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as first, process(settings) as second:
        session_id = await first.session()
        run = await first.ask(session_id)
        await family.writing.wait()
        instead = await second.ask(session_id, "annual leave days", while_running="interrupt")
        ends = [await run.finished(), await instead.finished()]
        assert [(end.outcome, end.stop_reason) for end in ends if isinstance(end, RunFinished)] == [
            ("cancelled", "interrupted"),
            ("answered", "answer_complete"),
        ]


async def test_a_waiting_run_is_cancelled_without_having_begun(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as at:
        session_id = await at.session()
        run = await at.ask(session_id)
        await family.writing.wait()
        waiting = await at.ask(session_id, while_running="enqueue")
        await waiting.cancel("cancel_requested")
        assert set(kinds(await log_of(waiting))) == {"queued", "run_finished"}
        family.released.set()
        assert isinstance(await run.finished(), RunFinished)


async def test_a_process_answers_so_many_runs_lets_so_many_wait_and_refuses_the_rest(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.runs.runner.WAITING_FOR_EACH", 1)
    family = HeldFamily()
    async with process(settings, family, max_active=1) as at:
        going = await at.ask(await at.session())
        await family.writing.wait()
        waiting = await at.ask(await at.session())
        with pytest.raises(Overloaded):
            await at.ask(await at.session())
        assert await at_status(at, "running") == 1
        family.released.set()
        assert isinstance(await going.finished(), RunFinished)
        assert isinstance(await waiting.finished(), RunFinished)
        log = await log_of(waiting)
        assert kinds(log)[:2] == ["queued", "run_started"]
        assert isinstance(await (await at.ask(await at.session())).finished(), RunFinished)


async def test_those_that_wait_for_their_session_count_among_those_that_wait(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.runs.runner.WAITING_FOR_EACH", 1)
    family = HeldFamily()
    async with process(settings, family, max_active=2) as at:
        session_id = await at.session()
        going = await at.ask(session_id)
        await family.writing.wait()
        waiting = [await at.ask(session_id, while_running="enqueue") for _ in range(2)]
        with pytest.raises(Overloaded):
            await at.ask(session_id, while_running="enqueue")
        elsewhere = await at.ask(await at.session())
        family.released.set()
        for run in (going, *waiting, elsewhere):
            assert isinstance(await run.finished(), RunFinished)
        assert isinstance(await (await at.ask(session_id, while_running="enqueue")).finished(), RunFinished)


async def test_what_a_process_leaves_another_finishes(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings) as second:
        second.runner.take_over_abandoned()
        async with process(settings, family) as first:
            run = await first.ask(await first.session())
            await family.writing.wait()
        log = await log_of(await second.runner.join(ME, run.run_id))
        assert [envelope.seq for envelope in log] == list(range(1, len(log) + 1))
        assert kinds(log).count("run_resumed") == kinds(log).count("run_finished") == 1
        end = log[-1].event
        assert isinstance(end, RunFinished)
        assert end.message["answer"] == "Staff get 25 days of annual leave."
        assert len(await second.rows("SELECT 1 FROM messages")) == 2


async def test_a_process_that_comes_back_after_its_lease_says_no_more(settings: Settings) -> None:
    family = HeldFamily()
    async with process(settings, family) as first, process(settings) as second:
        run = await first.ask(await first.session())
        await family.writing.wait()
        while not await first.rows("SELECT 1 FROM runs WHERE attempt > 1"):  # its heartbeat may renew the lease between
            await first.rows("UPDATE runs SET lease_until = now() - interval '1 second' WHERE attempt = 1 RETURNING 1")
            second.runner.take_over_abandoned()
            await asyncio.sleep(0.01)
        stored = await second.runner.join(ME, run.run_id)
        log = await log_of(stored)
        family.released.set()
        assert await log_of(run) == log
        assert kinds(log).count("run_finished") == 1
        assert len(await second.rows("SELECT 1 FROM messages")) == 2


async def test_a_run_that_was_cut_off_too_often_fails(settings: Settings) -> None:
    async with process(settings, HeldFamily()) as first:
        run = await first.ask(await first.session())
        await first.rows("UPDATE runs SET attempt = 5 RETURNING 1")
    async with process(settings) as second:
        await second.rows("UPDATE runs SET lease_until = '-infinity' RETURNING 1")
        second.runner.take_over_abandoned()
        end = (await log_of(await second.runner.join(ME, run.run_id)))[-1].event
        assert isinstance(end, RunFailed)
        assert end.code == "internal"


async def test_the_end_is_told_from_the_messages_where_the_log_was_swept(settings: Settings) -> None:
    async with process(settings) as at:
        run = await at.ask(await at.session())
        log = await log_of(run)
        await at.rows("DELETE FROM run_events RETURNING 1")
        assert run.task is not None
        await run.task
        await asyncio.sleep(0)  # until what was to follow its end has: this process forgets the run
        (only,) = await log_of(await at.runner.join(ME, run.run_id), after=3)
        assert only.seq == log[-1].seq
        assert await log_of(await at.runner.join(ME, run.run_id), after=only.seq) == []
        assert isinstance(only.event, RunFinished)
        assert isinstance(log[-1].event, RunFinished)
        assert only.event.message == log[-1].event.message


async def at_status(at: Process, status: str) -> int:
    found = await at.rows("SELECT count(*) FROM runs WHERE status = %s", status)
    return int(found[0][0])


@dataclass
class TwicePausing(HeldFamily):
    """A family whose writer also waits after its second section."""

    wrote_two: asyncio.Event = field(default_factory=asyncio.Event)
    ending: asyncio.Event = field(default_factory=asyncio.Event)

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        async for draft in super().write(question, sources, language=language, meter=meter):
            yield draft
        self.wrote_two.set()
        await self.ending.wait()


async def test_text_is_committed_at_once_only_after_a_pause(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the section has ended by the time its text is committed."""
    monkeypatch.setattr("tools.runs.event_writer.HOLD_SECONDS", 600.0)
    texts = "SELECT count(*) FROM run_events WHERE run_id = %s AND type = 'text_delta'"
    family = TwicePausing()
    async with process(settings, family) as at, asyncio.timeout(60):
        run = await at.ask(await at.session())
        await _first_text(run)
        family.released.set()
        await family.wrote_two.wait()
        other = await at.ask(await at.session())
        await _first_text(other)
        assert await at.rows(texts, run.run_id) == [(1,)]
        family.ending.set()
        assert kinds(await log_of(run)).count("text_delta") == 2
        await other.finished()


async def _first_text(run: RunReader) -> None:
    async with aclosing(run.events()) as events:
        async for each in events:
            if each.event.type == "text_delta":
                return
