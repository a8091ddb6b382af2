"""A library without one of its documents, so that what it can't answer is asked of a library that never had it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph.errors import CitewellError
from graph.evidence import Identity
from tools.ingestion import Ingested, NewDocument
from tools.resources import Library


@asynccontextmanager
async def without_document(library: Library, identity: Identity, document: NewDocument) -> AsyncIterator[None]:
    """Take a document out of the library and all of its statistics, and put it back in the end.

    A document that is only deleted still counts among the statistics until it is purged, which would tell on it.
    Raises CitewellError where it can't be put back.
    """
    await library.documents.delete(identity, str(document.document_id))
    await library.documents.purge(identity.workspace)
    try:
        yield
    finally:
        async for report in library.ingestor.ingest_many(identity, [document]):
            if not isinstance(report, Ingested):
                raise CitewellError(f"A text of the data set was refused: {report.reason}")
