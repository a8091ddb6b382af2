"""A workspace that lives as long as a measurement, so that nobody's library is read or changed by it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID, uuid4, uuid5

from graph.errors import InvalidRequest
from graph.evidence import Identity
from tools.ingestion import Ingested, NewDocument
from tools.resources import Library

_NAMES = UUID("6f0a3a52-5d0c-4f0e-9a55-3d2f0a9b7c11")


@asynccontextmanager
async def throwaway_workspace(library: Library, name: str) -> AsyncIterator[Identity]:
    """Make a workspace of its own for a measurement, and delete it with all it holds, whatever happens."""
    identity = Identity(workspace=f"eval-{name}-{uuid4().hex[:12]}", user="eval")
    await library.workspaces.create(identity.workspace)
    try:
        yield identity
    finally:
        await library.workspaces.delete(identity.workspace)


async def ingest_texts(library: Library, identity: Identity, texts: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Store each text as a document and give their ids, in order. Raises InvalidRequest where one is refused."""
    documents = [
        NewDocument(text=text, title=title, document_id=str(uuid5(_NAMES, f"{identity.workspace}/{index}")))
        for index, (text, title) in enumerate(zip(texts, titles, strict=True))
    ]
    await ingest(library, identity, documents)
    return [str(document.document_id) for document in documents]


async def ingest(library: Library, identity: Identity, documents: Sequence[NewDocument]) -> None:
    """Store documents of a data set. Raises InvalidRequest where one is refused."""
    async for report in library.ingestor.ingest_many(identity, documents):
        if not isinstance(report, Ingested):
            raise InvalidRequest(f"{report.name or 'A document'} of the data set was refused: {report.reason}")
