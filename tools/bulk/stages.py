"""The stages of ingestion as actors of Ray Data: read files, embed their segments, store them.

What goes from one to the next is a column of pickled rows, so that Ray counts their bytes. A stage may run twice for
the same files: the claim in the database decides which run counts.
"""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.bulk.actors import Actor, Table
from tools.bulk.storing import FileTasks, Read
from tools.settings import Settings


@dataclass(frozen=True, slots=True)
class Work:
    """What a stage needs to know: the settings with the database's address, the job, and in whose name to claim."""

    settings: Settings
    job_id: str
    owner: str
    release: str


class FileActor(Actor[FileTasks]):
    """An actor that works on the files of a job."""

    def __init__(self, work: Work) -> None:
        super().__init__(work.release, FileTasks.opened(work.settings, work.job_id, work.owner))


class ReadFiles(FileActor):
    """Claims files by their numbers in the column ``item``, and reads them in a sandbox of this actor."""

    def __call__(self, numbers: Table) -> Iterator[Table]:
        """Yield the files as they are read; those that were refused or belong to others are left out."""
        tasks = self.opened
        claimed = self.submit(tasks.claim(numbers["item"].to_pylist())).result()
        reading = [self.submit(tasks.read(file)) for file in claimed]
        for each in reading:
            found = each.result()
            yield _table([] if found is None else [found])
        if not reading:
            yield _table([])


class EmbedFiles(FileActor):
    """Embeds the segments of files by an endpoint."""

    def __call__(self, files: Table) -> Table:
        """Return the files with their vectors, but for those that wait for the endpoint now."""
        return _table(self.submit(self.opened.embed(_files(files))).result())


class StoreFiles(FileActor):
    """Stores files, those of a table in one transaction with their rows in the job."""

    def __call__(self, files: Table) -> Table:
        """Return an empty table: what became of the files stands in the database."""
        self.submit(self.opened.store(_files(files))).result()
        return _table([])


def _table(files: Sequence[Read]) -> Table:
    import pyarrow

    rows = [pickle.dumps(each, protocol=pickle.HIGHEST_PROTOCOL) for each in files]
    return pyarrow.table({"file": pyarrow.array(rows, pyarrow.large_binary())})


def _files(table: Table) -> list[Read]:
    return [pickle.loads(row) for row in table["file"].to_pylist()]
