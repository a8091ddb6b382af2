"""``/mcp``: the MCP server over streamable HTTP, behind the middleware of every other route.

The SDK is imported for the first message, so that a service that gets none starts without it.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING
from uuid import uuid4

from fastapi import FastAPI
from pydantic import ValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from api.dependencies import needs
from api.problems import problem
from graph.errors import ServerStopping

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"  # which the first message of the older protocol lacks
LONGEST_SESSION_ID = 200


class McpEndpoint:
    """The ASGI application behind ``/mcp``. It takes POST alone: there is nothing that a server has to say unasked."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a message, with a session id where it opens a session."""
        scope["state"]["audited"].is_late = True
        headers = Headers(scope=scope)
        if len(headers.get(SESSION_HEADER, "")) > LONGEST_SESSION_ID:
            response = problem(
                "invalid_request", f"{SESSION_HEADER}: it is too long.", "Use the id that you were given."
            )
            await response(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        if (refusal := await asyncio.to_thread(_refusal, body)) is not None:
            await refusal(scope, receive, send)
            return
        opens = SESSION_HEADER not in headers and VERSION_HEADER not in headers
        unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Message:
            return unread.pop() if unread else await receive()

        async def with_session(message: Message) -> None:
            if message["type"] == "http.response.start" and opens:
                MutableHeaders(raw=message["headers"])[SESSION_HEADER] = uuid4().hex
            await send(message)

        messages: McpMessages = scope["app"].state.mcp
        manager = await messages.manager()
        await manager.handle_request(scope, receive_again, with_session)


def _refusal(body: bytes) -> Response | None:
    """Return the reply to what is no JSON-RPC message, which the SDK would answer in the words of its validation."""
    from mcp_types.jsonrpc import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter

    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return _error(PARSE_ERROR, "The body is not JSON.")
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        return _error(INVALID_REQUEST, "The body is not a JSON-RPC 2.0 message.")
    return None


def _error(code: int, message: str) -> Response:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return JSONResponse(error, HTTPStatus.BAD_REQUEST)


class McpMessages:
    """The SDK's handler of an app's messages, opened by the first of them."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._stopping = asyncio.Event()
        self._opened: asyncio.Future[StreamableHTTPSessionManager] = asyncio.get_running_loop().create_future()
        self._serving: asyncio.Task[None] | None = None

    async def manager(self) -> "StreamableHTTPSessionManager":
        """Return the open handler. Raises ServerStopping."""
        if self._stopping.is_set():
            raise ServerStopping("The server is stopping.")
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        return await asyncio.shield(self._opened)

    async def close(self) -> None:
        """End the calls in progress."""
        self._stopping.set()
        if self._serving is not None:
            await self._serving

    async def _serve(self) -> None:
        """Keep the handler open in one task, since the SDK's task group must be left by the task that entered it."""
        try:
            manager = await asyncio.to_thread(_new_manager, self._app)
            async with manager.run():
                self._opened.set_result(manager)
                await self._stopping.wait()
        except Exception as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)


def _new_manager(app: FastAPI) -> "StreamableHTTPSessionManager":
    from api.mcp.streamable_http import create_manager

    return create_manager(app)


@asynccontextmanager
async def serve_mcp(app: FastAPI) -> AsyncIterator[None]:
    """Serve ``/mcp`` of an app for as long as it runs."""
    app.state.mcp = McpMessages(app)
    try:
        yield
    finally:
        await app.state.mcp.close()


def mount_mcp(app: FastAPI) -> None:
    """Mount ``/mcp``; its messages are described by the protocol itself, so the OpenAPI document leaves it out."""
    endpoint = needs("ask", "read", action="read")(McpEndpoint())  # each tool says itself which of them
    app.router.routes.append(Route(PATH, endpoint, methods=["POST"], include_in_schema=False))
