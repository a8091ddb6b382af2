"""Run a data set through the real graph: ingest it into a library of its own, ask every question, record each."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID, uuid5

from evals.cases import Case, DataSet, Document
from evals.recording import Recorder, StoredDataSet
from evals.records import Record, Variant
from evals.workspace import throwaway_workspace
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import InvalidRequest
from graph.evidence import Identity
from tools.ingestion import Ingested, NewDocument
from tools.resources import Library

Progress = Callable[[int, int], None]
Keep = Callable[[Record], None]

_NAMES = UUID("b3f8a1de-5a0e-4a53-9a83-0c5a3f2d7e64")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a data set is run.

    ``removed`` also asks each question that has an unanswerable twin of the library without the documents it needs.
    ``concurrency`` is how many questions are in flight. The rest are a run's own knobs.
    """

    model: str = "extractive"
    concurrency: int = 4
    removed: bool = False
    top_k: int = 10
    min_score: float = 0.3
    max_rewrites: int = 1
    max_repairs: int = 1
    check_with_model: bool = False

    def context(self, identity: Identity) -> Context:
        """Give the knobs of one run; its seconds are not capped, since how long it takes is a figure."""
        return Context(
            workspace=identity.workspace,
            user=identity.user,
            model=self.model,
            top_k=self.top_k,
            min_score=self.min_score,
            max_rewrites=self.max_rewrites,
            max_repairs=self.max_repairs,
            check_with_model=self.check_with_model,
            max_seconds=None,
        )


async def run_data_set(
    citewell: Citewell,
    data: DataSet,
    options: RunOptions,
    keep: Keep,
    *,
    done: frozenset[tuple[str, Variant]] = frozenset(),
    progress: Progress | None = None,
) -> None:
    """Ask every question that is not ``done``, and hand each record to ``keep`` as soon as it is there.

    The library is a workspace of its own and goes with the run. Runs that fail are recorded and do not end it.
    Raises InvalidRequest where a document is refused, CitewellError where the library can't be read.
    """
    wanted = [("asked", case) for case in data.cases] + [
        ("removed", case) for case in data.cases if options.removed and case.removal
    ]
    left = [(variant, case) for variant, case in wanted if (case.case_id, variant) not in done]
    finished = len(wanted) - len(left)
    if progress is not None:
        progress(finished, len(wanted))

    def keep_and_tell(record: Record) -> None:
        nonlocal finished
        keep(record)
        finished += 1
        if progress is not None:
            progress(finished, len(wanted))

    async with stored_data_set(citewell.library, data) as (stored, identity):
        recorder = Recorder(citewell, stored, options.context(identity))
        await _ask_all(recorder, [c for v, c in left if v == "asked"], "asked", options.concurrency, keep_and_tell)
        for names, cases in _by_removal([c for v, c in left if v == "removed"]).items():
            async with without_documents(citewell.library, identity, stored, names):
                await _ask_all(recorder, cases, "removed", options.concurrency, keep_and_tell)


async def _ask_all(recorder: Recorder, cases: Sequence[Case], variant: Variant, at_once: int, keep: Keep) -> None:
    waiting = iter(cases)

    async def ask_next() -> None:
        for case in waiting:
            keep(await recorder.ask(case, variant))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(at_once, len(cases))):
            group.create_task(ask_next())


def _by_removal(cases: Iterable[Case]) -> dict[tuple[str, ...], list[Case]]:
    groups: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.removal].append(case)
    return groups


@asynccontextmanager
async def stored_data_set(library: Library, data: DataSet) -> AsyncIterator[tuple[StoredDataSet, Identity]]:
    """Ingest a data set's documents into a throw-away workspace. Their ids depend on their names alone.

    Raises InvalidRequest where a document is refused, or is stored with another text than the data set has of it.
    """
    async with throwaway_workspace(library, data.name) as identity:
        stored = StoredDataSet(data, document_ids(data))
        await ingest_documents(library, identity, stored, data.documents)
        pages = await library.reader.read_pages(list(stored.ids.values()), identity)
        for page in pages:
            name = stored.names[page.document_id]
            if "".join(segment.text for segment in page.segments) != data.by_name[name].text:
                raise InvalidRequest(f"{data.name}: {name} is stored with another text than its loader gave.")
        yield stored, identity


def document_ids(data: DataSet) -> dict[str, str]:
    """Give the ids under which a data set's documents are stored, by their names."""
    return {name: str(uuid5(_NAMES, f"{data.name}/{name}")) for name in data.by_name}


async def ingest_documents(
    library: Library, identity: Identity, stored: StoredDataSet, documents: Iterable[Document]
) -> None:
    """Store documents of a data set under their ids. Raises InvalidRequest where one is refused."""
    new = [_new_document(document, stored.ids[document.name]) for document in documents]
    async for report in library.ingestor.ingest_many(identity, new):
        if not isinstance(report, Ingested):
            raise InvalidRequest(f"{stored.data.name}: {report.name or 'a document'} was refused: {report.reason}")


def _new_document(document: Document, document_id: str) -> NewDocument:
    if document.data is not None:
        return NewDocument(
            data=document.data, name=document.file_name, document_id=document_id, title=document.title or None
        )
    return NewDocument(text=document.text, title=document.title, document_id=document_id)


@asynccontextmanager
async def without_documents(
    library: Library, identity: Identity, stored: StoredDataSet, names: Sequence[str]
) -> AsyncIterator[None]:
    """Take documents out of the library with all of their statistics, and put them back in the end.

    A document that is only deleted still counts among the statistics until it is purged, which would tell on it.
    Raises CitewellError where one can't be taken out or put back.
    """
    for name in names:
        await library.documents.delete(identity, stored.ids[name])
    await library.documents.purge(identity.workspace)
    try:
        yield
    finally:
        documents = [stored.data.by_name[name] for name in names]
        await ingest_documents(library, identity, stored, documents)
