"""How long a changed document takes to be in place of the old: twenty segments, in the largest workspace."""

import time

from bench.corpus import Corpus
from bench.library import BenchWorkspace
from tools.database import Connection
from tools.retrieval.indexing import drop_segments, index_segments
from tools.retrieval.maintenance import maintain
from tools.static_embedding import StaticEmbedder

REPLACEMENTS = 30


async def replacement_seconds(
    conn: Connection, workspace: BenchWorkspace, corpus: Corpus, embedder: StaticEmbedder
) -> list[float]:
    """Replace documents by new ones, embedded beforehand, and put the old ones back. Returns seconds, one each."""
    seconds = []
    vectors = workspace.indexed()
    for old, new in zip(vectors[:REPLACEMENTS], corpus.documents(REPLACEMENTS), strict=True):
        embedded = await embedder.embed(new.bodies())
        began = time.perf_counter()
        async with conn.transaction():
            await drop_segments(conn, workspace.number, [old.document_id])
            await index_segments(conn, workspace.number, old.document_id, new.title, new.spans, new.text, embedded)
        await maintain(conn, workspace.number)
        seconds.append(time.perf_counter() - began)
        async with conn.transaction():
            await drop_segments(conn, workspace.number, [old.document_id])
            await index_segments(
                conn, workspace.number, old.document_id, old.title, old.spans, old.canonical_text, old.embeddings
            )
    return seconds
