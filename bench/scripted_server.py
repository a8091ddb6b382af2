"""Our API over the scripted writer, on a free port of loopback: ``python -m bench.scripted_server``."""

import asyncio
import gc
import json
import socket

import uvicorn
import uvloop

from api.app import create_app
from bench.scripted_library import open_scripted_library
from graph.entrypoint import open_runner
from tools.settings import load_settings

BACKLOG = 2048


async def main() -> None:
    """Serve until a signal comes, as ``citewell serve`` does."""
    settings = load_settings()
    async with open_scripted_library(settings) as library, open_runner(library, settings) as citewell:
        await library.workspaces.ensure(settings.workspace)
        app = create_app(settings, citewell=citewell)
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        gc.collect()  # this and what follows as citewell serve does
        gc.freeze()
        gc.set_threshold(10_000)
        with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listening:
            print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
            await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        loop.run(main())
