"""How tasks are brought to an end."""

import asyncio
from typing import Any

AGAIN_SECONDS = 0.5


async def cease(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until all are done, whatever they end with.

    Once is not enough: on Python 3.11 a task that waits for a lock or for the database may miss a cancel.
    """
    while waiting := [task for task in tasks if not task.done()]:
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting, timeout=AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # asked for, so that it is not said to have been overlooked
