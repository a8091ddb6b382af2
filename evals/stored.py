"""A data set as it lies in a library: ingested for as long as it is asked of, under ids that depend on names alone."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID, uuid5

from evals.cases import DataSet, Document
from evals.workspace import ingest, throwaway_workspace
from graph.errors import InvalidRequest
from graph.evidence import Identity
from tools.ingestion import NewDocument
from tools.resources import Library

_NAMES = UUID("b3f8a1de-5a0e-4a53-9a83-0c5a3f2d7e64")


@dataclass(frozen=True)
class StoredDataSet:
    """A data set in a library: its documents' ids there, and their names by those ids."""

    data: DataSet
    ids: Mapping[str, str]

    @property
    def names(self) -> Mapping[str, str]:
        return {document_id: name for name, document_id in self.ids.items()}

    def to_store(self, names: Iterable[str]) -> list[NewDocument]:
        """Give documents as they are to be ingested."""
        return [_new_document(self.data.by_name[name], self.ids[name]) for name in names]


@asynccontextmanager
async def stored_data_set(library: Library, data: DataSet) -> AsyncIterator[tuple[StoredDataSet, Identity]]:
    """Ingest a data set's documents into a throw-away workspace.

    Raises InvalidRequest where a document is refused, or is stored with another text than the data set has of it.
    """
    async with throwaway_workspace(library, data.name) as identity:
        stored = StoredDataSet(data, document_ids(data))
        await ingest(library, identity, stored.to_store(stored.ids))
        pages = await library.reader.read_pages(list(stored.ids.values()), identity)
        for page in pages:
            name = stored.names[page.document_id]
            if "".join(segment.text for segment in page.segments) != data.by_name[name].text:
                raise InvalidRequest(f"{data.name}: {name} is stored with another text than its loader gave.")
        yield stored, identity


def document_ids(data: DataSet) -> dict[str, str]:
    """Give the ids under which a data set's documents are stored, by their names."""
    return {name: str(uuid5(_NAMES, f"{data.name}/{name}")) for name in data.by_name}


def _new_document(document: Document, document_id: str) -> NewDocument:
    if document.data is not None:
        return NewDocument(
            data=document.data, name=document.file_name, document_id=document_id, title=document.title or None
        )
    return NewDocument(text=document.text, title=document.title, document_id=document_id)
