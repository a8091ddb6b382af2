"""Search by vectors that the process holds: the same hits as by the database's own, whatever happens between."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as how
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine
from numpy.typing import NDArray

from graph.errors import NotFound
from graph.evidence import Identity
from graph.ports import SearchQuery, SearchResult
from tests.cut_documents import CutDocument
from tools.embeddings.embedder import Embedder
from tools.library.catalogue import Documents, write_document_rows
from tools.library.new_documents import NewDocument, make_ready
from tools.retrieval.flat_indexes import FlatIndexes
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.indexing import drop_segments, index_documents, new_version
from tools.retrieval.reindexing import reindex
from tools.retrieval.search_sql import Statement
from tools.retrieval.segmenting import SegmentSize, SegmentSpan
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.partitions import drop_partition, lock_library
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

EXAMPLES, STEPS = 10, 12
DOCUMENTS = 20
MEGABYTE = 1_000_000
WORDS = 60
ANCHOR = (
    99  # the number of a word that one document alone has: a question without any word of the library finds nothing
)
IDENTITIES = (Identity(), Identity(user="ann"), Identity(user="bob", groups=("staff",)), Identity(spaces=("blue",)))


@cache
def meaning(number: int, salt: int, dimension: int) -> NDArray[np.float64]:
    return np.random.default_rng([number, salt]).normal(size=dimension)


class WordEmbedder(Embedder):
    """Adds up random vectors of words, so that no two texts are equally near; ``salt`` makes another model.

    A word is known by its number: "said3" means what "word3" does, so that vectors alone find it.
    """

    def __init__(self, dimension: int = 16, salt: int = 0) -> None:
        self.dimension = dimension
        self.model = f"words-{salt}"
        self._salt = salt

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for word in text.split():
                vectors[row] += meaning(int(word[4:]), self._salt, self.dimension)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def coverage(self, text: str) -> float:
        return 1.0

    async def close(self) -> None: ...


def prose(random: np.random.Generator, words: int, said: str = "word") -> str:
    return " ".join(f"{said}{n}" for n in random.integers(0, WORDS, words).tolist())


async def ingest(database: Database, number: int, seed: int, embedder: WordEmbedder, segments: int = 6) -> None:
    """Store a document, or another text in its place."""
    random = np.random.default_rng([number, seed])
    bodies = [f"{prose(random, 12)} " for _ in range(segments)]
    if number == ANCHOR:
        bodies[0] += f"word{ANCHOR} "
    ends = np.cumsum([len(body) for body in bodies]).tolist()
    spans = [
        SegmentSpan(index, end - len(body), end, None, "", 5)
        for index, (body, end) in enumerate(zip(bodies, ends, strict=True))
    ]
    document_id = str(UUID(int=number))
    document = CutDocument(document_id, "", spans, "".join(bodies), await embedder.embed(bodies))
    async with database.connection() as conn, conn.transaction():
        await lock_library(conn, 1)
        await conn.execute(
            "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
            " VALUES (1, %s, '', 'text/plain', '') ON CONFLICT DO NOTHING",
            [document_id],
        )
        await drop_segments(conn, 1, [document_id])
        await index_documents(conn, 1, [document.packed()])


async def change(database: Database, number: int, columns: str) -> None:
    async with database.connection() as conn, conn.transaction():
        await conn.execute(f"UPDATE documents SET {columns} WHERE document_id = %s", [UUID(int=number)])
        if "deleted_at = NULL" in columns:
            await new_version(conn, 1)  # as whoever brings a document back


def hits(found: SearchResult) -> list[tuple[str, float]]:
    assert found.degraded is None
    return [(hit.segment_id, hit.score) for hit in found.hits]


@asynccontextmanager
async def flat(
    database: Database, embedder: WordEmbedder, most_bytes: int = MEGABYTE, **options: Any
) -> AsyncIterator[tuple[HybridSearcher, FlatIndexes]]:
    """Open a searcher that holds every workspace that it searches twice."""
    indexes = FlatIndexes(database, most_bytes, **{"least_segments": 1, "rest": 0} | options)
    try:
        yield HybridSearcher(database, Workspaces(database), embedder, indexes), indexes
    finally:
        await indexes.close()


class Library(RuleBasedStateMachine):
    """What may happen to a library between two searches."""

    settings: Settings
    numbers = st.integers(1, DOCUMENTS)

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.salt = 0

    @initialize()
    def opened(self) -> None:
        self.loop.run(self._open())

    async def _open(self) -> None:
        self.opening = open_database(self.settings)
        self.database = await self.opening.__aenter__()
        async with self.database.connection() as conn:
            every = await conn.execute("SELECT document_id::text FROM documents")
            await drop_segments(conn, 1, [row[0] for row in await every.fetchall()])
            await conn.execute("DELETE FROM documents")
            await conn.execute("DELETE FROM embedding_models")
        self.embedder = WordEmbedder()
        self.flat = flat(self.database, self.embedder)
        self.held, self.indexes = await self.flat.__aenter__()
        self.plain = HybridSearcher(self.database, Workspaces(self.database), self.embedder)
        for number in (*range(1, DOCUMENTS), ANCHOR):
            await ingest(self.database, number, 0, self.embedder)
        self.searches = 0
        await warmed(self.held, self.indexes)

    @rule(number=numbers, seed=st.integers(0, 5), segments=st.integers(1, 12))
    def stored(self, number: int, seed: int, segments: int) -> None:
        self.loop.run(ingest(self.database, number, seed, self.embedder, segments))

    @rule(number=numbers)
    def dropped(self, number: int) -> None:
        async def drop() -> None:
            async with self.database.connection() as conn:
                await drop_segments(conn, 1, [str(UUID(int=number))])

        self.loop.run(drop())

    @rule(
        changed=st.sets(numbers, min_size=1),
        columns=st.sampled_from(
            [
                "owner = 'ann'",
                "owner = NULL, readers = '{staff}'",
                "owner = NULL, readers = NULL",
                "deleted_at = now()",
                "deleted_at = NULL, expires_at = NULL",
                "expires_at = now() + interval '1 day'",
                "space_id = 'blue'",
            ]
        ),
    )
    def changed(self, changed: set[int], columns: str) -> None:
        async def change_all() -> None:
            for number in changed:
                await change(self.database, number, columns)

        self.loop.run(change_all())

    @rule()
    def reindexed(self) -> None:
        self.salt += 1
        self.embedder = WordEmbedder(salt=self.salt)
        self.held._embedder = self.plain._embedder = self.embedder  # as in processes that were started again
        self.loop.run(reindex(self.database, self.embedder))

    @rule()
    def settled(self) -> None:
        self.loop.run(self.indexes.settled())

    @invariant()
    def searched(self) -> None:
        if hasattr(self, "searches"):
            self.loop.run(self._search())

    async def _search(self) -> None:
        self.searches += 1
        question = prose(np.random.default_rng(self.searches), 4, "word" if self.searches % 4 == 0 else "said")
        query = SearchQuery(
            f"word{ANCHOR} {question}",
            IDENTITIES[self.searches % len(IDENTITIES)],
            top_k=1 + self.searches % 10,
            min_score=0.0,
            expand=self.searches % 2,
        )
        assert hits(await self.held.search(query)) == hits(await self.plain.search(query))

    def teardown(self) -> None:
        async def close() -> None:
            await self.flat.__aexit__(None, None, None)
            await self.opening.__aexit__(None, None, None)

        if hasattr(self, "held"):
            self.loop.run(close())
        self.loop.close()


async def test_hits_are_the_same_whatever_happens_between_searches(settings: Settings) -> None:
    machine = type("LibraryOf", (Library,), {"settings": settings})
    options = how(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    await asyncio.to_thread(run_machine, machine, settings=options)


@pytest.fixture
async def library(database: Database) -> Database:
    for number in (*range(1, 30), ANCHOR):
        await ingest(database, number, 0, WordEmbedder(), 10)
    return database


QUESTION = SearchQuery(f"word{ANCHOR} said1 said2 said3", Identity(), min_score=0.0, expand=0)


async def warmed(searcher: HybridSearcher, indexes: FlatIndexes) -> None:
    for _ in range(2):
        await searcher.search(QUESTION)
    await indexes.settled()


async def test_the_nearest_are_found_in_the_process_once_it_holds_the_vectors(library: Database) -> None:
    async with flat(library, WordEmbedder()) as (searcher, indexes):
        await searcher.search(QUESTION)
        assert indexes.of(1, 16) is None
        await warmed(searcher, indexes)
        index = indexes.of(1, 16)
        assert index is not None
        assert len(index) == 300
        assert 0 < indexes.memory < MEGABYTE
        await ingest(library, 31, 0, WordEmbedder(), 10)
        await searcher.search(QUESTION)
        behind = indexes.of(1, 16)
        assert behind is None or len(behind) == 310, "it is behind, unless it was brought up to date meanwhile"
        await indexes.settled()
        index = indexes.of(1, 16)
        assert index is not None
        assert len(index) == 310


async def test_the_tables_are_searched_only_where_what_is_held_does_not_suffice(
    library: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, ...]] = []
    execute = Statement.execute

    async def recording(statement: Statement, conn: Connection, bound: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        sent.append(statement.parameters)
        return await execute(statement, conn, bound)

    async def searches_tables(searcher: HybridSearcher) -> bool:
        sent.clear()
        await searcher.search(QUESTION)
        assert any("lexical_documents" in each for each in sent)
        return any("box_0" in each for each in sent)

    monkeypatch.setattr(Statement, "execute", recording)
    async with flat(library, WordEmbedder(), rest=1e9) as (searcher, indexes):
        await warmed(searcher, indexes)
        assert not await searches_tables(searcher)
        for owner, too_few in (("'ann'", True), ("NULL", False)):
            for number in range(1, 29):
                await change(library, number, f"owner = {owner}")
            assert await searches_tables(searcher) == too_few
        await ingest(library, 2, 1, WordEmbedder())
        assert await searches_tables(searcher), "what is held is of another version"


async def test_what_is_held_answers_by_words_alone_too(library: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WordEmbedder, "coverage", lambda embedder, text: 0.0)
    plain = HybridSearcher(library, Workspaces(library), WordEmbedder())
    async with flat(library, WordEmbedder()) as (searcher, indexes):
        await warmed(searcher, indexes)
        assert indexes.of(1, 16) is not None
        for number in range(5):
            query = SearchQuery(f"word{number} word{number + 9}", Identity(), top_k=5, min_score=0.0, expand=0)
            found, expected = hits(await searcher.search(query)), hits(await plain.search(query))
            assert [score for _, score in found] == [score for _, score in expected]


async def test_a_segment_that_was_committed_is_found_at_once(library: Database) -> None:
    async with flat(library, WordEmbedder()) as (searcher, indexes):
        await warmed(searcher, indexes)
        for seed in range(1, 20):
            await ingest(library, 100 + seed % 3, seed, WordEmbedder(), 2)
            async with library.connection() as conn:
                found = await conn.execute(
                    "SELECT document_id || ':' || segment_index, body FROM segments WHERE document_id = %s",
                    [UUID(int=100 + seed % 3)],
                )
                for segment_id, body in await found.fetchall():
                    question = f"word{ANCHOR} {body.replace('word', 'said')}"
                    best = await searcher.search(SearchQuery(question, Identity(), min_score=0.0, expand=0))
                    assert segment_id in [hit.segment_id for hit in best.hits[:2]]


@pytest.mark.parametrize("way", ["restored", "stored again"])
async def test_what_was_deleted_is_let_go_and_found_once_it_is_back(library: Database, way: str) -> None:
    anchor = str(UUID(int=ANCHOR))
    documents = Documents(library, Workspaces(library))
    async with flat(library, WordEmbedder()) as (searcher, indexes):
        await warmed(searcher, indexes)
        await documents.delete(Identity(), anchor)
        await ingest(library, 31, 0, WordEmbedder(), 10)
        await warmed(searcher, indexes)
        index = indexes.of(1, 16)
        assert index is not None
        assert len(index) == 300, "ten more, and ten less"
        if way == "restored":
            assert await documents.restore(Identity(), [anchor]) == [anchor]
        else:
            ready, _ = make_ready(NewDocument(document_id=anchor, text="Again."), SegmentSize(300), max_bytes=1_000)
            async with library.connection() as conn, conn.transaction():
                await write_document_rows(conn, 1, [ready])
        found = hits(await searcher.search(QUESTION))
        assert found[0][0] == f"{anchor}:0"
        assert found == hits(await HybridSearcher(library, Workspaces(library), WordEmbedder()).search(QUESTION))


async def test_filters_that_leave_too_few_are_made_good_for(library: Database) -> None:
    plain = HybridSearcher(library, Workspaces(library), WordEmbedder())
    async with flat(library, WordEmbedder()) as (searcher, indexes):
        await warmed(searcher, indexes)
        for number in range(1, 30):
            await change(library, number, "owner = 'ann'")
            assert hits(await searcher.search(QUESTION)) == hits(await plain.search(QUESTION))
        assert indexes.of(1, 16) is not None, "rights are no part of the version"


async def test_without_memory_or_size_nothing_is_held(library: Database) -> None:
    for options in ({"most_bytes": 0}, {"most_bytes": 1000}, {"least_segments": 301}):
        async with flat(library, WordEmbedder(), **options) as (searcher, indexes):
            await warmed(searcher, indexes)
            assert indexes.of(1, 16) is None
            assert indexes.memory == 0


async def test_the_workspace_that_was_searched_longest_ago_makes_room(library: Database) -> None:
    workspaces = Workspaces(library)
    async with library.connection() as conn:
        second = await workspaces.create("second", own_tables=True)
        await conn.execute(
            "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
            " SELECT %s, document_id, title, media_type, content_hash FROM documents",
            [second],
        )
        for table in ("segments", "segment_vectors"):
            await conn.execute(
                f"CREATE TEMP TABLE moved AS SELECT * FROM {table}_1; UPDATE moved SET workspace = {second};"
                f" INSERT INTO {table} SELECT * FROM moved; DROP TABLE moved"
            )
        await conn.execute(
            "UPDATE library_statistics SET (segments, documents) = (300, 30) WHERE workspace = %s", [second]
        )
    other = SearchQuery(QUESTION.text, Identity("second"), min_score=0.0, expand=0)
    for idle_seconds, held in ((0.0, second), (60.0, 1)):
        async with flat(library, WordEmbedder(), 250_000, idle_seconds=idle_seconds) as (searcher, indexes):
            await warmed(searcher, indexes)
            assert indexes.of(1, 16) is not None
            for _ in range(2):
                await searcher.search(other)
            await indexes.settled()
            assert [n for n in (1, second) if indexes.of(n, 16) is not None] == [held]


async def test_a_failure_to_read_leaves_the_database_to_search(
    library: Database, caplog: pytest.LogCaptureFixture
) -> None:
    plain = HybridSearcher(library, Workspaces(library), WordEmbedder())
    async with flat(library, WordEmbedder()) as (searcher, indexes):
        async with library.connection() as conn:
            await conn.execute("ALTER FUNCTION halfvec_send(halfvec) RENAME TO halfvec_sent")
        await warmed(searcher, indexes)
        assert indexes.of(1, 16) is None
        assert "by the database alone" in caplog.text
        assert hits(await searcher.search(QUESTION)) == hits(await plain.search(QUESTION))


async def test_a_workspace_that_is_deleted_is_let_go(library: Database) -> None:
    async with flat(library, WordEmbedder()) as (searcher, indexes):
        await warmed(searcher, indexes)
        assert indexes.memory > 0
        async with library.connection() as conn:
            await drop_partition(conn, 1)
        with pytest.raises(NotFound):
            await searcher.search(QUESTION)
        assert indexes.memory == 0
