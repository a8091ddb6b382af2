"""Retry work while the database is unavailable."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from graph.errors import DatabaseUnavailable

T = TypeVar("T")

PATIENCE_SECONDS = 20.0
RETRY_SECONDS = 0.1


async def retry_while_unavailable(
    work: Callable[[], Awaitable[T]], *, unless: Callable[[], object] = lambda: None
) -> T:
    """Run work that needs the database, and retry it while the database is unavailable.

    Work whose reply was lost is done twice, so it must be idempotent. Raises DatabaseUnavailable where the database
    stays unavailable for 20 seconds, or fails while ``unless`` returns something true.
    """
    until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while True:
        try:
            return await work()
        except DatabaseUnavailable:
            if unless() or asyncio.get_running_loop().time() > until:
                raise
            await asyncio.sleep(RETRY_SECONDS)
