"""A real uvicorn on loopback, in the test's own event loop."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn


class LoopServer(uvicorn.Server):
    """A server that leaves the process's signals alone, and ends as soon as it is told to."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)  # it dates the replies
        await self.ended.wait()
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for connections and requests only where there are any: uvicorn itself waits a tenth of a second."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await asyncio.sleep(0)  # what is closed reports it
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for each in sockets or []:
            each.close()
        await self.lifespan.shutdown()


def _listening() -> socket.socket:
    """Listen on a port of its own.

    The socket says that it is TCP, as those do that uvicorn opens: asyncio turns Nagle's algorithm off for no other,
    and a reply of two writes would then wait 40 ms for the client's delayed acknowledgement.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    return listening


@asynccontextmanager
async def served(app: Any, *, http: Any = "auto", configured: uvicorn.Config | None = None) -> AsyncIterator[str]:
    """Serve an ASGI app, as it is configured or as tests do, by a protocol of its own if one is given.

    Gives its address.
    """
    listening = _listening()
    # Clients drop idle connections after 5 s; a server that did so too could close one just taken up again.
    config = configured or uvicorn.Config(
        app, http=http, log_level="warning", lifespan="on", timeout_graceful_shutdown=5, timeout_keep_alive=120
    )
    server = LoopServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.ended.set()
        await serving


@asynccontextmanager
async def client_of(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Serve an app and give a client of it, without any proxy of the environment."""
    async with served(app) as url, httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client:
        yield client
