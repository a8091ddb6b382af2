"""The embedded PostgreSQL watched: started again when it has ended, and spared writes before its disk is full."""

import asyncio
import logging
import math
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from graph.errors import CitewellError, DiskLow
from tools.storage.embedded import EmbeddedServer

log = logging.getLogger(__name__)

WATCH_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 4.0  # between two attempts to start it
MEGABYTE = 1_000_000
# That must stay free: some thirty files of PostgreSQL's log, which it needs to end well and to start again.
RESERVE_MEGABYTES = 500
MEASURED_SECONDS = 1.0  # within which what was measured is believed


@dataclass(slots=True)
class DiskRoom:
    """The free space that the disk of a folder must keep.

    PostgreSQL stops with a PANIC where it can't write its log, and can't start again until there is room.
    """

    folder: Path
    holds: str = "database"
    _free: float = math.inf  # megabytes, as measured last
    _measured_at: float = -math.inf

    def shortage(self) -> str | None:
        """Return what is missing, as a sentence; None where there is room, or nobody can say. Asks the file system."""
        try:
            self._free = shutil.disk_usage(self.folder).free // MEGABYTE
        except OSError:
            self._free = math.inf
        self._measured_at = time.monotonic()
        return self._shortage()

    def _shortage(self) -> str | None:
        if self._free >= RESERVE_MEGABYTES:
            return None
        return f"The disk of the {self.holds} has {self._free} MB left, and {RESERVE_MEGABYTES} MB must stay free."

    async def require(self) -> None:
        """Raise DiskLow where the space is less, or was a moment ago."""
        if time.monotonic() - self._measured_at < MEASURED_SECONDS:
            shortage = self._shortage()
        else:
            # In a thread: a file system may take its time, and LangGraph's development server raises BlockingError.
            shortage = await asyncio.to_thread(self.shortage)
        if shortage is not None:
            raise DiskLow(shortage)


async def keep_running(server: EmbeddedServer) -> None:
    """Start the server again whenever it has ended, until cancelled; what prevents a start is logged once.

    Every process that uses the server watches it, and the first one to see it gone starts it for all.
    """
    wait = WATCH_SECONDS
    told = False
    while True:
        await asyncio.sleep(wait)
        try:
            if await asyncio.to_thread(server.is_running):
                continue
            if not told:
                log.warning("the embedded PostgreSQL has ended; it is started again")
            await asyncio.to_thread(server.restart)
        except (CitewellError, OSError) as error:
            wait = min(2 * wait, LONGEST_WAIT_SECONDS)
            if not told:
                log.error("the embedded PostgreSQL does not start, and is tried again: %s", error)
            told = True
        else:
            log.warning("the embedded PostgreSQL runs again")
            wait, told = WATCH_SECONDS, False
