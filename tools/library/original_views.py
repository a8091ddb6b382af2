"""What viewers draw of originals: their pictures, and where a quote stands on the page of a PDF.

An original is what a stranger wrote, so it is read in the processes that read files, under limits of its own, apart
from answers. What was seen is stored, and so is that a file can't be read: nothing is read twice to show it.

A workspace keeps what was seen last, within ``MOST_BYTES``. A file that can't be read is remembered for a while.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg
from pydantic import ValidationError

from graph.errors import CitewellError, NotFound, UnreadableDocument
from graph.evidence import Identity
from tools.library.drawn_formulas import DRAWN, FOLDS, FORMULAS, LayoutFold, LayoutFormula
from tools.library.drawn_pictures import DrawnPicture, pictures_of
from tools.library.drawn_slides import SLIDES, LayoutSlide
from tools.library.fair_turns import FairTurns
from tools.library.sandbox import Sandbox
from tools.library.shared_work import SharedWork
from tools.originals.originals import Originals, StoredOriginal
from tools.originals.stores import OriginalKey
from tools.storage.database import Database, replace_if_large

log = logging.getLogger("citewell.library")
MOST_SAID = 200  # characters of what failed

# For a reader who waits: what takes longer was read at ingestion, and is shown as text alone.
VIEW_SECONDS, VIEW_MEGABYTES, REPLY_BYTES = 20.0, 512, 100_000_000
WAIT_SECONDS = 30.0  # for a turn and for its end
PROCESSES = 2  # one of a workspace, so that another one is free
UNREADABLE = ""  # the part that says that no part can be read
LAYOUT = "layout 3"  # the view of what is drawn; another name where another release tells more

MOST_BYTES = 200_000_000  # of a workspace
ROW_BYTES = 10_000  # that each view counts, so that there are not too many
UNREADABLE_SECONDS = 600.0  # before a file that can't be read is tried again: the machine may have been busy

See = Callable[[bytes], Awaitable[tuple[Any, bytes]]]  # what an original shows, as JSON and bytes beside it


class LaidOutText(NamedTuple):
    """The text that pictures stand in."""

    content_hash: str
    text: bytes
    blocks: bytes  # of JSON, a Block a line


class Drawn(NamedTuple):
    """What a document draws beside its text, in order."""

    pictures: list[DrawnPicture]
    formulas: list[LayoutFormula]
    slides: list[LayoutSlide]
    folds: list[LayoutFold]


NOTHING_DRAWN = Drawn([], [], [], [])


_FIND = """
SELECT part, found FROM original_views
WHERE workspace = %s AND sha256 = %s AND view = %s AND part = ANY(%s)
  AND (found IS NOT NULL OR made_at > now() - make_interval(secs => %s)) LIMIT 1
"""
_READ = """
SELECT substring(data FROM %s FOR %s) FROM original_views
WHERE workspace = %s AND sha256 = %s AND view = %s AND part = %s
"""
_KEEP = """
INSERT INTO original_views AS v (workspace, sha256, view, part, found, data, size)
VALUES (%s, %s, %s, %s, %s, %b, %s)
ON CONFLICT (workspace, sha256, view, part)
DO UPDATE SET found = excluded.found, data = excluded.data, size = excluded.size, made_at = excluded.made_at
"""
_TRIM = """
DELETE FROM original_views AS v USING (
    SELECT sha256, view, part, sum(size) OVER (ORDER BY made_at DESC, sha256, view, part) AS so_far
    FROM original_views WHERE workspace = %(workspace)s
) AS old
WHERE v.workspace = %(workspace)s AND v.sha256 = old.sha256 AND v.view = old.view AND v.part = old.part
  AND old.so_far > %(most)s
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen, as JSON; None where the file, or the part of it, can't be read."""

    found: Any | None


class ViewStore:
    """The stored views of a deployment's originals, each by its kind and the part of the original that it shows."""

    def __init__(self, database: Database, *, most_bytes: int = MOST_BYTES) -> None:
        self._database = database
        self._most_bytes = most_bytes

    async def find(self, original: OriginalKey, view: str, parts: Sequence[str]) -> Seen | None:
        """Find a view of one of these parts. Raises DatabaseUnavailable."""
        row = [original.workspace, original.sha256, view, list(parts), UNREADABLE_SECONDS]
        found = await self._database.fetch_one(_FIND, row)
        return None if found is None else Seen(None if found[1] is None else json.loads(found[1]))

    async def read(self, original: OriginalKey, view: str, part: str, at: int, size: int) -> bytes | None:
        """Read bytes of a view; None where it is not kept any more. Raises DatabaseUnavailable."""
        row = [at + 1, size, original.workspace, original.sha256, view, part]
        async with self._database.connection() as connection:
            found = await (await connection.execute(_READ, row, binary=True)).fetchone()
        return None if found is None else found[0]

    async def keep(self, original: OriginalKey, view: str, part: str, seen: Seen, data: bytes = b"") -> None:
        """Keep a view, and forget the oldest where there is no room. Best effort: it can be made again."""
        found = None if seen.found is None else json.dumps(seen.found)
        size = ROW_BYTES + len(found or "") + len(data)
        row = [original.workspace, original.sha256, view, part, found, data, size]
        try:
            await self._database.require_room()
            async with self._database.connection() as connection, connection.transaction():
                await connection.execute(_KEEP, row)
                await connection.execute(_TRIM, {"workspace": original.workspace, "most": self._most_bytes})
                replace_if_large(connection, len(data))
        except psycopg.errors.ForeignKeyViolation:
            return  # its last document was removed meanwhile
        except CitewellError as error:
            log.warning("the %s of an original could not be kept: %s", view, error.message)


