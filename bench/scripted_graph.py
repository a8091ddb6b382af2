"""The same graph with the same writer for ``langgraph dev``, whose langgraph.json names this module."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from langgraph.stream.transformers import CustomTransformer, UpdatesTransformer
from starlette.applications import Starlette

from bench.libraries import open_scripted_library
from graph.builder import build
from tools.settings import load_settings

CONFIGURATION = {
    "dependencies": ["."],
    "graphs": {"citewell": "bench.scripted_graph:make_graph"},
    "http": {"app": "bench.scripted_graph:app"},
    "env": {"LANGSMITH_TRACING": "false"},
    "python_version": "3.11",
}
_opened = AsyncExitStack()
_opening = asyncio.Lock()
_graph: Any = None


async def make_graph() -> Any:
    """Return the compiled graph, opened at the first call, as api.studio.graph_server does for ``make studio``."""
    global _graph
    async with _opening:
        if _graph is None:
            settings = await asyncio.to_thread(load_settings)
            library = await _opened.enter_async_context(open_scripted_library(settings))
            _graph = build(library.resources).compile(transformers=[CustomTransformer, UpdatesTransformer])
    return _graph


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    yield
    await _opened.aclose()


app = Starlette(lifespan=_lifespan)
