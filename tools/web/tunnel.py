"""A way to one checked address for a program that resolves hosts itself, such as git.

The program is told that this is its proxy. Whichever host it asks for, it is connected to that address, and speaks TLS
with it: a host of another name has no certificate for it. What it fetches goes through a loop of its own in a thread of
its own, so that a large repository holds up nobody else.
"""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, closing, suppress
from typing import Any

from tools.concurrency.tasks import cancel_and_wait, finish_then_cancel
from tools.web.guard import PORTS, Target

CONNECT_SECONDS = 10.0  # to each address of a host
_PIECE = 1 << 16


@asynccontextmanager
async def opened_tunnel(target: Target) -> AsyncIterator[str]:
    """Open an HTTP proxy on this machine that leads to a target alone; yield its address. It ends with the block."""
    listener = socket.create_server(("127.0.0.1", 0))
    loop, ended = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=_run, args=(loop, _serve(target, listener, ended)), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(ended.set)
        await finish_then_cancel(asyncio.to_thread(thread.join))


def _run(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None]) -> None:
    with closing(loop):
        loop.run_until_complete(work)


async def _serve(target: Target, listener: socket.socket, ended: asyncio.Event) -> None:
    port = target.url.port or PORTS[target.url.scheme]
    open_ends: set[asyncio.Task[None]] = set()

    async def serve(program: asyncio.StreamReader, to_program: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_ends.add(task)
        task.add_done_callback(open_ends.discard)
        try:
            with suppress(OSError, EOFError, asyncio.LimitOverrunError):
                if (await program.readuntil(b"\r\n\r\n")).startswith(b"CONNECT "):
                    await _connect(program, to_program, target.addresses, port)
        finally:
            to_program.close()

    server = await asyncio.start_server(serve, sock=listener)
    await ended.wait()
    server.close()
    await cancel_and_wait(*open_ends)


async def _connect(
    program: asyncio.StreamReader, to_program: asyncio.StreamWriter, addresses: Sequence[str], port: int
) -> None:
    """Connect a program to the first address that answers, and pass on what both say until one of them ends."""
    for address in addresses:
        with suppress(OSError):
            async with asyncio.timeout(CONNECT_SECONDS):
                host, to_host = await asyncio.open_connection(address, port)
            break
    else:
        to_program.write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
        return
    try:
        to_program.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        await asyncio.gather(_pass_on(program, to_host), _pass_on(host, to_program))
    finally:
        to_host.close()


async def _pass_on(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            to.write(piece)
            await to.drain()
    to.close()
