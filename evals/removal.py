"""A library without some documents, so that what it can't answer is asked of a library that never had them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from evals.workspace import ingest
from graph.evidence import Identity
from tools.ingestion import NewDocument
from tools.resources import Library


@asynccontextmanager
async def without_documents(
    library: Library, identity: Identity, documents: Sequence[NewDocument]
) -> AsyncIterator[None]:
    """Take documents out of the library with all of their statistics, and put them back in the end.

    A document that is only deleted still counts among the statistics until it is purged, which would tell on it.
    Raises CitewellError where one can't be taken out or put back.
    """
    for document in documents:
        await library.documents.delete(identity, str(document.document_id))
    await library.documents.purge(identity.workspace)
    try:
        yield
    finally:
        await ingest(library, identity, documents)