class OriginalViews:
    """A reader of what originals show beyond their text. Each view of a file is made once. Close it."""

    def __init__(self, originals: Originals, store: ViewStore, sandbox: Sandbox) -> None:
        self._originals = originals
        self._store = store
        self._sandbox = sandbox
        self._turns = FairTurns(sandbox.size, sandbox.seconds)
        self._making: SharedWork[Seen] = SharedWork()

    async def close(self) -> None:
        """Stop reading."""
        await self._making.close()

    async def drawn(
        self, identity: Identity, document_id: str, read_text: Callable[[], Awaitable[LaidOutText]]
    ) -> Drawn:
        """Return what a document draws beside its text; nothing where it has no original, or one that can't be read.

        ``read_text`` is called where they are to be placed in its text. Raises what that does, Overloaded, and
        DependencyFailed if the store of originals fails.
        """
        stored = await self._find(identity, document_id)
        if stored is None or not DRAWN.search(stored.original["media_type"]):
            return NOTHING_DRAWN

        async def see(data: bytes) -> tuple[Any, bytes]:
            read = await read_text()
            if read.content_hash != stored.content_hash:
                raise NotFound("The document has changed.")
            header = {"media_type": stored.original["media_type"]}
            reply, blobs = await self._sandbox.run(
                "layout", header, data, read.text, read.blocks, whose=stored.key.workspace
            )
            return await asyncio.to_thread(lambda: (_drawn_of(reply, blobs)._asdict(), b"".join(blobs)))

        seen = await self._seen(stored, LAYOUT, stored.content_hash, UNREADABLE, see)
        return Drawn(**seen) if seen else NOTHING_DRAWN

    async def picture(self, identity: Identity, document_id: str, picture: DrawnPicture) -> bytes | None:
        """Return the bytes of a picture that ``drawn`` has just told of."""
        stored = await self._find(identity, document_id)
        if stored is None:
            return None
        return await self._store.read(stored.key, LAYOUT, stored.content_hash, picture["at"], picture["size"])

    async def place(
        self, identity: Identity, document_id: str, page_idx: int, quote: str, before: str
    ) -> dict[str, Any] | None:
        """Find a quote on a page of a document's PDF, behind the text ``before``: the fields of a PagePlace.

        Returns None where it has no original, or one that can't be read. Raises Overloaded, and DependencyFailed if
        the store of originals fails.
        """
        stored = await self._find(identity, document_id)
        if stored is None:
            return None
        header = {"page_idx": page_idx, "quote": quote, "before": before}

        async def see(data: bytes) -> tuple[Any, bytes]:
            reply, _ = await self._sandbox.run("place", header, data, whose=stored.key.workspace)
            return [reply["place"]], b""

        page = f"page {page_idx}"
        asked = hashlib.sha256(json.dumps(header).encode()).hexdigest()
        seen = await self._seen(stored, "place", asked, page, see)
        return None if seen is None else seen[0]

    async def _find(self, identity: Identity, document_id: str) -> StoredOriginal | None:
        try:
            return await self._originals.find(identity, document_id)
        except NotFound:
            return None

    async def _seen(self, stored: StoredOriginal, view: str, part: str, whole: str, see: See) -> Any | None:
        """Return what is seen of a part; None where ``whole``, which is more than it, can't be read."""
        found = await self._store.find(stored.key, view, [whole, part])
        if found is None:
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    making = (stored.key, view, part)
                    found = await self._making.result(making, lambda: self._make(stored, view, part, whole, see))
            except TimeoutError:
                raise self._turns.overloaded() from None
        return found.found

    async def _make(self, stored: StoredOriginal, view: str, part: str, whole: str, see: See) -> Seen:
        async with self._turns.take(stored.key.workspace):
            try:
                found, data = await see(await self._originals.read_whole(stored))
            except NotFound:
                return Seen(None)
            except UnreadableDocument as error:
                log.info("the %s of an original can't be read: %s", view, error.message)
                part, found, data = whole, None, b""
            seen = Seen(found)
            await self._store.keep(stored.key, view, part, seen, data)
            return seen


def _drawn_of(reply: dict[str, Any], blobs: Sequence[bytes]) -> Drawn:
    """Return what a frame tells. Raises UnreadableDocument for a frame that no reader of ours sends."""
    if fault := reply.get("fault"):
        log.warning("not all slides of an original can be shown: %s", str(fault)[:MOST_SAID])
    try:
        return Drawn(
            pictures_of(reply, blobs),
            FORMULAS.validate_python(reply.get("formulas", [])),
            SLIDES.validate_python(reply.get("slides", [])),
            FOLDS.validate_python(reply.get("folds", [])),
        )
    except ValidationError as error:
        raise UnreadableDocument("The file can't be read.") from error
