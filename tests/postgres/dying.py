"""A process that kills itself in the middle of a run, at a step that the test names.

The steps are those of the graph; where they are to die, they are wrapped. Everything else is what a server runs.
"""

import asyncio
import os
import signal
from collections.abc import Mapping
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import SecretStr

from graph import builder
from graph.context import Context
from graph.ports import Resources
from graph.state import State
from tests.fakes import (
    MemoryLibrary,
    MemoryMcp,
    MemoryWeb,
    ScriptedFamily,
    ScriptedRewriter,
    WordJudge,
    resources,
    segment,
)
from tests.graph.asking import LEAVE, PAY
from tests.graph.wrong_answers import QUESTION, RIGHT, writer
from tools.runs.runner import Runner
from tools.sessions.run_request import RunRequest
from tools.settings import RunSettings, Settings
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

Moment = Literal["before", "after"]
WEB = segment("web", 0, "Penguins are paid in fish.")

# By the steps that they reach: a question, what it is asked with, and the answers that the writer is scripted for.
SCENARIOS: dict[str, tuple[RunRequest, bool]] = {
    "repair": (RunRequest(QUESTION, Context(web="also"), page_ids=("handbook",)), True),
    "talk": (RunRequest("hello", Context()), False),
    "refusal": (RunRequest("zebras", Context(min_score=0.9)), False),
}


def ports(scenario: str) -> Resources:
    """Give the ports of a scenario, the same in every process."""
    library = MemoryLibrary([LEAVE, PAY, WEB])
    family = writer([RIGHT]) if scenario == "repair" else ScriptedFamily()
    return resources(
        library,
        family,
        rewriter=ScriptedRewriter(["zebra"]),
        judge=WordJudge(),
        web=MemoryWeb(library, [WEB]),
        mcp=MemoryMcp(library),
    )


def runner_of(database: Any, scenario: str, durability: Any) -> Runner:
    """Make the runner of a process that answers a scenario."""
    of = ports(scenario)
    settings = RunSettings(drain_seconds=0)
    return Runner(builder.build(of).compile(), of, database, Workspaces(database), settings, durability=durability)


def die(url: str, session_id: str, scenario: str, durability: str, step: str, moment: Moment) -> None:
    """Ask a scenario's question, and be killed at a step, before it does anything or after it has done all."""
    whole = builder.step

    def deadly(name: str, *rest: Any) -> Any:
        run = whole(name, *rest)
        if name != step:
            return run

        async def run_step(state: State, runtime: Runtime[Context]) -> Mapping[str, Any]:
            if moment == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            update = await run(state, runtime)
            os.kill(os.getpid(), signal.SIGKILL)
            return update

        run_step.__name__ = name
        return run_step

    builder.step = deadly
    asyncio.run(_ask(url, session_id, scenario, durability))


def settings_of(url: str) -> Settings:
    """Give the settings of every process here."""
    return Settings(_env_file=None, database_url=SecretStr(url), pool_size=4)


async def _ask(url: str, session_id: str, scenario: str, durability: str) -> None:
    async with open_database(settings_of(url)) as database:
        runner = runner_of(database, scenario, durability)
        run = await runner.start(session_id, SCENARIOS[scenario][0])
        await run.finished()
