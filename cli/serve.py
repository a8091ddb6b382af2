"""citewell serve and mcp: serve the library over HTTP, or to an MCP client over stdin and stdout."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cli.command import Exit, awaited, identity_of, opened, run, settings_for
from cli.options import AsJson, UserName, WorkspaceName

if TYPE_CHECKING:
    from anyio import AsyncFile

Host = Annotated[str | None, typer.Option(help="The address to listen on; default: CITEWELL_HOST.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, help="The port, 0 for a free one; default: CITEWELL_PORT.")]


def serve(host: Host = None, port: Port = None, workspace: WorkspaceName = None, as_json: AsJson = False) -> None:
    """Serve the page and the HTTP API until interrupted.

    Without authentication, requests choose among all workspaces and are served in this one if they choose none.
    """
    import uvloop

    run(_serve(host, port, workspace, as_json), as_json=as_json, loop_factory=uvloop.new_event_loop)


async def _serve(host: str | None, port: int | None, workspace: str | None, as_json: bool) -> Exit:
    from cli.http_server import serve_app

    settings = settings_for(workspace)
    overrides = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    await serve_app(settings.model_copy(update=overrides), as_json=as_json)
    return Exit.OK


@awaited
async def mcp(workspace: WorkspaceName = None, user: UserName = None) -> None:
    """Serve the library to an MCP client, such as an assistant on this machine, over stdin and stdout.

    The client starts this command; what is not of the protocol goes to stderr.
    """
    from anyio import BrokenResourceError
    from mcp.server.stdio import stdio_server

    from api.mcp.server import create_server
    from api.mcp.tools import Toolbox
    from api.routes.verify_routes import verification_turns

    settings = settings_for(workspace, user)
    identity = identity_of(settings)
    lines = cast("AsyncFile[str]", _lines_of(_take_stdin()))  # it is iterated, and nothing else
    # The streams are taken first, so that nothing that opening prints can end up among the messages.
    try:
        async with stdio_server(stdin=lines) as (incoming, outgoing), opened(settings) as citewell:
            await citewell.library.workspaces.ensure(identity.workspace)
            turns = verification_turns(settings.runs)
            box = Toolbox(citewell, settings, turns, citewell.runner, settings.public_url or "")
            server = create_server(lambda _: box, lambda _: identity)
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* (BrokenPipeError, BrokenResourceError):
        pass  # the client has left, and waits for no reply


def _take_stdin() -> int:
    """Return a descriptor of stdin that is ours alone; processes that this one starts have none to read from."""
    taken = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    return taken


async def _lines_of(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines that a descriptor gives.

    A thread of its own reads them, which may be left: a read that waits can't be cancelled, and would keep a command
    that is told to stop.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        with open(descriptor, encoding="utf-8", errors="replace", closefd=False) as stream:
            for line in stream:
                loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line
