"""What langgraph.json names: the graph, and an app that LangGraph's development server runs next to it.

The app closes the library when the server ends. It also removes a header of browsers' preflight requests to a server on
their own machine: that server's Starlette answers them with 400 even if the server allows them.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.stream.transformers import CustomTransformer, UpdatesTransformer
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from api.studio.chat_steps import ChatSteps
from graph.builder import build
from tools.process.library import Library, open_library
from tools.runs.executor import Graph
from tools.settings import load_settings

PREFLIGHT_HEADER = b"access-control-request-private-network"


class _Opened:
    """The library of this process, and the graph over it."""

    def __init__(self) -> None:
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._library: Library | None = None
        self.graph: Graph | None = None

    async def library(self) -> Library:
        """Return the library, opened at the first call."""
        async with self._opening:
            if self._library is None:
                settings = await asyncio.to_thread(load_settings)
                self._library = await self._stack.enter_async_context(open_library(settings))
            return self._library

    async def close(self) -> None:
        """Close the library if it was opened."""
        async with self._opening:
            await self._stack.aclose()
            self._library = self.graph = None


_opened = _Opened()


async def opened_library() -> Library:
    """Return this process's library, opened at the first call of this or of ``make_graph``."""
    return await _opened.library()


def library_graph(library: Library, *, checkpointer: BaseCheckpointSaver[str] | None = None) -> Graph:
    """Return the compiled graph over an open library, which takes and gives messages.

    It runs on the event loop that opened the library. Without a checkpointer it remembers no question.
    """
    graph = build(library.resources, around=ChatSteps(library.resources))
    # Without these, clients of the event-streaming protocol get neither our events nor the nodes' updates.
    return graph.compile(checkpointer=checkpointer, transformers=[CustomTransformer, UpdatesTransformer])


async def make_graph() -> Graph:
    """Return the compiled graph over this process's library, opened at the first call.

    The LangGraph server calls its factory for every run, state read and schema read, and brings its own checkpointer.
    """
    library = await _opened.library()
    if _opened.graph is None:
        _opened.graph = library_graph(library)
    return _opened.graph


class WithoutPrivateNetworkPreflight:
    """Middleware that removes the private-network header from preflight requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on without the header."""
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            kept = [(name, value) for name, value in scope["headers"] if name != PREFLIGHT_HEADER]
            scope = {**scope, "headers": kept}
        await self._app(scope, receive, send)


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    yield
    await _opened.close()


app = Starlette(lifespan=_lifespan, middleware=[Middleware(WithoutPrivateNetworkPreflight)])
