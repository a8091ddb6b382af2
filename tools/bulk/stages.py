"""The stages of ingestion as actors of Ray Data: read files, embed their segments, store them.

A stage gets a table and gives tables. What goes from one to the next is a column of pickled rows, so that Ray counts
their bytes. A stage may run twice for the same files: the claim in the database decides which run counts.
"""

import asyncio
import pickle
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeVar

from graph.errors import ConfigurationError
from tools.bulk.storing import FileTasks, Read
from tools.settings import Settings

T = TypeVar("T")
Table = Any  # of pyarrow, which is not there without the extra


@dataclass(frozen=True, slots=True)
class Work:
    """What a stage needs to know: the settings with the database's address, the job, and in whose name to claim."""

    settings: Settings
    job_id: str
    owner: str
    release: str

    @classmethod
    def of(cls, settings: Settings, job_id: str, owner: str) -> "Work":
        """Return the work of this release of Citewell."""
        return cls(settings, job_id, owner, version("citewell"))


class _Stage:
    """An actor with an event loop in a thread of its own, so that time limits hold while Ray holds its results back."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._loop = asyncio.new_event_loop()
        self._opened: FileTasks | None = None
        self._opening = FileTasks.opened(work.settings, work.job_id, work.owner)  # closes once nothing refers to it
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    @property
    def _tasks(self) -> FileTasks:
        """What does the work; opened by the first call, whose error Ray passes on, unlike that of a constructor."""
        if self._opened is None:
            here = version("citewell")
            if here != self._work.release:
                raise ConfigurationError(
                    f"A node of the cluster has Citewell {here}, the command is of {self._work.release}.",
                    suggestion="Install the same release on all nodes.",
                )
            self._opened = self._submit(self._opening.__aenter__()).result()
        return self._opened

    def _submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)


class ReadFiles(_Stage):
    """Claims files by their numbers in the column ``item``, and reads them in a sandbox of this actor."""

    def __call__(self, numbers: Table) -> Iterator[Table]:
        """Yield the files as they are read; those that were refused or belong to others are left out."""
        tasks = self._tasks
        claimed = self._submit(tasks.claim(numbers["item"].to_pylist())).result()
        reading = [self._submit(tasks.read(file)) for file in claimed]
        for each in reading:
            found = each.result()
            yield _table([] if found is None else [found])


class EmbedFiles(_Stage):
    """Embeds the segments of files by an endpoint."""

    def __call__(self, files: Table) -> Table:
        """Return the files with their vectors, but for those that wait for the endpoint now."""
        return _table(self._submit(self._tasks.embed(_files(files))).result())


class StoreFiles(_Stage):
    """Stores files, those of a table in one transaction with their rows in the job."""

    def __call__(self, files: Table) -> Table:
        """Return an empty table: what became of the files stands in the database."""
        self._submit(self._tasks.store(_files(files))).result()
        return _table([])


def _table(files: Sequence[Read]) -> Table:
    import pyarrow

    rows = [pickle.dumps(each, protocol=pickle.HIGHEST_PROTOCOL) for each in files]
    return pyarrow.table({"file": pyarrow.array(rows, pyarrow.large_binary())})


def _files(table: Table) -> list[Read]:
    return [pickle.loads(row) for row in table["file"].to_pylist()]
