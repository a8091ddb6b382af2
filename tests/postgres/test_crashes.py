"""Processes that are killed and databases that go away in the middle of runs: every run still has its one end."""

import asyncio
import multiprocessing
import signal
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from graph.events import Envelope, RunFinished, StepStarted
from tests.postgres.dying import SCENARIOS, Moment, die, runner_of, settings_of
from tests.postgres.processes import ME, kinds, log_of
from tests.standing_sections import standing_sections
from tools.runs.runner import Runner
from tools.sessions.checkpoints import OUTSIDE_STEPS
from tools.sessions.session_store import Sessions
from tools.storage.database import Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

PLACES = [
    ("repair", "decide_retrieval"),
    ("repair", "load_selected_pages"),
    ("repair", "search_segments"),
    ("repair", "search_web"),
    ("repair", "search_mcp"),
    ("repair", "grade_segments"),
    ("repair", "generate_answer"),
    ("repair", "check_claims"),
    ("repair", "rewrite_query"),
    ("repair", "assess_quality"),
    ("talk", "answer_directly"),
    ("refusal", "rewrite_query"),
    ("refusal", "abstain"),
]
FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(["__main__", "tests.postgres.preloaded"])
UNDISTURBED: dict[tuple[str, str], list[Envelope]] = {}  # how scenarios go where nobody dies


@pytest.fixture(scope="module")
async def database(shared_database_url: str) -> AsyncIterator[Database]:
    """One database for all: every run in it but the one that is killed has ended."""
    async with open_database(settings_of(shared_database_url)) as opened:
        yield opened


@pytest.fixture
async def survivor(database: Database) -> AsyncIterator[Any]:
    """Make the process that takes over, and close it."""
    made: list[Runner] = []

    def of(scenario: str, durability: str) -> Runner:
        made.append(runner_of(database, scenario, durability))
        return made[-1]

    yield of
    for runner in made:
        await runner.close()


def test_every_step_of_the_graph_has_its_crash() -> None:
    from graph.builder import build
    from tests.postgres.dying import ports

    steps = {name for name in build(ports("talk")).nodes}
    assert {step for _, step in PLACES} == steps


# Where steps are written beside later ones, what stands after a step and before the next is the same.
@pytest.mark.parametrize(("durability", "moment"), [("sync", "before"), ("sync", "after"), ("async", "before")])
@pytest.mark.parametrize(("scenario", "step"), PLACES)
async def test_a_killed_run_is_finished_by_another_process(
    database: Database, survivor: Any, scenario: str, step: str, durability: str, moment: Moment
) -> None:
    if (undisturbed := UNDISTURBED.get((scenario, durability))) is None:
        undisturbed = await answered(database, survivor(scenario, durability), scenario)
        UNDISTURBED[scenario, durability] = undisturbed
    session_id = await new_session(database)
    victim = FORKED.Process(target=die, args=(database.url, session_id, scenario, durability, step, moment))
    victim.start()
    await asyncio.to_thread(victim.join, 60)
    assert victim.exitcode == -signal.SIGKILL
    async with database.connection() as connection:
        changed = await connection.execute(
            "UPDATE runs SET lease_until = '-infinity' WHERE session_id = %s RETURNING run_id::text", [session_id]
        )
        ((run_id,),) = await changed.fetchall()  # its lease is over
    runner = survivor(scenario, durability)
    runner.take_over_abandoned()
    # A statement that the victim had sent may still renew its lease behind our backs: then it has to run out.
    async with asyncio.timeout(60):
        log = await log_of(await runner.join(ME, run_id))
    assert [envelope.seq for envelope in log] == list(range(1, len(log) + 1))
    assert kinds(log).count("run_resumed") == kinds(log).count("run_finished") == 1
    assert answer_of(log) == answer_of(undisturbed)
    again = steps(log) - steps(undisturbed)
    # Quick steps are done again with the next. Written beside later steps, other checkpoints may be missing too.
    dear = [step for step in again.elements() if step in (*OUTSIDE_STEPS, *called_a_model(undisturbed))]
    assert len(dear) <= 1 or durability == "async", again
    assert not steps(undisturbed) - steps(log)
    assert standing_sections(envelope.event for envelope in log) == answer_of(log)["sections"]
    async with database.connection() as connection:
        found = await connection.execute("SELECT count(*) FROM messages WHERE session_id = %s", [session_id])
        assert await found.fetchone() == (2,)


async def answered(database: Database, runner: Runner, scenario: str) -> list[Envelope]:
    """Ask undisturbed."""
    return await log_of(await runner.start(await new_session(database), SCENARIOS[scenario][0]))


async def new_session(database: Database) -> str:
    return (await Sessions(database, Workspaces(database)).create(ME)).session_id


def answer_of(log: list[Envelope]) -> dict[str, Any]:
    end = log[-1].event
    assert isinstance(end, RunFinished)
    return {"outcome": end.outcome, "stop_reason": end.stop_reason, **end.message}


def called_a_model(log: list[Envelope]) -> set[str]:
    end = log[-1].event
    assert isinstance(end, RunFinished)
    return {step for step, used in end.spent.items() if used["calls"]}


def steps(log: list[Envelope]) -> Counter[str]:
    return Counter(envelope.event.step for envelope in log if isinstance(envelope.event, StepStarted))
