"""Pacing of an evaluation: bounded concurrency, the wait for a connection, and progress reports."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from tools.settings import Settings

Progress = Callable[[int, int], None]  # done, total

Item = TypeVar("Item")


async def for_each_concurrently(items: Iterable[Item], do: Callable[[Item], Awaitable[None]], *, at_once: int) -> None:
    """Process the items in order, at most ``at_once`` of them at a time.

    If one fails, the others are cancelled and its exception is raised.
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


POOL_TIMEOUT_SECONDS = 30.0  # a deployment reports sooner that it is overloaded


def with_long_pool_timeout(settings: Settings) -> Settings:
    """Return the settings with a long timeout, so that a question waits for a database connection."""
    return settings.model_copy(update={"pool_timeout_seconds": POOL_TIMEOUT_SECONDS})
