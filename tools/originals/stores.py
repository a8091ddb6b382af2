"""Stores of originals: PostgreSQL, or a folder or an S3-compatible bucket through obstore.

What is stored has a key that names its bytes, so storing twice changes nothing, and no reader sees half a file.
"""

import importlib
import logging
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from graph.errors import ConfigurationError, DependencyFailed, NotFound
from tools.storage.database import Connection, Database
from tools.storage.tenants import may_change_closed

log = logging.getLogger(__name__)

POSTGRESQL = "postgresql"
OFF = "off"
CHUNK_BYTES = 256 * 1024
READ_CHUNKS = 4  # of PostgreSQL in one query, and of the size of a read elsewhere
S3 = "s3://"


@dataclass(frozen=True, slots=True)
class OriginalKey:
    """An original of a workspace, by the SHA-256 of its bytes in hexadecimal."""

    workspace: int
    sha256: str


class OriginalStore(Protocol):
    """A store of bytes by their hash. All methods raise DatabaseUnavailable or DependencyFailed if it fails."""

    async def put(self, key: OriginalKey, data: bytes) -> None:
        """Store the bytes; they are there already where the key is known."""

    def read(self, key: OriginalKey, start: int, end: int) -> AsyncIterator[bytes]:
        """Read the bytes from ``start`` to ``end``, exclusive, in pieces. Raises NotFound."""

    async def delete(self, keys: Sequence[OriginalKey]) -> None:
        """Remove originals; unknown ones are ignored."""

    async def exists(self, key: OriginalKey) -> bool:
        """Whether the original is stored, whole."""

    async def delete_workspace(self, workspace: int) -> None:
        """Remove all originals of a workspace."""


def _gone() -> NotFound:
    return NotFound("The original is no longer stored.", suggestion="Ingest the document again.")


