"""Wait for each thing of a stream, but not for ever, and never past a cancellation."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

T = TypeVar("T")


async def within(seconds: float, stream: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Give what comes, and raise TimeoutError where one thing takes longer than ``seconds``.

    Not by ``asyncio.wait_for``: on Python 3.11 it loses a cancellation that comes together with what it waits for.
    """
    while True:
        try:
            async with asyncio.timeout(seconds):
                found = await anext(stream)
        except StopAsyncIteration:
            return
        yield found
