"""The app that the LangGraph development server runs next to the graph (named in langgraph.json).

It closes the library when the server ends. It also removes a header of browsers' preflight requests to a server on
their own machine: that server's Starlette answers them with 400 even if the server allows them.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from graph.entrypoint import close_graph

PREFLIGHT_HEADER = b"access-control-request-private-network"


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
    await close_graph()


app = Starlette(lifespan=_lifespan, middleware=[Middleware(WithoutPrivateNetworkPreflight)])
