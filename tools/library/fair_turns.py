"""Turns at work that a few do at a time, so that one workspace can neither hold all of it nor fill its queue."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from graph.errors import Overloaded

MOST_WAITING, MOST_OF_ONE = 64, 16  # of all workspaces, and of one


class FairTurns:
    """At most ``size`` turns at once, and of one workspace one at a time.

    ``seconds`` are how long a turn may take, and so when to come back.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self._free = asyncio.Semaphore(size)
        self._seconds = seconds
        self._own: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._waiting: Counter[int] = Counter()

    def overloaded(self) -> Overloaded:
        """Return the error of whoever can't wait."""
        return Overloaded("Too many files wait to be read.", retry_after=max(1, round(self._seconds)))

    @asynccontextmanager
    async def take(self, workspace: int) -> AsyncIterator[None]:
        """Wait for a turn. Raises Overloaded where too many wait."""
        if self._waiting.total() >= MOST_WAITING or self._waiting[workspace] >= MOST_OF_ONE:
            raise self.overloaded()
        self._waiting[workspace] += 1
        try:
            async with self._own.setdefault(workspace, asyncio.Lock()), self._free:
                yield
        finally:
            self._waiting[workspace] -= 1
            if not self._waiting[workspace]:
                del self._waiting[workspace]
