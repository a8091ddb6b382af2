"""Syncs that go on while their caller does something else; what they did is on their source."""

import asyncio
import logging

from graph.errors import CitewellError
from graph.evidence import Identity
from tools.concurrency.tasks import cancel_and_wait
from tools.library.source_records import SyncedSource
from tools.library.syncing import Syncer

log = logging.getLogger("citewell.sources")

AT_ONCE = 2  # in one process; each holds a connection


class BackgroundSyncs:
    """The syncs that a process has begun, a few at a time. They end with it, and the next sync goes on."""

    def __init__(self, syncer: Syncer) -> None:
        self._syncer = syncer
        self._free = asyncio.Semaphore(AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, identity: Identity, source: SyncedSource, *, most_deleted: float) -> None:
        """Start a sync; one that is under way here already goes on alone."""
        if not self.is_under_way(source.source_id):
            task = asyncio.create_task(self._sync(identity, source, most_deleted))
            self._tasks[source.source_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(source.source_id, None))

    def is_under_way(self, source_id: str) -> bool:
        """Whether a sync of a source waits or runs here."""
        return source_id in self._tasks

    async def close(self) -> None:
        """Stop all syncs."""
        await cancel_and_wait(*self._tasks.values())

    async def _sync(self, identity: Identity, source: SyncedSource, most_deleted: float) -> None:
        async with self._free:
            try:
                await self._syncer.sync(identity, source, most_deleted=most_deleted)
            except CitewellError as error:
                log.warning("The sync of %s failed: %s: %s", source.source_id, error.code, error.message)
            except Exception:
                log.exception("The sync of %s failed", source.source_id)
