import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from graph.errors import EmbeddingUnavailable, InvalidRequest
from tests.cut_documents import CutDocument
from tools.embeddings.embedder import Embedder, check_recorded, recorded_embedding
from tools.retrieval.indexing import drop_segments, index_documents
from tools.retrieval.reindexing import reindex
from tools.retrieval.segmenting import SegmentSpan
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

BODIES = ["The war began in 1914.", "It ended in 1918.", "Peace was signed in 1919."]


class LengthEmbedder(Embedder):
    """A model whose vectors tell the length of the text, so that a wrong vector shows."""

    def __init__(self, model: str, dimension: int) -> None:
        self.model = model
        self.dimension = dimension
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        return np.asarray([self.vector(text) for text in texts], np.float32).reshape(len(texts), self.dimension)

    def vector(self, text: str) -> NDArray[np.float32]:
        turned = np.zeros(self.dimension, np.float32)
        turned[:2] = np.cos(len(text)), np.sin(len(text))
        return turned

    def coverage(self, text: str) -> float:
        return 1.0

    async def close(self) -> None: ...


class FailingEmbedder(LengthEmbedder):
    """An endpoint that breaks down after some texts."""

    def __init__(self, model: str, dimension: int, *, after: int) -> None:
        super().__init__(model, dimension)
        self.after = after

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(self.embedded) >= self.after:
            raise EmbeddingUnavailable("The embedding endpoint failed.")
        return await super().embed(texts)


class InterruptingEmbedder(LengthEmbedder):
    """Does something of others' once it is asked for a text that it waits for."""

    def __init__(self, model: str, dimension: int, meanwhile: dict[str, Callable[[], Awaitable[None]]]) -> None:
        super().__init__(model, dimension)
        self.meanwhile = meanwhile

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        for text in texts:
            if (work := self.meanwhile.pop(text, None)) is not None:
                await work()
        return await super().embed(texts)


async def store(database: Database, workspace: int, document: str, bodies: Sequence[str], dimension: int) -> None:
    ends = np.cumsum([len(body) for body in bodies]).tolist()
    spans = [
        SegmentSpan(index, end - len(body), end, None, "", 5)
        for index, (body, end) in enumerate(zip(bodies, ends, strict=True))
    ]
    old = await LengthEmbedder("old", dimension).embed(bodies)
    async with database.connection() as connection:
        await check_recorded(connection, LengthEmbedder("old", 8))
        packed = CutDocument(document, "T", spans, "".join(bodies), old).packed(workspace)
        await index_documents(connection, workspace, [packed])


async def vectors(database: Database) -> dict[tuple[int, str, int], tuple[str, list[float]]]:
    async with database.connection() as connection:
        found = await connection.execute(
            "SELECT workspace, document_id, segment_index, body, embedding::real[] FROM all_segments"
            " JOIN (TABLE segment_vectors UNION ALL TABLE shared_segment_vectors) AS v"
            " USING (workspace, document_id, segment_index)"
        )
        return {(row[0], str(row[1]), row[2]): (row[3], row[4]) for row in await found.fetchall()}


async def assert_embedded_by(database: Database, embedder: LengthEmbedder, segments: int) -> None:
    stored = await vectors(database)
    assert len(stored) == segments
    for body, vector in stored.values():
        np.testing.assert_allclose(vector, embedder.vector(body), atol=1e-3)
    async with database.connection() as connection:
        assert await recorded_embedding(connection) == (embedder.model, embedder.dimension)


@pytest.fixture
async def workspaces(database: Database) -> list[int]:
    """Two workspaces with a document each, in 8 dimensions of the old model: one has its own tables, one shares."""
    numbers = [1, await Workspaces(database).create("other")]
    for number in numbers:
        await store(database, number, str(uuid.UUID(int=number)), BODIES, 8)
    return numbers


@pytest.mark.parametrize("dimension", [8, 16])
async def test_every_vector_comes_from_the_new_model(database: Database, workspaces: list[int], dimension: int) -> None:
    new = LengthEmbedder("new", dimension)
    heard: list[tuple[int, int]] = []
    report = await reindex(database, new, lambda done, total: heard.append((done, total)))
    assert (report.model, report.dimension, report.segments) == ("new", dimension, 6)
    assert heard[-1] == (6, 6)
    await assert_embedded_by(database, new, 6)


