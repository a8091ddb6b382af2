"""The embedded PostgreSQL watched: started again when it has ended, and spared writes before its disk is full."""

import asyncio
import logging
import shutil
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


@dataclass(frozen=True, slots=True)
class DiskRoom:
    """The free space that the disk of a folder must keep.

    PostgreSQL stops with a PANIC where it can't write its log, and can't start again until there is room.
    """

    folder: Path
    holds: str = "database"

    def shortage(self) -> str | None:
        """Return what is missing, as a sentence; None where there is room, or nobody can say. Asks the file system."""
        try:
            free = shutil.disk_usage(self.folder).free // MEGABYTE
        except OSError:
            return None
        if free >= RESERVE_MEGABYTES:
            return None
        return f"The disk of the {self.holds} has {free} MB left, and {RESERVE_MEGABYTES} MB must stay free."

    async def require(self) -> None:
        """Raise DiskLow where the space is less."""
        # In a thread: a file system may take its time, and LangGraph's development server raises BlockingError.
        if (shortage := await asyncio.to_thread(self.shortage)) is not None:
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
