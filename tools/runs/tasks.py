"""Cancel asyncio tasks reliably, and shield work that must not be interrupted."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

CANCEL_AGAIN_SECONDS = 0.5

T = TypeVar("T")


async def cancel_and_wait(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until all are done, whatever they end with.

    Once is not enough: on Python 3.11 a task that waits for a lock or for the database may miss a cancel.
    """
    while waiting := [task for task in tasks if not task.done()]:
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting, timeout=CANCEL_AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # asked for, so that it is not said to have been overlooked


async def finish_then_cancel(work: Coroutine[Any, Any, T]) -> T:
    """Finish work of moments that leaves a mess where it is cut off, and let a cancel have its way only then."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # asked for, so that it is not said to have been overlooked
        raise


async def shield_until_done(work: Coroutine[Any, Any, T]) -> T:
    """Finish work however often the task that waits for it is cancelled: a cancel that comes now comes too late."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    return task.result()