async def test_a_workspace_that_is_deleted_during_the_swap_does_not_undo_it(
    database: Database, workspaces: list[int]
) -> None:
    first, last = workspaces

    async def ingest() -> None:
        await store(database, first, str(uuid.UUID(int=9)), ["Ingested while vectors are gathered."], 8)

    async def delete() -> None:
        await Workspaces(database).delete("other")

    await store(database, last, str(uuid.UUID(int=8)), ["The last that is gathered."], 8)
    # The swap embeds the segment that the first workspace is behind by, and has not locked the other one yet.
    events = {"The last that is gathered.": ingest, "Ingested while vectors are gathered.": delete}
    new = InterruptingEmbedder("new", 16, events)
    assert (await reindex(database, new)).segments == 4
    assert not events
    await assert_embedded_by(database, new, 4)


async def test_an_empty_library_records_the_model(database: Database) -> None:
    new = LengthEmbedder("new", 8)
    assert (await reindex(database, new)).segments == 0
    await assert_embedded_by(database, new, 0)


async def test_what_is_cut_short_leaves_the_library_as_it_was_and_is_taken_up_again(
    database: Database, workspaces: list[int]
) -> None:
    with pytest.raises(EmbeddingUnavailable):
        await reindex(database, FailingEmbedder("new", 16, after=3))
    await assert_embedded_by(database, LengthEmbedder("old", 8), 6)
    second = LengthEmbedder("new", 16)
    await reindex(database, second)
    assert len(second.embedded) == 3  # the other three were kept
    await assert_embedded_by(database, second, 6)


async def test_vectors_gathered_for_a_third_model_are_not_used(database: Database, workspaces: list[int]) -> None:
    with pytest.raises(EmbeddingUnavailable):
        await reindex(database, FailingEmbedder("third", 16, after=3))
    new = LengthEmbedder("new", 16)
    await reindex(database, new)
    assert len(new.embedded) == 6
    await assert_embedded_by(database, new, 6)


async def test_what_is_ingested_meanwhile_is_embedded_too(database: Database, workspaces: list[int]) -> None:
    """A document added, one replaced under its own ids and one deleted after their workspace was gathered."""
    changed = str(uuid.UUID(int=workspaces[0]))

    class Busy(LengthEmbedder):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if len(self.embedded) == 3:  # the first workspace is gathered, the second is not
                self.embedded.append("")
                await store(database, workspaces[0], str(uuid.uuid4()), ["Added meanwhile."], 8)
                async with database.connection() as connection:
                    await drop_segments(connection, workspaces[0], [changed])
                await store(database, workspaces[0], changed, ["Replaced.", "Another text of it."], 8)
            return await super().embed(texts)

    new = Busy("new", 16)
    await reindex(database, new)
    await assert_embedded_by(database, new, 6)
    assert {"Added meanwhile.", "Replaced.", "Another text of it."} <= set(new.embedded)


async def test_a_vector_index_of_the_old_dimension_is_no_hindrance(database: Database, workspaces: list[int]) -> None:
    async with database.connection() as connection:
        await connection.execute(
            "CREATE INDEX old ON segment_vectors_1 USING hnsw ((embedding::halfvec(8)) halfvec_cosine_ops)"
        )
    new = LengthEmbedder("new", 16)
    await reindex(database, new)
    await assert_embedded_by(database, new, 6)


async def test_search_goes_on_meanwhile(database: Database, workspaces: list[int]) -> None:
    """A reader inside the last transaction's time sees the old vectors, all of them, and doesn't wait."""
    seen: list[int] = []

    class Watched(LengthEmbedder):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            async with asyncio.timeout(60):
                stored = await vectors(database)
            seen.append(len({len(vector) for _, vector in stored.values()}))
            return await super().embed(texts)

    await reindex(database, Watched("new", 16))
    assert set(seen) == {1}


async def test_one_at_a_time(database: Database, workspaces: list[int]) -> None:
    class Again(LengthEmbedder):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if texts:
                with pytest.raises(InvalidRequest, match="running"):
                    await reindex(database, LengthEmbedder("third", 8))
            return await super().embed(texts)

    new = Again("new", 16)
    await reindex(database, new)
    await assert_embedded_by(database, new, 6)
