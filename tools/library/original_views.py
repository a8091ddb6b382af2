"""What viewers draw of originals: their pictures, and where a quote stands on the page of a PDF.

An original is what a stranger wrote, so it is read in the processes that read files, under limits of its own, and by
one request at a time. What was read is kept, and so is that a file can't be read.
"""

import json
import logging
import math
from asyncio import Lock, Semaphore, get_running_loop, timeout, to_thread
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from graph.errors import NotFound, UnreadableDocument
from graph.evidence import Identity
from tools.library.drawn_pictures import DrawnPicture, pictures_of
from tools.library.sandbox import Sandbox
from tools.library.sandbox_process import Task
from tools.originals.originals import Originals, StoredOriginal
from tools.originals.stores import OriginalKey

log = logging.getLogger("citewell.library")

# For a reader who waits: what takes longer was read at ingestion, and is shown as text alone.
VIEW_LIMITS = {"file_seconds": 20.0, "file_megabytes": 512}
WAIT_SECONDS = 20.0  # for a process, before the text is shown alone this time
KEPT_BYTES = 64_000_000  # of what was read last
_ROW_BYTES = 1_000  # of a view that is kept, beside what was read
UNREADABLE_SECONDS = 600.0  # before a file that can't be read is tried again: the machine may have been busy


class _View(NamedTuple):
    original: OriginalKey
    task: Task
    asked: str


class _Kept(NamedTuple):
    seen: Any  # None where the file, or the page, can't be read
    size: int
    until: float = math.inf


class OriginalViews:
    """A reader of what originals show beyond their text. Each view of a file is read once, and kept for a while."""

    def __init__(
        self,
        originals: Originals,
        sandbox: Sandbox,
        *,
        kept_bytes: int = KEPT_BYTES,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._originals = originals
        self._sandbox = sandbox
        self._free = Semaphore(sandbox.size)  # so that files wait where they are stored, and not in memory
        self._turns: WeakValueDictionary[OriginalKey, Lock] = WeakValueDictionary()
        self._kept: OrderedDict[_View, _Kept] = OrderedDict()
        self._room = kept_bytes
        self._wait_seconds = wait_seconds

    async def pictures(self, identity: Identity, document_id: str) -> list[DrawnPicture]:
        """Read the pictures of a document in their order; none where it has no original, or one that can't be read.

        Raises DependencyFailed if the store of originals fails.
        """
        stored = await self._find(identity, document_id)
        if stored is None or stored.original["media_type"] == "application/pdf":
            return []
        header = {"media_type": stored.original["media_type"]}
        pictures: list[DrawnPicture] | None = await self._seen(stored, "pictures", header, pictures_of)
        return pictures or []

    async def place(
        self, identity: Identity, document_id: str, page_idx: int, quote: str, before: str
    ) -> dict[str, Any] | None:
        """Find a quote on a page of a document's PDF, behind the text ``before``: the fields of a PagePlace.

        Returns None where it has no original, or one that can't be read. Raises DependencyFailed if the store of
        originals fails.
        """
        stored = await self._find(identity, document_id)
        if stored is None:
            return None
        header = {"page_idx": page_idx, "quote": quote, "before": before}
        place: dict[str, Any] | None = await self._seen(stored, "place", header, _place_of, part=str(page_idx))
        return place

    async def _find(self, identity: Identity, document_id: str) -> StoredOriginal | None:
        try:
            return await self._originals.find(identity, document_id)
        except NotFound:
            return None

    async def _seen(
        self,
        stored: StoredOriginal,
        task: Task,
        header: dict[str, Any],
        read: Callable[[dict[str, Any], Sequence[bytes]], Any],
        *,
        part: str = "",
    ) -> Any:
        """Return what a task sees, as ``read`` makes it of the reply; None where the ``part`` can't be read."""
        unreadable, view = _View(stored.key, task, part), _View(stored.key, task, json.dumps(header))
        async with self._turns.setdefault(stored.key, Lock()):
            if (kept := self._find_kept(unreadable) or self._find_kept(view)) is not None:
                return kept.seen
            try:
                async with self._free_process():
                    reply, blobs = await self._sandbox.run(task, header, await self._originals.read_whole(stored))
            except (NotFound, TimeoutError):
                return None
            except UnreadableDocument as error:
                log.info("the %s of an original can't be read: %s", task, error.message)
                self._keep(unreadable, _Kept(None, 0, get_running_loop().time() + UNREADABLE_SECONDS))
                return None
            seen = await to_thread(read, reply, blobs)
            self._keep(view, _Kept(seen, len(json.dumps(reply)) + sum(map(len, blobs))))
            return seen

    @asynccontextmanager
    async def _free_process(self) -> AsyncIterator[None]:
        """Wait for a free process. Raises TimeoutError."""
        async with timeout(self._wait_seconds):
            await self._free.acquire()
        try:
            yield
        finally:
            self._free.release()

    def _find_kept(self, view: _View) -> _Kept | None:
        kept = self._kept.get(view)
        if kept is None or kept.until < get_running_loop().time():
            return None
        self._kept.move_to_end(view)
        return kept

    def _keep(self, view: _View, kept: _Kept) -> None:
        self._forget(view)
        self._kept[view] = kept
        self._room -= _size(view, kept)
        while self._room < 0:
            self._forget(next(iter(self._kept)))

    def _forget(self, view: _View) -> None:
        if (kept := self._kept.pop(view, None)) is not None:
            self._room += _size(view, kept)


def _size(view: _View, kept: _Kept) -> int:
    return len(view.asked) + kept.size + _ROW_BYTES


def _place_of(reply: dict[str, Any], _: Sequence[bytes]) -> Any:
    return reply["place"]
