"""Vectors that are drawn from a library: few, of few pages, and the same ones each time."""

from uuid import UUID

import numpy as np
import pytest

from tests.cut_documents import CutDocument
from tools.retrieval import typical_vectors
from tools.retrieval.indexing import index_documents
from tools.retrieval.segmenting import SegmentSpan
from tools.retrieval.typical_vectors import _draw
from tools.storage.database import Database
from tools.storage.partitions import find_place, lock_library

DIMENSION, SEGMENTS = 64, 600


async def test_a_large_library_is_not_read_whole(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(0).normal(size=(SEGMENTS, DIMENSION)).astype(np.float32)
    spans = [SegmentSpan(at, 5 * at, 5 * at + 5, None, "", 5) for at in range(SEGMENTS)]
    document = CutDocument(str(UUID(int=1)), "", spans, "word " * SEGMENTS, vectors)
    async with database.connection() as conn:
        async with conn.transaction():
            await lock_library(conn, 1)
            await conn.execute(
                "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
                " VALUES (1, %s, '', 'text/plain', '')",
                [document.document_id],
            )
            await index_documents(conn, 1, [document.packed()])
        place = await find_place(conn, 1)
        assert place is not None
        everything = await _draw(conn, place, DIMENSION)
        monkeypatch.setattr(typical_vectors, "LOOKED_AT", SEGMENTS // 2)
        drawn = [await _draw(conn, place, DIMENSION) for _ in range(2)]
    assert np.array_equal(drawn[0], drawn[1])
    assert 0 < len(drawn[0]) <= typical_vectors.MOST == len(everything)
    assert not np.array_equal(drawn[0], everything)