class DatabaseStore:
    """Originals in PostgreSQL, in rows of 256 KiB. ``write`` puts them into a transaction of the caller's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, key: OriginalKey, data: bytes) -> None:
        """Store the bytes in a transaction of their own."""
        async with self._database.connection() as connection, connection.transaction():
            await self.write(connection, [(key, data)])

    async def write(self, connection: Connection, originals: Sequence[tuple[OriginalKey, bytes]]) -> None:
        """Store originals that are not here yet, within the caller's transaction."""
        given = {key.sha256: (key, data) for key, data in originals}
        row = {
            "workspaces": [key.workspace for key, _ in given.values()],
            "hashes": list(given),
            "sizes": [len(data) for _, data in given.values()],
            "place": POSTGRESQL,
        }
        new = await (await connection.execute(_INSERT, row)).fetchall()
        if not new:
            return
        async with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
            copy.set_types(["int4", "text", "int4", "bytea"])
            for (digest,) in new:
                key, data = given[digest]
                for number, start in enumerate(range(0, len(data), CHUNK_BYTES)):
                    await copy.write_row((key.workspace, digest, number, data[start : start + CHUNK_BYTES]))

    async def read(self, key: OriginalKey, start: int, end: int) -> AsyncIterator[bytes]:
        """Read a range; no connection is held while the caller uses a piece."""
        while start < end:
            first = start // CHUNK_BYTES
            last = min(first + READ_CHUNKS, -(-end // CHUNK_BYTES))
            async with self._database.connection() as connection:
                found = await connection.execute(_READ, [key.workspace, key.sha256, first, last], binary=True)
                rows = await found.fetchall()
            if len(rows) != last - first:
                raise _gone()
            for number, data in rows:
                offset = number * CHUNK_BYTES
                piece = data[max(0, start - offset) : end - offset]
                if not piece:
                    raise _gone()
                start += len(piece)
                yield piece

    async def delete(self, keys: Sequence[OriginalKey]) -> None:
        """Remove originals in a transaction of their own."""
        async with self._database.connection() as connection, connection.cursor() as cursor:
            await cursor.executemany(_DELETE, [(key.workspace, key.sha256, POSTGRESQL) for key in keys])

    async def exists(self, key: OriginalKey) -> bool:
        """Whether the original is stored here."""
        return await self._database.fetch_one(_EXISTS, [key.workspace, key.sha256, POSTGRESQL]) is not None

    async def delete_workspace(self, workspace: int) -> None:
        """Remove all originals of a workspace that are stored here."""
        async with self._database.connection() as connection, may_change_closed(connection):
            await connection.execute(
                "DELETE FROM originals WHERE workspace = %s AND place = %s", [workspace, POSTGRESQL]
            )


# Bytes that are stored elsewhere move here when they are ingested again.
_INSERT = """
INSERT INTO originals AS o (workspace, sha256, size, place)
SELECT workspace, sha256, size, %(place)s
FROM unnest(%(workspaces)s::integer[], %(hashes)s::text[], %(sizes)s::bigint[]) AS new (workspace, sha256, size)
ON CONFLICT (workspace, sha256) DO UPDATE SET place = excluded.place, staged_until = NULL
WHERE o.place <> excluded.place
RETURNING sha256
"""
_COPY = "COPY original_chunks (workspace, sha256, number, data) FROM STDIN (FORMAT BINARY)"
_READ = """
SELECT number, data FROM original_chunks
WHERE workspace = %s AND sha256 = %s AND number >= %s AND number < %s ORDER BY number
"""
_DELETE = "DELETE FROM originals WHERE workspace = %s AND sha256 = %s AND place = %s"
_EXISTS = "SELECT 1 FROM originals WHERE workspace = %s AND sha256 = %s AND place = %s"


class ObjectStore:
    """Originals in a store that obstore opens; a key is ``workspace/first two digits/hash``."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._objects = _obstore()

    async def put(self, key: OriginalKey, data: bytes) -> None:
        """Store the bytes; a reader sees all of them or none."""
        with self._failures():
            await self._objects.put_async(self._store, _path(key), data)

    async def read(self, key: OriginalKey, start: int, end: int) -> AsyncIterator[bytes]:
        """Read a range, a megabyte at a time."""
        while start < end:
            stop = min(start + READ_CHUNKS * CHUNK_BYTES, end)
            with self._failures():
                piece = bytes(await self._objects.get_range_async(self._store, _path(key), start=start, end=stop))
            if not piece:
                raise _gone()
            start += len(piece)
            yield piece

    async def delete(self, keys: Sequence[OriginalKey]) -> None:
        """Remove originals one by one, so that one that is gone already stops nothing."""
        for key in keys:
            await self._delete_path(_path(key))

    async def exists(self, key: OriginalKey) -> bool:
        """Whether the original is stored."""
        try:
            with self._failures():
                await self._objects.head_async(self._store, _path(key))
        except NotFound:
            return False
        return True

    async def delete_workspace(self, workspace: int) -> None:
        """Remove all originals of a workspace."""
        with self._failures():
            paths = [
                found["path"] async for page in self._objects.list(self._store, prefix=str(workspace)) for found in page
            ]
        for path in paths:
            await self._delete_path(path)

    async def _delete_path(self, path: str) -> None:
        with suppress(NotFound), self._failures():
            await self._objects.delete_async(self._store, path)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, self._objects.exceptions.NotFoundError) as error:
            raise _gone() from error
        except (self._objects.exceptions.BaseError, OSError) as error:
            log.warning("The store of originals failed: %s", str(error)[:500])
            raise DependencyFailed(
                "The store of originals failed.", suggestion="Check CITEWELL_ORIGINALS and what it points at."
            ) from error


def _path(key: OriginalKey) -> str:
    return f"{key.workspace}/{key.sha256[:2]}/{key.sha256}"


def _obstore() -> Any:
    try:
        module = importlib.import_module("obstore")
        importlib.import_module("obstore.exceptions")
        importlib.import_module("obstore.store")
    except ImportError as error:
        raise ConfigurationError(
            "CITEWELL_ORIGINALS names a folder or a bucket, which needs the package obstore.",
            suggestion="Install citewell[originals], or set CITEWELL_ORIGINALS=postgresql.",
        ) from error
    return module


# By default a store that is down is tried for three minutes, while somebody waits.
_CLIENT = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=60)}
_RETRIES = {"max_retries": 3, "retry_timeout": timedelta(seconds=15)}


def open_object_store(place: str) -> ObjectStore:
    """Open a folder, which is made if it is missing, or an address ``s3://bucket/prefix``.

    Credentials and the endpoint of S3 come from the usual ``AWS_`` names of the environment. Raises ConfigurationError.
    """
    objects = _obstore()
    try:
        if place.startswith(S3):
            allow_http = os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("true", "1")
            client = {**_CLIENT, "allow_http": allow_http}
            return ObjectStore(objects.store.S3Store.from_url(place, client_options=client, retry_config=_RETRIES))
        return ObjectStore(objects.store.LocalStore(Path(place), mkdir=True))
    except (objects.exceptions.BaseError, OSError, ValueError) as error:
        raise ConfigurationError(f"originals: {place} cannot be opened: {error}") from error
