"""Our API over the scripted writer, on a free port of loopback: ``python -m bench.scripted_server``."""

import asyncio
import json
import socket

import uvicorn
import uvloop

from api.app import create_app
from bench.scripted_library import open_scripted_library
from graph.builder import build
from graph.entrypoint import Citewell
from tools.runner import Runner
from tools.settings import load_settings

BACKLOG = 2048


async def main() -> None:
    """Serve until a signal comes, as ``citewell serve`` does."""
    settings = load_settings()
    async with open_scripted_library(settings) as library:
        await library.workspaces.ensure(settings.workspace)
        graph = build(library.resources).compile()
        runner = Runner(graph, library.resources, library.database, library.workspaces)
        app = create_app(settings, citewell=Citewell(library, runner))
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listening:
            print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
            await uvicorn.Server(config).serve(sockets=[listening])
        await runner.close()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(main())
