"""Run a few tasks at a time, cancel tasks and wait for their end, and finish what a cancel must not interrupt."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

CANCEL_AGAIN_SECONDS = 0.5

T = TypeVar("T")
Item = TypeVar("Item")


async def cancel_and_wait(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until all are done, and ignore their exceptions.

    One cancel is not enough: on Python 3.11 a task that waits for a lock or for the database may miss a cancel.
    """
    while waiting := [task for task in tasks if not task.done()]:
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting, timeout=CANCEL_AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # retrieved, or asyncio logs that it never was


async def finish_then_cancel(work: Coroutine[Any, Any, T]) -> T:
    """Finish short work that must not be interrupted, and raise a cancellation only after it is done.

    However often it is cancelled meanwhile: ``cancel_and_wait`` cancels again while a database is slow.
    """
    task = asyncio.ensure_future(work)
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            is_cancelled = True
    if not is_cancelled:
        return task.result()
    if not task.cancelled():
        task.exception()  # retrieved, or asyncio logs that it never was
    raise asyncio.CancelledError


async def shield_until_done(work: Coroutine[Any, Any, T]) -> T:
    """Finish work and return its result, however often the waiting task is cancelled; cancellations are dropped."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    return task.result()


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
