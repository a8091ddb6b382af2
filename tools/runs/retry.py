"""Retry work while the database is away: a restart or a failover costs a run time, not its answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from graph.errors import DatabaseUnavailable

PATIENCE_SECONDS = 20.0
RETRY_SECONDS = 0.1

T = TypeVar("T")


async def retry_while_unavailable(
    work: Callable[[], Awaitable[T]], *, unless: Callable[[], object] = lambda: None
) -> T:
    """Do what needs the database, and do it again while that is away.

    Work whose answer was lost is done twice, so twice must do no harm. Raises DatabaseUnavailable where the database
    stays away for 20 seconds, or fails while ``unless`` says that there is no time to wait.
    """
    until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while True:
        try:
            return await work()
        except DatabaseUnavailable:
            if unless() or asyncio.get_running_loop().time() > until:
                raise
            await asyncio.sleep(RETRY_SECONDS)
