"""A reader of an S3-compatible bucket below a prefix, as a source, through obstore."""

import asyncio
import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from graph.errors import ConfigurationError, DependencyFailed, UnreadableDocument
from tools.library.new_documents import NewDocument, too_large
from tools.library.source_readers import LONGEST_PATH, Listing, ReadFile, SourceReader
from tools.library.sync_plan import Listed
from tools.parsers.textless import is_textless, passed_over

AT_ONCE = 8  # objects
_CLIENT = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=60)}
_RETRIES = {"max_retries": 3, "retry_timeout": timedelta(seconds=15)}


class BucketSource(SourceReader):
    """A source of objects in a store that obstore has opened at the prefix. Hidden ones are passed over."""

    def __init__(self, store: Any, *, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._sizes: dict[str, int] = {}

    async def listing(self) -> Listing:
        """List the objects. Raises DependencyFailed."""
        objects = obstore()
        files: list[Listed] = []
        textless: list[str] = []
        try:
            async for page in objects.list(self._store):
                for found in page:
                    path = found["path"]
                    is_hidden = any(part.startswith(".") for part in path.split("/"))
                    if is_hidden or path.endswith("/") or len(path.encode()) > LONGEST_PATH:
                        continue
                    if is_textless(path):
                        textless.append(path)
                    else:
                        tag = found["e_tag"] or found["last_modified"].isoformat()
                        files.append(Listed(path, f"{found['size']}-{tag}", found["size"]))
        except (objects.exceptions.BaseError, OSError) as error:
            raise _failed(error) from error
        self._sizes = {file.path: file.size for file in files}
        return Listing(sorted(files, key=lambda file: file.path), passed_over(textless))

    async def read(self, paths: Sequence[str]) -> Sequence[ReadFile]:
        """Read objects; those that are larger than a document may be are not. Raises DependencyFailed."""
        free = asyncio.Semaphore(AT_ONCE)

        async def read(path: str) -> ReadFile:
            async with free:
                return await self._read(path)

        return await asyncio.gather(*map(read, paths))

    async def _read(self, path: str) -> ReadFile:
        if self._sizes[path] > self._max_bytes:
            return too_large(self._sizes[path], self._max_bytes)
        objects = obstore()
        try:
            data = bytes(await (await objects.get_async(self._store, path)).bytes_async())
        except (FileNotFoundError, objects.exceptions.NotFoundError):
            return UnreadableDocument("It is gone since it was listed.", suggestion="Sync again.")
        except (objects.exceptions.BaseError, OSError) as error:
            raise _failed(error) from error
        return NewDocument(data=data, name=path, source_type="file")


def open_bucket(location: str) -> Any:
    """Open ``s3://bucket/prefix`` with the usual ``AWS_`` names of the environment. Raises ConfigurationError."""
    objects = obstore()
    allow_http = os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("true", "1")
    try:
        return objects.store.S3Store.from_url(
            location, client_options={**_CLIENT, "allow_http": allow_http}, retry_config=_RETRIES
        )
    except (objects.exceptions.BaseError, ValueError) as error:
        raise ConfigurationError(f"{location} cannot be opened: {error}", suggestion="Check the address.") from error


def obstore() -> Any:
    """Return the package obstore, which is an extra. Raises ConfigurationError."""
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError as error:
        raise ConfigurationError(
            "Buckets are read with the package obstore.", suggestion="Install citewell[originals]."
        ) from error
    return obstore


def _failed(error: Exception) -> DependencyFailed:
    # What follows the first line is the insides of the error, for those who wrote the package.
    said = str(error).partition("\n")[0][:300]
    return DependencyFailed(
        f"The bucket could not be read: {said}", suggestion="Check its address and the AWS_ credentials."
    )
