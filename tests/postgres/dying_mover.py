"""A process that moves a workspace, and is killed before or after one of its statements."""

import asyncio
import os
import signal
from typing import Any, Literal

import psycopg

from tools.moves.moving import MoveLimits, opened_move

Moment = Literal["before", "after"]


def move_and_die(source: str, target: str, name: str, part: str, moment: Moment, nth: int) -> None:
    """Move a workspace, and be killed at the nth statement that holds ``part``."""
    execute = psycopg.AsyncConnection.execute
    seen = 0

    async def deadly(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal seen
        told = (
            query if isinstance(query, str) else query.decode() if isinstance(query, bytes) else query.as_string(self)
        )
        seen += part in told
        if part in told and seen == nth and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = await execute(self, query, *arguments, **options)
        if part in told and seen == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    psycopg.AsyncConnection.execute = deadly  # type: ignore[method-assign, assignment]
    asyncio.run(_move(source, target, name))


async def _move(source: str, target: str, name: str) -> None:
    async with opened_move(source, target, name, limits=MoveLimits(runs=1, closed=600, lock=20)) as moving:
        await moving.run()
