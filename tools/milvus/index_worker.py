"""A worker that keeps an index up to date with the library, beside the one that stores files.

It takes from the queue whatever has changed, makes a lost collection anew, ends a fill that was begun, and compares all
that the index holds with the library once an hour. Any number of processes may work at once.
"""

import asyncio
import logging
import time
from dataclasses import dataclass

from graph.errors import CitewellError, IndexUnavailable
from tools.concurrency.tasks import cancel_and_wait
from tools.milvus.collection import Milvus
from tools.milvus.keeping import IndexKeeper
from tools.storage.database import Database
from tools.telemetry.tracing import background_context

log = logging.getLogger("citewell.index")


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a worker looks, in seconds: for changes, for a collection that is lost, for rows that differ."""

    changes: float = 1.0
    lost: float = 10.0
    differing: float = 3600.0
    after_failure: float = 5.0


class IndexWorker:
    """Follows the library, once it is started. Close it before the database and Milvus."""

    def __init__(self, database: Database, milvus: Milvus, pace: Pace | None = None) -> None:
        self._keeper = IndexKeeper(database, milvus)
        self._pace = pace or Pace()
        self._task: asyncio.Task[None] | None = None
        self._looked_at = -float("inf")
        self._compared_at = time.monotonic()

    def start(self) -> None:
        """Start working, unless it has begun."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="citewell-index", context=background_context())

    async def close(self) -> None:
        """Stop working; changes that were being followed are left to others at once."""
        if self._task is not None:
            await cancel_and_wait(self._task)
            self._task = None

    async def _work(self) -> None:
        while True:
            rest = self._pace.changes
            try:
                if await self.step():
                    rest = 0.0
            except CitewellError as error:
                log.warning("the index could not be brought up to date: %s", error.message)
                rest = self._pace.after_failure
                if isinstance(error, IndexUnavailable):
                    self._looked_at = -float("inf")  # it may have been lost
            except Exception:
                log.exception("the index could not be brought up to date")
                rest = self._pace.after_failure
            await asyncio.sleep(rest)

    async def step(self) -> bool:
        """Do what is next; return whether there may be more to do at once. Raises as ``IndexKeeper.follow`` does."""
        index = await self._keeper.read()
        if index is None:
            return False
        now = time.monotonic()
        if now - self._looked_at >= self._pace.lost:
            await self._keeper.restore(index)
            self._looked_at = now
        if await self._keeper.follow(index):
            return True
        if index.state == "filling":
            return await self._keeper.settle(index) > 0
        if now - self._compared_at >= self._pace.differing:
            self._compared_at = now
            return await self._keeper.settle(index) > 0
        return False
