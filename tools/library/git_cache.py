"""What is fetched of git repositories and kept for the next sync: a bare repository for each address and ref.

Sources with the same address and ref share one, and so do the processes of a machine. Files beside it are locked: one
while something is fetched, the other one while somebody reads, so that nothing that is read is collected.
"""

import asyncio
import fcntl
import hashlib
import logging
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import time

from graph.errors import DependencyFailed
from tools.settings import Settings

log = logging.getLogger("citewell.library")

# What a git that was killed leaves locked. Whoever fetches is alone, so that none of them is another one's.
_LEFT_LOCKED = ("config.lock", "HEAD.lock", "shallow.lock", "packed-refs.lock", "refs/citewell/head.lock", "gc.pid")
KEPT_DAYS = 30  # since the last fetch
WAIT_SECONDS = 1200.0  # for others that fetch or collect
RETRY_SECONDS = 0.1


def caches_of(settings: Settings) -> Path:
    """Return the folder of a deployment's caches."""
    return settings.data_dir.resolve() / "git"


def _made_private(folder: Path) -> None:
    """Make a folder that no other user of the machine reads; one of another user is theirs to open or close."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder.stat().st_uid == os.geteuid():
        folder.chmod(0o700)


class GitCache:
    """The cache of one repository at one ref, below ``root``."""

    def __init__(self, root: Path, url: str, ref: str) -> None:
        self._root = root
        self.folder = root / hashlib.sha256(f"{url}\n{ref}".encode()).hexdigest()[:32]
        self._reading: int | None = None

    @asynccontextmanager
    async def fetching(self) -> AsyncIterator[None]:
        """Keep others from fetching. Raises DependencyFailed where they take too long."""
        await asyncio.to_thread(_made_private, self._root)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while (lock := _lock(_fetch_lock(self.folder), fcntl.LOCK_EX)) is None:  # noqa: ASYNC110 - it has no event
                    await asyncio.sleep(RETRY_SECONDS)
        except TimeoutError:
            raise DependencyFailed("Another sync is fetching the repository.", suggestion="Sync again later.") from None
        try:
            for name in _LEFT_LOCKED:
                (self.folder / name).unlink(missing_ok=True)
            yield
        finally:
            os.close(lock)

    def hold(self) -> None:
        """Keep what is there until ``release``; call it while ``fetching``. Raises DependencyFailed."""
        if self._reading is None:
            self._reading = _lock(_read_lock(self.folder), fcntl.LOCK_SH)
            if self._reading is None:
                raise DependencyFailed("The repository is being cleaned up.", suggestion="Sync again later.")

    def release(self) -> None:
        """Let others collect what is not of the latest commit."""
        if self._reading is not None:
            os.close(self._reading)
            self._reading = None

    @contextmanager
    def unread(self) -> Iterator[bool]:
        """Keep others from reading, while ``fetching``; False where somebody reads already."""
        lock = _lock(_read_lock(self.folder), fcntl.LOCK_EX)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                os.close(lock)


def remove_unused(root: Path, *, days: float = KEPT_DAYS) -> int:
    """Remove the repositories that were not fetched for some days, as of deleted sources; return how many. Blocks."""
    removed = 0
    for folder in root.iterdir() if root.is_dir() else ():
        try:
            if folder.is_dir() and _fetched_at(folder) < time() - days * 86_400:
                removed += _removed(folder)
        except OSError as error:  # another process may remove it, too
            log.warning("the repository %s could not be removed: %s", folder.name, error)
    return removed


def _removed(folder: Path) -> bool:
    locks = [_lock(_fetch_lock(folder), fcntl.LOCK_EX), _lock(_read_lock(folder), fcntl.LOCK_EX)]
    try:
        if None in locks:
            return False
        (folder / "HEAD").unlink(missing_ok=True)  # first, so that what is left of it counts as no repository
        shutil.rmtree(folder)  # the files that are locked stay: another process may be about to lock them
        return True
    finally:
        for lock in locks:
            if lock is not None:
                os.close(lock)


def _fetched_at(folder: Path) -> float:
    fetched = folder / "FETCH_HEAD"
    return (fetched if fetched.exists() else folder).stat().st_mtime


def _fetch_lock(folder: Path) -> Path:
    return folder.with_suffix(".fetch")


def _read_lock(folder: Path) -> Path:
    return folder.with_suffix(".read")


def _lock(path: Path, how: int) -> int | None:
    """Lock a file, until its descriptor is closed; None where another one holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
