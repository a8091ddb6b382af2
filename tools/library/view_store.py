"""What was once seen of originals, stored beside them, so that no process reads a file again to show it again.

A workspace keeps what was seen last, within ``MOST_BYTES``. A file that can't be read is remembered for a while.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from graph.errors import CitewellError
from tools.originals.stores import OriginalKey
from tools.storage.database import Database, replace_if_large

log = logging.getLogger("citewell.library")

MOST_BYTES = 200_000_000  # of a workspace
ROW_BYTES = 10_000  # that each view counts, so that there are not too many
UNREADABLE_SECONDS = 600.0  # before a file that can't be read is tried again: the machine may have been busy

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
