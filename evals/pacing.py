"""How many items of an evaluation run at once, how long one waits for a connection, and how progress is reported."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from tools.settings import Settings

Progress = Callable[[int, int], None]  # what is done, of how much

Item = TypeVar("Item")


async def for_each_concurrently(items: Iterable[Item], do: Callable[[Item], Awaitable[None]], *, at_once: int) -> None:
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


POOL_TIMEOUT_SECONDS = 30.0  # seconds; a deployment tells its callers sooner that it is too busy


def with_long_pool_timeout(settings: Settings) -> Settings:
    """Return the settings with which a question waits its turn for a connection to the database."""
    return settings.model_copy(update={"pool_timeout_seconds": POOL_TIMEOUT_SECONDS})
