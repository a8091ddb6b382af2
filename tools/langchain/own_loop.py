"""Work on the event loop of another thread, awaited on any other loop or waited for by synchronous code."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def wait_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Do work on a loop and block until it is done.

    Raises RuntimeError on the loop itself, which would wait for itself, and what the work raises.
    """
    if asyncio._get_running_loop() is loop:
        work.close()
        raise RuntimeError("This would wait for itself: await the asynchronous method instead.")
    doing = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return doing.result()
    finally:
        doing.cancel()  # where the wait was interrupted


async def await_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """Do work on a loop, and await it on the running one. Raises what the work raises."""
    if asyncio.get_running_loop() is loop:
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))
