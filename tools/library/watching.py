"""Wait until a source may have changed: a folder by the notifications of the machine, anything else by the clock."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from watchfiles import Change, awatch

from tools.library.source_records import SyncedSource

SETTLES_MS = 1_600  # changes that follow each other this closely are one
EVERY_SECONDS = 300


async def changes(source: SyncedSource, *, every: float = EVERY_SECONDS) -> AsyncIterator[None]:
    """Yield each time a source may have changed, without end; at the latest after ``every`` seconds."""
    if source.kind != "folder":
        while True:
            await asyncio.sleep(every)
            yield
    root = Path(source.location)

    def counts(_: Change, path: str) -> bool:
        return not any(part.startswith(".") for part in Path(path).relative_to(root).parts)

    # Some file systems notify of nothing, and a change may come just before the watch begins.
    patience = int(every * 1000)
    async for _ in awatch(root, watch_filter=counts, debounce=SETTLES_MS, rust_timeout=patience, yield_on_timeout=True):
        yield
