"""Entry points that open and close Citewell for a process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from graph.builder import build
from graph.ports import Resources
from tools.library.library import Library, open_library
from tools.runs.executor import Durability, Graph
from tools.runs.runner import Runner
from tools.sessions.titles import SessionTitler
from tools.settings import Settings


@dataclass(frozen=True, slots=True)
class Citewell:
    """A library, the graph over it, and the runner that answers questions with that graph."""

    library: Library
    runner: Runner
    graph: Graph


@asynccontextmanager
async def open_citewell(settings: Settings, *, durability: Durability | None = None) -> AsyncIterator[Citewell]:
    """Open the library and the graph over it; runs still active at close are left for another process to resume."""
    async with open_library(settings) as library, open_runner(library, settings, durability=durability) as citewell:
        yield citewell


@asynccontextmanager
async def open_runner(
    library: Library,
    settings: Settings,
    *,
    durability: Durability | None = None,
    resources: Resources | None = None,
) -> AsyncIterator[Citewell]:
    """Open the graph over an open library, and the runner; ``resources`` replace the library's ports."""
    resources = resources or library.resources
    graph = build(resources).compile()
    titling = SessionTitler(library.database, resources.families) if settings.auto_title else None
    runner = Runner(
        graph,
        resources,
        library.database,
        library.workspaces,
        settings.runs,
        durability=durability,
        titling=titling,
        spending=library.spending,
    )
    library.job_worker.give_way_to(lambda: runner.is_answering)
    try:
        yield Citewell(library, runner, graph)
    finally:
        await runner.close()
