"""Give way on the event loop: what was emitted leaves before work begins that holds the loop for milliseconds."""

import asyncio

TURNS = 16  # of the event loop: a response takes about as many to begin, and a batch of events to be sent to its log


async def give_way() -> None:
    """Let the tasks go first that wait for a turn."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
