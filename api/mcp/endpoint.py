"""``/mcp``: the MCP server over streamable HTTP, behind the middleware of every other route.

No call depends on one before it, so any process can take any of them. A session id is still given out: a client of the
older protocol cancels a call by a second request, which names the call only together with that id. In the newer one it
closes the stream.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import anyio
import mcp_types as types
from fastapi import FastAPI
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from api.mcp.server import create_server
from api.mcp.tools import Toolbox
from api.middleware import BODY_BYTES
from api.problems import problem
from graph.evidence import Identity

PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"
LONGEST_SESSION_ID = 200
CANCELLED = "notifications/cancelled"

Key = tuple[str, str, str, str]


class Cancellations:
    """The calls in progress of this process, by who made them, in which session, under which id."""

    def __init__(self) -> None:
        self._calls: dict[Key, anyio.CancelScope] = {}

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Run a call so that it can be cancelled, or cancel the one that a notification names.

        Raises MCPError in the place of a call that was cancelled.
        """
        if ctx.method == CANCELLED:
            call = self._calls.get(_key(ctx, (ctx.params or {}).get("requestId")))
            if call is not None:
                call.cancel()
            return await call_next(ctx)
        if ctx.method != "tools/call":
            return await call_next(ctx)
        key = _key(ctx, ctx.request_id)
        with anyio.CancelScope() as scope:
            self._calls[key] = scope
            try:
                return await call_next(ctx)
            finally:
                if self._calls.get(key) is scope:
                    del self._calls[key]
        raise MCPError(types.INTERNAL_ERROR, "The call was cancelled.")


def _key(context: ServerRequestContext[Any, Any], request_id: Any) -> Key:
    me = identity_of(context)
    session = context.request.headers.get(SESSION_HEADER, "") if context.request is not None else ""
    return me.workspace, me.user, session, f"{type(request_id).__name__}:{request_id}"


def identity_of(context: ServerRequestContext[Any, Any]) -> Identity:
    """Return the identity of the HTTP request that brought a message."""
    assert context.request is not None
    identity: Identity = context.request.state.identity
    return identity


class McpEndpoint:
    """The ASGI application behind ``/mcp``. It takes POST alone: there is nothing that a server has to say unasked."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a message, with a new session id where it names none."""
        if scope["method"] != "POST":
            response: Response = problem(
                "invalid_request",
                "Messages are sent to /mcp by POST.",
                "Send a JSON-RPC message by POST; there is no stream to open and no session to delete.",
                status=HTTPStatus.METHOD_NOT_ALLOWED,
                headers={"Allow": "POST"},
            )
            await response(scope, receive, send)
            return
        given = Headers(scope=scope).get(SESSION_HEADER)
        if given is not None and len(given) > LONGEST_SESSION_ID:
            response = problem(
                "invalid_request", f"{SESSION_HEADER}: it is too long.", "Use the id that you were given."
            )
            await response(scope, receive, send)
            return

        async def with_session(message: Message) -> None:
            if message["type"] == "http.response.start" and given is None:
                MutableHeaders(raw=message["headers"])[SESSION_HEADER] = uuid4().hex
            await send(message)

        manager: StreamableHTTPSessionManager = scope["app"].state.mcp
        await manager.handle_request(scope, receive, with_session)


@asynccontextmanager
async def serve_mcp(app: FastAPI) -> AsyncIterator[None]:
    """Serve ``/mcp`` of an app for as long as it runs."""
    state = app.state
    server = create_server(lambda: Toolbox(state.citewell, state.settings, state.verification_slots), identity_of)
    server.middleware.append(Cancellations())
    manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=BODY_BYTES)
    state.mcp = manager
    async with manager.run():
        yield


def mount_mcp(app: FastAPI) -> None:
    """Mount ``/mcp``; its messages are described by the protocol itself, so the OpenAPI document leaves it out."""
    app.router.routes.append(Route(PATH, McpEndpoint(), methods=None, include_in_schema=False))
