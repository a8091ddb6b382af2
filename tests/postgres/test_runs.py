"""Runs over a real database: entered before they start, told to any number of readers, ended exactly once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from graph.builder import build
from graph.context import Context
from graph.errors import NotFound, SessionBusy
from graph.events import TERMINAL, Envelope, RunFailed, RunFinished
from graph.evidence import Identity
from graph.ports import Judge
from tests.fakes import HeldFamily, MemoryLibrary, ScriptedFamily, resources, segment
from tools.runs.live_run import Run
from tools.runs.runner import Runner
from tools.sessions.run_request import RunRequest
from tools.sessions.session_store import Sessions
from tools.settings import RunSettings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

ME = Identity()
LEAVE = segment("handbook", 0, "Staff get 25 days of annual leave.")


class Desk:
    """A runner over fakes and a real database, with one session."""

    def __init__(self, database: Database, family: ScriptedFamily, session_id: str, judge: Judge | None = None) -> None:
        self.database = database
        self.session_id = session_id
        self.library = MemoryLibrary([LEAVE])
        ports = resources(self.library, family, judge=judge)
        self.runner = Runner(
            build(ports).compile(), ports, database, Workspaces(database), RunSettings(drain_seconds=0)
        )

    async def start(self, question: str = "annual leave", **knobs: Any) -> Run:
        return await self.runner.start(self.session_id, RunRequest(question, Context(**knobs)))

    async def rows(self, query: str) -> list[tuple[Any, ...]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(query)).fetchall()


@asynccontextmanager
async def desk(
    database: Database, family: ScriptedFamily | None = None, judge: Judge | None = None
) -> AsyncIterator[Desk]:
    session = await Sessions(database, Workspaces(database)).create(ME)
    opened = Desk(database, family or ScriptedFamily(), session.session_id, judge)
    try:
        yield opened
    finally:
        await opened.runner.close()


async def log_of(run: Run, after: int = 0) -> list[Envelope]:
    return [envelope async for envelope in run.events(after)]


async def test_a_run_is_entered_answered_and_stored_once(database: Database) -> None:
    async with desk(database) as at:
        run = await at.start()
        assert await at.rows("SELECT status, question FROM runs") == [("running", "annual leave")]
        log = await log_of(run)
        assert [envelope.seq for envelope in log] == list(range(1, len(log) + 1))
        assert [type(e.event) in TERMINAL for e in log].count(True) == 1
        end = log[-1].event
        assert isinstance(end, RunFinished)
        assert end.message["citations"][0]["quote"] == LEAVE.text
        assert await at.rows("SELECT status, outcome, stop_reason FROM runs") == [
            ("finished", "answered", "answer_complete")
        ]
        asked, answered = await at.rows(
            "SELECT role, content, parent_message_id IS NULL, checkpoint_id IS NULL, body->'citations'->0->>'quote'"
            " FROM messages ORDER BY created_at"
        )
        assert asked[:3] == ("user", "annual leave", True)
        assert answered == ("assistant", LEAVE.text, False, False, LEAVE.text)


async def test_readers_follow_at_their_own_pace_and_from_where_they_were(database: Database) -> None:
    async with desk(database) as at:
        run = await at.start()
        early = asyncio.create_task(log_of(run))
        late = (await run.finished(), await log_of(run, after=3))
        assert await early == await log_of(run)
        assert late[1] == (await early)[3:]


async def test_a_session_answers_one_question_at_a_time(database: Database) -> None:
    family = HeldFamily()
    async with desk(database, family) as at:
        first = await at.start()
        await family.writing.wait()
        with pytest.raises(SessionBusy):
            await at.start()
        family.released.set()
        assert isinstance(await first.finished(), RunFinished)
        assert isinstance(await (await at.start()).finished(), RunFinished)


async def test_cancelling_stops_the_writer_and_keeps_what_was_finished(database: Database) -> None:
    family = HeldFamily()
    async with desk(database, family) as at:
        run = await at.start()
        async for envelope in run.events():
            if envelope.event.type == "section_finished":
                break
        await family.writing.wait()
        await run.cancel("client_disconnected")
        assert family.stopped
        end = await run.finished()
        assert isinstance(end, RunFinished)
        assert (end.outcome, end.stop_reason) == ("cancelled", "client_disconnected")
        assert end.message["answer"] == LEAVE.text
        assert at.runner.active(run.run_id) is None
        assert await at.rows("SELECT outcome, stop_reason FROM runs") == [("cancelled", "client_disconnected")]
        await run.cancel("cancel_requested")
        assert await at.rows("SELECT stop_reason FROM runs") == [("client_disconnected",)]


async def test_a_cancelled_run_says_what_its_finished_steps_have_spent(database: Database) -> None:
    family = HeldFamily()
    family.released.set()
    async with desk(database, family) as at:
        await (await at.start()).finished()
        family.writing.clear()
        family.released.clear()
        run = await at.start()
        await family.writing.wait()
        await run.cancel("cancel_requested")
        end = await run.finished()
        assert isinstance(end, RunFinished)
        assert {step: row["calls"] for step, row in end.spent.items()} == {
            "decide_retrieval": 1,
            "search_segments": 0,
            "grade_segments": 1,
        }


async def test_the_question_after_a_cancelled_one_is_answered(database: Database) -> None:
    family = HeldFamily()
    async with desk(database, family) as at:
        run = await at.start()
        await family.writing.wait()
        await run.cancel("cancel_requested")
        family.released.set()
        end = await (await at.start()).finished()
        assert isinstance(end, RunFinished)
        assert end.outcome == "answered"
        assert family.seen_turns[-1] == []


async def test_what_breaks_inside_ends_as_a_failure_without_internals(database: Database) -> None:
    async with desk(database) as at:
        at.library.failure = RuntimeError("secret detail")
        end = await (await at.start()).finished()
        assert isinstance(end, RunFailed)
        assert end.code == "internal"
        assert "secret" not in end.message
        assert await at.rows("SELECT outcome, stop_reason FROM runs") == [("failed", "internal")]
        assert await at.rows("SELECT role, content FROM messages") == [("user", "annual leave")]


@pytest.mark.parametrize("identity", [Identity(user="somebody else"), Identity(workspace="default", user="")])
async def test_a_strangers_session_is_not_found(database: Database, identity: Identity) -> None:
    async with desk(database) as at:
        with pytest.raises(NotFound):
            await at.start(user=identity.user)


async def test_a_conversation_goes_on_in_another_process(database: Database) -> None:
    async with desk(database) as at:
        await (await at.start()).finished()
        family = ScriptedFamily()
        other = Desk(database, family, at.session_id)
        await (await other.start("salaries annual leave")).finished()
        await other.runner.close()
        assert [turn["question"] for turn in family.seen_turns[0]] == ["annual leave"]
