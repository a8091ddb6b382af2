"""Which steps of a run have a checkpoint: those that somebody is paid for, the last one, and that of a stopped run."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast
from uuid import uuid4

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import DataError

from bench.statements import recorded_statements
from graph.context import Context
from graph.events import RunFinished, StepStarted
from graph.evidence import Hit, Message
from graph.ports import Grading, Preparation
from graph.usage import Meter
from tests.entering import entered, finish
from tests.fakes import HeldFamily, ScriptedFamily
from tests.postgres.processes import log_of, process
from tools.sessions.checkpoints import BUILTINS_ONLY, RUN_ID_KEY, RunSaver
from tools.sessions.pruning import TABLES
from tools.settings import Settings
from tools.storage.startup import open_database


class Unpaid(HeldFamily):
    """A family that prepares and grades without a model."""

    async def prepare(self, *asked: Any, meter: Meter, **how: Any) -> Preparation:
        """Prepare as ever, and charge nobody."""
        return await super().prepare(*asked, meter=Meter(), **how)

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Grade as ever, and charge nobody."""
        return await super().grade(question, candidates, meter=Meter())


@pytest.mark.parametrize(
    ("family", "context", "checkpoints", "writes"),
    [
        (Unpaid(), Context(), 0, 0),
        (ScriptedFamily(), Context(), 3, 0),  # deciding, grading and writing
        (Unpaid(), Context(web="also"), 2, 1),  # before and behind the search outside
    ],
    ids=["without_a_model", "with_a_model", "with_the_web"],
)
async def test_steps_that_cost_nothing_have_no_checkpoint(
    settings: Settings, family: ScriptedFamily, context: Context, checkpoints: int, writes: int
) -> None:
    if isinstance(family, HeldFamily):
        family.released.set()
    async with process(settings, family) as at:
        session_id = await at.session()
        with recorded_statements() as sent:
            log = await log_of(await at.ask(session_id, context=context))
    assert isinstance(log[-1].event, RunFinished)
    assert log[-1].event.outcome == "answered"
    assert sent["checkpoint: one step"] == checkpoints  # beside the last, which goes along with the messages
    assert sent["run: messages, last events and last checkpoint"] == 1
    assert sent["checkpoint: writes beside other steps"] == writes


async def test_a_checkpoint_is_stored_as_langgraph_stores_it(settings: Settings) -> None:
    values = {"question": "Why?", "sources": [{"index": 1}], "rounds": 2, "fallback": None, "pages": {"read": 1.5}}
    versions: ChannelVersions = {**dict.fromkeys(values, "2.0"), "branch:to:abstain": "3.0"}
    checkpoint = Checkpoint(
        v=4, id=str(uuid6()), ts="now", channel_values=values, channel_versions=versions, versions_seen={},
        updated_channels=None,
    )  # fmt: skip
    async with open_database(settings) as database:
        savers = {
            str(uuid4()): saver
            for saver in (RunSaver(database.pool), AsyncPostgresSaver(cast(Any, database.pool), serde=BUILTINS_ONLY))
        }
        rows = []
        for thread, saver in savers.items():
            place = {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": "before"}
            config: RunnableConfig = {"configurable": place, "metadata": {RUN_ID_KEY: "a run"}}
            returned = await saver.aput(config, checkpoint, {"source": "loop", "step": 3}, versions)
            assert returned["configurable"] == {**place, "checkpoint_id": checkpoint["id"]}
            loaded = await saver.aget_tuple(returned)
            async with database.connection() as connection:
                stored = [
                    await (
                        await connection.execute(
                            f"SELECT to_jsonb(t) - 'thread_id' FROM {table} AS t WHERE thread_id = %s ORDER BY 1",
                            [thread],
                        )
                    ).fetchall()
                    for table in TABLES
                ]
            assert loaded is not None
            rows.append((stored, loaded.checkpoint, loaded.metadata))
    assert rows[0] == rows[1]
    assert rows[0][1]["channel_values"] == values


async def test_an_end_that_cannot_be_written_whole_is_not_written(settings: Settings) -> None:
    """The row would be closed and its checkpoint stored, though its answer finds its place taken."""
    family = Unpaid()
    async with process(settings, family) as at:
        session_id = await at.session()
        run = await at.ask(session_id)
        await family.writing.wait()
        await at.rows(
            "INSERT INTO messages (message_id, session_id, run_id, role, content)"
            " SELECT message_id, session_id, run_id, 'assistant', 'Another.' FROM runs WHERE run_id = %s RETURNING 1",
            run.run_id,
        )
        family.released.set()
        log = await log_of(run)
        found = await at.rows(
            "SELECT outcome, (SELECT count(*) FROM messages WHERE session_id = runs.session_id),"
            " (SELECT count(*) FROM checkpoints WHERE thread_id = runs.session_id::text) FROM runs WHERE run_id = %s",
            run.run_id,
        )
    assert [each.event.type for each in log].count("run_finished") == 0
    assert log[-1].event.type == "run_failed"
    assert found == [("failed", 2, 0)]


async def test_an_end_that_cannot_be_sent_whole_is_not_written(settings: Settings) -> None:
    """A pipeline commits what was sent of it before an error of the process itself."""
    async with process(settings, Unpaid()) as at:
        run = await entered(at.database, await at.session())
        message: Message = {"answer": "25 days.\x00", "sections": [], "citations": [], "sources": []}
        end = RunFinished(outcome="answered", stop_reason="answer_complete", message=message, spent={})
        with pytest.raises(DataError):
            await finish(at.database, run, end)
        found = await at.rows(
            "SELECT status, outcome, (SELECT count(*) FROM messages WHERE session_id = runs.session_id)"
            " FROM runs WHERE run_id = %s",
            run.run_id,
        )
    assert found == [("running", None, 0)]


async def test_a_cancelled_run_is_saved_where_it_stands(settings: Settings) -> None:
    family = Unpaid()
    async with process(settings, family) as at:
        run = await at.ask(await at.session())
        await family.writing.wait()
        await run.cancel("cancel_requested")
        found = await at.rows(
            "SELECT checkpoint -> 'channel_values' ? 'branch:to:generate_answer' FROM checkpoints"
            " JOIN messages USING (checkpoint_id) WHERE run_id = %s AND role = 'assistant'",
            run.run_id,
        )
    assert found == [(True,)]


async def test_a_run_that_drains_is_saved_behind_its_step(settings: Settings) -> None:
    family = Unpaid()
    async with process(settings) as second:
        async with process(settings, family, drain_seconds=3) as first:
            run = await first.ask(await first.session())
            await family.writing.wait()
            first.runner._drain_seconds = 0.2
            closing = asyncio.create_task(first.runner.close())
            async with asyncio.timeout(60):
                while True:
                    if run.control.drain_requested:
                        break
                    await asyncio.sleep(0.01)
            family.released.set()
            await closing
        second.runner.take_over_abandoned()
        async with asyncio.timeout(60):
            log = await log_of(await second.runner.join(run.request.context.identity, run.run_id))
    assert isinstance(log[-1].event, RunFinished)
    begun = Counter(each.event.step for each in log if isinstance(each.event, StepStarted))
    assert set(begun.values()) == {1}
