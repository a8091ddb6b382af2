"""citewell mcp: serve the library to an MCP client over stdin and stdout."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, cast

from cli.command import awaited, identity_of, opened, settings_for
from cli.options import UserName, WorkspaceName

if TYPE_CHECKING:
    from anyio import AsyncFile


@awaited
async def mcp(workspace: WorkspaceName = None, user: UserName = None) -> None:
    """Serve the library to an MCP client, such as an assistant on this machine, over stdin and stdout.

    The client starts this command; what is not of the protocol goes to stderr.
    """
    from mcp.server.stdio import stdio_server

    from api.mcp.server import create_server
    from api.mcp.tools import Toolbox
    from api.routes.verify_routes import VerificationSlots

    settings = settings_for(workspace, user)
    identity = identity_of(settings)
    lines = cast("AsyncFile[str]", _lines_of(_take_stdin()))  # it is iterated, and nothing else
    # The streams are taken first, so that nothing that opening prints can end up among the messages.
    async with stdio_server(stdin=lines) as (incoming, outgoing), opened(settings) as citewell:
        await citewell.library.workspaces.ensure(identity.workspace)
        slots = VerificationSlots(settings.runs)
        server = create_server(lambda _: Toolbox(citewell, settings, slots, citewell.runner), lambda _: identity)
        await server.run(incoming, outgoing, server.create_initialization_options())


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
