"""Let other tasks of the event loop run, so that what was emitted leaves before work begins that holds the loop."""

import asyncio

TURNS = 16  # of the event loop: a response takes about as many to begin, and a batch of events to be sent to its log


async def yield_to_event_loop() -> None:
    """Let the tasks go first that wait for a turn."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
