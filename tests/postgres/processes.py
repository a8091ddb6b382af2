"""Processes that share a database, as far as runs can tell: runners of their own, each with its own connections."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from graph.builder import build
from graph.context import Context
from graph.events import Envelope
from graph.evidence import Identity
from tests.fakes import MemoryLibrary, ScriptedFamily, resources, segment
from tools.process.engines import carriers_of
from tools.runs.live_run import Run
from tools.runs.runner import Runner
from tools.sessions.run_request import RunReader, RunRequest
from tools.sessions.session_store import Sessions
from tools.sessions.titles import SessionTitler
from tools.settings import RunSettings, Settings
from tools.storage.database import Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

ME = Identity()
LEAVE = segment("handbook", 0, "Staff get 25 days of annual leave.")


class Process:
    """A runner over fakes, with a pool of connections that no other process has."""

    def __init__(
        self,
        database: Database,
        family: ScriptedFamily,
        settings: RunSettings,
        titling: SessionTitler | None = None,
        durability: Any = None,
    ) -> None:
        self.database = database
        self.family = family
        ports = resources(MemoryLibrary([LEAVE]), family)
        self.runner = Runner(
            build(ports).compile(),
            ports,
            database,
            Workspaces(database),
            settings,
            durability=durability,
            titling=titling,
            carriers=carriers_of(settings),
        )

    async def session(self) -> str:
        return (await Sessions(self.database, Workspaces(self.database)).create(ME)).session_id

    async def ask(
        self, session_id: str, question: str = "annual leave", *, context: Context | None = None, **fields: Any
    ) -> Run:
        return await self.runner.start(session_id, RunRequest(question, context or Context(), **fields))

    async def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(query, values)).fetchall()


@asynccontextmanager
async def process(
    settings: Settings,
    family: ScriptedFamily | None = None,
    *,
    durability: Any = None,
    titling: Any = None,
    **runs: Any,
) -> AsyncIterator[Process]:
    async with open_database(settings) as database:
        limits = RunSettings(**{"drain_seconds": 0, **runs})
        opened = Process(database, family or ScriptedFamily(), limits, titling, durability)
        try:
            yield opened
        finally:
            await opened.runner.close()


async def log_of(run: RunReader, after: int = 0) -> list[Envelope]:
    return [envelope async for envelope in run.events(after)]


def kinds(log: list[Envelope]) -> list[str]:
    return [envelope.event.type for envelope in log]
