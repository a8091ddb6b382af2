"""Do many things, a few at once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


async def each_in_flight(items: Iterable[Item], do: Callable[[Item], Awaitable[None]], *, at_once: int) -> None:
    """Do something with each item, in order, with so many of them in flight.

    Where one fails the others are cancelled, and its exception is raised.
    """
    waiting = iter(items)

    async def take_next() -> None:
        for item in waiting:
            await do(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(take_next())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
