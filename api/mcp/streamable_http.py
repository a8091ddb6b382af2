"""The MCP server over streamable HTTP, by the official SDK, which takes half a second to import.

No call depends on one before it, so any process can take any of them. A session id is given out all the same: a client
of the older protocol cancels a call by a second request, which names the call only together with that id. In the newer
one it closes the stream.
"""

from typing import Any

import anyio
import mcp_types as types
from fastapi import FastAPI
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from api.body_limits import BODY_BYTES
from api.dependencies import granted_runner
from api.mcp.server import create_server
from api.mcp.tools import Toolbox
from graph.evidence import Identity

SESSION_HEADER = "mcp-session-id"
CANCELLED = "notifications/cancelled"

Key = tuple[str, str, str, str]


def create_manager(app: FastAPI) -> StreamableHTTPSessionManager:
    """Return the SDK's handler of the messages that an app gets."""
    state = app.state

    def box(context: ServerRequestContext[Any, Any]) -> Toolbox:
        assert context.request is not None
        asking = context.request.state
        return Toolbox(
            state.citewell,
            state.settings,
            state.verification_turns,
            granted_runner(context.request),
            state.settings.public_url or str(context.request.base_url),
            asking.grant.rights_in(asking.identity.workspace).scopes,
            asking.audited,
        )

    server = create_server(box, identity_of)
    server.middleware.append(Cancellations())
    return StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=BODY_BYTES)


def identity_of(context: ServerRequestContext[Any, Any]) -> Identity:
    """Return the identity of the HTTP request that brought a message."""
    assert context.request is not None
    identity: Identity = context.request.state.identity
    return identity


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
            # Without a session, the ids of strangers who share an identity are the same small numbers.
            if call is not None and (_session(ctx) or not identity_of(ctx).is_shared):
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
    return me.workspace, me.user, _session(context), f"{type(request_id).__name__}:{request_id}"


def _session(context: ServerRequestContext[Any, Any]) -> str:
    return context.request.headers.get(SESSION_HEADER, "") if context.request is not None else ""
