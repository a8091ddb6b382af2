"""Wait for each thing of a stream, but not for ever, never past the run's seconds, and never past a cancellation."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

from graph.spending import Meter

T = TypeVar("T")


async def within(seconds: float, stream: AsyncGenerator[T, None], *, meter: Meter) -> AsyncGenerator[T, None]:
    """Give what comes, for as long as the meter has seconds left.

    Raises TimeoutError where one thing takes longer than ``seconds``, BudgetExhausted where the meter's time is up
    before. Each wait has a bound of its own, since a bound around them all would also cancel whoever reads the
    stream, between two things. Not by ``asyncio.wait_for``: on Python 3.11 it loses a cancellation that comes together
    with what it waits for.
    """
    while True:
        left = meter.remaining()
        if left == 0:
            raise meter.spent("seconds")
        try:
            async with asyncio.timeout(seconds if left is None else min(seconds, left)) as bound:
                found = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            if bound.expired() and left is not None and left <= seconds:
                raise meter.spent("seconds") from None
            raise
        yield found
