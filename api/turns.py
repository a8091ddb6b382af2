"""Turns of what a process works on beside its runs, handed out only as long as their clients wait for them."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from api.stream import client_left
from graph.errors import Overloaded
from tools.concurrency.tasks import cancel_and_wait

T = TypeVar("T")


class Turns:
    """Turns of one kind of work, ``at_once`` at a time, which are handed out in the order of the requests."""

    def __init__(self, work: str, *, at_once: int, most_waiting: int) -> None:
        self._work = work
        self._at_once = at_once
        self._most_waiting = most_waiting
        self._waiting = 0
        self._free = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn and hold it. Raises Overloaded where too many wait already."""
        if self._free.locked() and self._waiting >= self._most_waiting:
            raise Overloaded(
                f"{self._at_once} {self._work} are active and {self._waiting} are waiting; "
                "this process accepts no more."
            )
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()


async def while_awaited(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return what work for a request whose body is read comes to, and cancel it if the client leaves before.

    Raises what the work raises, and ClientDisconnect.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(client_left(request.receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return await working
    finally:
        await cancel_and_wait(working, leaving)
