"""A data set ingested into a workspace of its own, under document ids that depend only on names.

The workspace is temporary, unless the set is large enough to keep it from run to run.

Documents can be removed temporarily, so that an unanswerable question is asked of a library that never had them.
"""

import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4, uuid5

from evals.cases import DataSet, Document
from graph.errors import InvalidRequest
from graph.evidence import Identity, Space
from tools.library.ingestion import Ingested, NewDocument
from tools.process.library import Library

_TEXT_NAMESPACE = UUID("6f0a3a52-5d0c-4f0e-9a55-3d2f0a9b7c11")


@asynccontextmanager
async def throwaway_workspace(library: Library, name: str) -> AsyncIterator[Identity]:
    """Create a workspace for a measurement, and always delete it with its contents on exit."""
    identity = Identity(workspace=f"eval-{name}-{uuid4().hex[:12]}", user="eval")
    await library.workspaces.create(identity.workspace)
    try:
        yield identity
    finally:
        await library.originals.delete_workspace(identity.workspace)
        await library.workspaces.delete(identity.workspace)


@asynccontextmanager
async def lasting_workspace(library: Library, data: DataSet) -> AsyncIterator[Identity]:
    """Open the workspace of a set's documents, which stays; ingestion then writes only what changed since.

    It is named by the documents, so that another version of the set has a workspace of its own.
    """
    digest = hashlib.sha256()
    for document in data.documents:
        digest.update(f"{document.name}\0{document.title}\0{document.text}\0".encode())
    identity = Identity(workspace=f"eval-{data.name}-{digest.hexdigest()[:12]}", user="eval")
    await library.workspaces.ensure(identity.workspace)
    yield identity


async def ingest_texts(library: Library, identity: Identity, texts: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Store each text as a document; return the ids in order. Raises InvalidRequest if one is refused."""
    documents = [
        NewDocument(text=text, title=title, document_id=str(uuid5(_TEXT_NAMESPACE, f"{identity.workspace}/{index}")))
        for index, (text, title) in enumerate(zip(texts, titles, strict=True))
    ]
    await ingest(library, identity, documents)
    return [str(document.document_id) for document in documents]


async def ingest(library: Library, identity: Identity, documents: Sequence[NewDocument]) -> None:
    """Store documents of a data set. Raises InvalidRequest if one is refused."""
    async for report in library.ingestor.ingest_many(identity, documents):
        if not isinstance(report, Ingested):
            raise InvalidRequest(f"{report.name or 'A document'} of the data set was refused: {report.reason}")


@asynccontextmanager
async def without_documents(
    library: Library, identity: Identity, documents: Sequence[NewDocument]
) -> AsyncIterator[None]:
    """Remove documents with their statistics from the library, and ingest them again on exit.

    A deleted document still counts in the search statistics until it is purged, which would skew the measurement.
    Raises CitewellError if one can't be removed or ingested again.
    """
    for document in documents:
        await library.documents.delete(identity, str(document.document_id))
    await library.documents.purge(identity.workspace)
    try:
        yield
    finally:
        await ingest(library, identity, documents)


_DATA_SET_NAMESPACE = UUID("b3f8a1de-5a0e-4a53-9a83-0c5a3f2d7e64")


@dataclass(frozen=True)
class StoredDataSet:
    """A data set in a library, with the document ids by name and the names by id."""

    data: DataSet
    ids: Mapping[str, str]

    @property
    def names(self) -> Mapping[str, str]:
        return {document_id: name for name, document_id in self.ids.items()}

    def to_store(self, names: Iterable[str]) -> list[NewDocument]:
        """Return the named documents in the form for ingestion."""
        return [_new_document(self.data.by_name[name], self.ids[name]) for name in names]


@asynccontextmanager
async def stored_data_set(library: Library, data: DataSet) -> AsyncIterator[tuple[StoredDataSet, Identity]]:
    """Ingest a data set's documents into a workspace, which is deleted on exit unless the set is lasting.

    Raises InvalidRequest if a document is refused, or its stored text differs from the data set's.
    """
    workspace = lasting_workspace(library, data) if data.lasting else throwaway_workspace(library, data.name)
    async with workspace as identity:
        stored = StoredDataSet(data, document_ids(data))
        await ingest(library, identity, stored.to_store(stored.ids))
        pages = await library.reader.read_pages(list(stored.ids.values()), identity)
        for page in pages:
            name = stored.names[page.document_id]
            if "".join(segment.text for segment in page.segments) != data.by_name[name].text:
                raise InvalidRequest(f"{data.name}: the stored text of {name} differs from its loader's.")
        yield stored, identity


def document_ids(data: DataSet) -> dict[str, str]:
    """Return the ids of a data set's stored documents, by name."""
    return {name: str(uuid5(_DATA_SET_NAMESPACE, f"{data.name}/{name}")) for name in data.by_name}


def _new_document(document: Document, document_id: str) -> NewDocument:
    space = Space(id=document.space, slug=document.space) if document.space else None
    if document.data is not None:
        return NewDocument(
            data=document.data,
            name=document.file_name,
            document_id=document_id,
            title=document.title or None,
            space=space,
        )
    return NewDocument(text=document.text, title=document.title, document_id=document_id, space=space)
