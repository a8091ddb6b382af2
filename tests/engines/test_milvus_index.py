"""How an index in Milvus is filled, healed, lost and left, by a real server that is killed and comes back."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from cli.main import main
from graph.errors import IndexUnavailable
from graph.ports import SearchQuery, SearchResult
from graph.reasons import why
from tests.contract.searcher_kit import (
    CHINESE,
    DIARY,
    LIBRARY,
    LIGHTHOUSE,
    LONG,
    ME,
    VIETNAMESE,
    YOU,
    chinese_pages,
    document,
)
from tests.engines.loopback_server import LoopbackServer
from tests.engines.milvus_server import PROGRAM, milvus_server
from tools.embeddings.embedder import Embedder, open_embedder
from tools.library.catalogue import Documents
from tools.library.ingestion import Ingestor
from tools.milvus.collection import Milvus, Row
from tools.milvus.keeping import IndexKeeper, IndexWorker, Pace
from tools.originals.originals import Originals
from tools.retrieval.candidates import Candidates
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.indexing import drop_segments
from tools.retrieval.reindexing import reindex
from tools.settings import MilvusSettings, Settings
from tools.storage.database import Database
from tools.storage.index_changes import read_backlog
from tools.storage.tenants import Workspaces
from tools.telemetry.metrics import REGISTRY

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="without its engine: `make test-engines` installs Milvus")

QUERIES = [
    SearchQuery(text, identity, top_k=10, min_score=0.2)
    for text in (
        "How often does the lamp of the lighthouse turn?",
        "Ngọn hải đăng được xây năm nào?",
        "守塔人什么时候给齿轮上油？",
        "the old town year after year",
    )
    for identity in (ME, YOU)
]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LoopbackServer]:
    server = milvus_server(tmp_path_factory.mktemp("milvus"))
    await server.start()
    yield server
    await server.kill()


@dataclass
class Deployment:
    settings: Settings
    database: Database
    workspaces: Workspaces
    embedder: Embedder
    ingestor: Ingestor
    documents: Documents
    milvus: Milvus
    keeper: IndexKeeper

    @property
    def plain(self) -> HybridSearcher:
        return HybridSearcher(self.database, self.workspaces, self.embedder)

    @property
    def searcher(self) -> HybridSearcher:
        candidates = Candidates(self.milvus, least_segments=0, deadline=30, rest=0)
        return HybridSearcher(self.database, self.workspaces, self.embedder, None, candidates)

    def worker(self) -> IndexWorker:
        return IndexWorker(self.database, self.milvus, Pace(0.01, 0.01, 0.01, 0.01))

    async def ingest(self, *documents: Any) -> None:
        assert all([each.status != "refused" async for each in self.ingestor.ingest_many(ME, list(documents))])

    async def answers(self) -> bool:
        """Whether Milvus answers; its client waits longer and longer between its tries to connect."""
        try:
            await self.milvus.ping()
        except IndexUnavailable:
            return False
        return True

    async def fill(self) -> str:
        return (await self.keeper.fill(self.embedder.dimension)).collection

    async def backlog(self) -> int:
        async with self.database.connection() as connection:
            return (await read_backlog(connection)).documents

    async def follow(self) -> None:
        index = await self.keeper.read()
        assert index is not None
        while await self.keeper.follow(index):
            pass

    async def agree(self) -> None:
        """Compare all that both sides have: nothing is to be repaired, and searches by the index are the same."""
        index = await self.keeper.read()
        assert index is not None
        assert await self.keeper.settle(index) == 0
        before = answered()
        for query in QUERIES:
            assert same(await self.searcher.search(query), await self.plain.search(query))
        assert answered() - before == len(QUERIES)

    async def falls_back(self) -> None:
        """Search as well without the index, and say so."""
        for query in QUERIES:
            found = await self.searcher.search(query)
            assert [each["code"] for each in why(found.degraded)] == ["no_index"]
            assert same(found, await self.plain.search(query))


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On however busy a machine."""
    monkeypatch.setattr("tools.milvus.collection.DEADLINE_SECONDS", 30.0)


@pytest.fixture
async def deployment(server: LoopbackServer, database: Database, settings: Settings) -> AsyncIterator[Deployment]:
    milvus_settings = MilvusSettings(url=server.url)
    settings = settings.model_copy(update={"milvus": milvus_settings})
    workspaces, embedder, milvus = Workspaces(database), await open_embedder(settings), Milvus(milvus_settings)
    deployment = Deployment(
        settings,
        database,
        workspaces,
        embedder,
        Ingestor(database, workspaces, embedder, settings),
        Documents(database, workspaces, Originals.of(settings, database, workspaces)),
        milvus,
        IndexKeeper(database, milvus),
    )
    await deployment.ingest(*LIBRARY)
    yield deployment
    await milvus.close()
    await embedder.close()


def answered() -> float:
    return REGISTRY.get_sample_value("citewell_index_searches_total", {"result": "answered"}) or 0.0


def same(first: SearchResult, second: SearchResult) -> bool:
    """Whether two searches found the same; equal scores may come in either order."""
    return sorted((hit.segment_id, hit.score) for hit in first.hits) == sorted(
        (hit.segment_id, hit.score) for hit in second.hits
    )


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110 - what is waited for happens in a database
            await asyncio.sleep(0.02)


async def test_a_worker_follows_whatever_happens_to_the_library(deployment: Deployment) -> None:
    collection = await deployment.fill()
    worker = deployment.worker()
    worker.start()
    other = await deployment.workspaces.create("other", own_tables=True)
    identity = replace(ME, workspace="other")
    [_ async for _ in deployment.ingestor.ingest_many(identity, LIBRARY[:3])]
    await deployment.ingest(
        document(LIGHTHOUSE, "Lighthouse manual", "The lamp of the lighthouse turns once a minute.")
    )
    await deployment.ingest(document(LONG, "Chronicle", "It is short now: the old town, year after year."))
    await deployment.documents.delete(ME, DIARY)
    assert await deployment.documents.purge("default") == 1

    async def caught_up() -> bool:
        return await deployment.backlog() == 0

    await until(caught_up)
    assert {place[0] for place in await deployment.milvus.versions_between(collection, other, None, None)} == {
        each.document_id for each in LIBRARY[:3]
    }
    assert set(await deployment.milvus.versions(collection, 1, [UUID(LONG), UUID(DIARY)])) == {(LONG, 0)}
    await deployment.workspaces.delete("other")
    await until(caught_up)
    assert await deployment.milvus.workspaces(collection) == {1}
    await worker.close()
    await deployment.agree()


async def test_a_library_in_the_shared_tables_alone_is_nothing_that_was_lost(deployment: Deployment) -> None:
    await deployment.fill()
    small = await deployment.workspaces.create("small")
    [_ async for _ in deployment.ingestor.ingest_many(replace(ME, workspace="small"), LIBRARY[:3])]
    async with deployment.database.connection() as connection:
        await drop_segments(connection, 1, [each.document_id for each in LIBRARY])
    await deployment.follow()
    index = await deployment.keeper.read()
    assert index is not None
    assert await deployment.milvus.count(index.collection) == 0
    assert await deployment.milvus.versions_between(index.collection, small, None, None) == {}
    await deployment.keeper.restore(index)
    assert (await deployment.keeper.read()) == index, "it is still asked"


async def test_an_index_that_lies_loses_rank_and_nothing_else(deployment: Deployment) -> None:
    collection = await deployment.fill()
    milvus, other = deployment.milvus, await deployment.workspaces.create("other")
    scores = {
        (query.text, hit.segment_id): hit.score
        for query in QUERIES
        for hit in (await deployment.plain.search(replace(query, top_k=60, min_score=0))).hits
    }
    words = {n: 9.0 for n in range(1, 50)}
    vector = (await deployment.embedder.embed([QUERIES[0].text]))[0]
    swapped = [Row(each, 0, 1, words, vector) for each in (DIARY, CHINESE, VIETNAMESE, str(uuid4()), str(uuid4()))]
    await milvus.write(collection, 1, [*swapped, Row(LONG, 4711, 1, words, vector)])
    await milvus.write(collection, other, [Row(LIGHTHOUSE, 0, 1, words, vector)])
    client = milvus._connected(5)
    forged = {"workspace": 1, "document": LIGHTHOUSE, "segment": 0, "version": 1, "words": words, "vector": vector}
    names = (f"{other}:{LIGHTHOUSE}:0", "1:no-uuid:0", f'1:{LIGHTHOUSE}:0" or true', f"1:{LIGHTHOUSE}:-1")
    client.upsert(collection, [{**forged, "id": name} for name in names])
    await deployment.documents.delete(ME, CHINESE)
    for query in QUERIES:
        for hit in (await deployment.searcher.search(query)).hits:
            assert hit.score == pytest.approx(scores[query.text, hit.segment_id], abs=1e-9)
            assert hit.segment.document_id != CHINESE
            assert query.identity == ME or hit.segment.document_id != DIARY
    assert (REGISTRY.get_sample_value("citewell_index_unknown_candidates_total") or 0) > 0


async def test_the_ten_best_of_chinese_pages_are_those_that_the_database_finds(deployment: Deployment) -> None:
    pages, questions = chinese_pages(60)
    await deployment.ingest(*pages)
    await deployment.fill()
    before, equal = answered(), 0
    for text in questions[:12]:
        query = SearchQuery(text, ME, top_k=10, min_score=0.0, expand=0)
        equal += same(await deployment.searcher.search(query), await deployment.plain.search(query))
    assert answered() - before >= 12
    assert equal == 12


async def test_a_comparison_repairs_both_ways(deployment: Deployment) -> None:
    collection = await deployment.fill()
    milvus, gone, vector = deployment.milvus, str(uuid4()), np.ones(deployment.embedder.dimension, np.float32)
    await milvus.delete(collection, 1, [(LIGHTHOUSE, 0), (LONG, 1)])
    await milvus.write(collection, 1, [Row(DIARY, 0, 7, {}, vector), Row(gone, 0, 7, {}, vector)])
    await milvus.write(collection, 77, [Row(gone, 0, 7, {}, vector)])
    index = await deployment.keeper.read()
    assert index is not None
    assert await deployment.keeper.settle(index) == 5
    assert await deployment.keeper.settle(index) == -1, "the queue comes first"
    await deployment.follow()
    assert await milvus.workspaces(collection) == {1}
    assert gone not in {place[0] for place in await milvus.versions_between(collection, 1, None, None)}
    await deployment.agree()


@pytest.mark.parametrize("emptied", [False, True])
async def test_a_lost_or_emptied_collection_is_filled_again(deployment: Deployment, emptied: bool) -> None:
    collection = await deployment.fill()
    await deployment.milvus.drop(collection)
    if emptied:
        await deployment.milvus.create(collection, deployment.embedder.dimension)
    await deployment.falls_back()
    worker = deployment.worker()

    async def is_serving() -> bool:
        await worker.step()
        index = await deployment.keeper.read()
        return index is not None and index.state == "serving" and await deployment.milvus.exists(collection)

    while await worker.step():
        pass
    await until(is_serving)
    await deployment.agree()


async def test_a_server_that_is_killed_while_it_is_filled(deployment: Deployment, server: LoopbackServer) -> None:
    await deployment.ingest(
        *[document(str(UUID(int=n)), f"Note {n}", f"The lamp of house {n}. ") for n in range(1, 400)]
    )

    async def kill(done: int, of: int) -> None:
        await server.kill()

    killing: list[asyncio.Task[None]] = []
    filling = deployment.keeper.fill(
        deployment.embedder.dimension, lambda done, of: killing.append(asyncio.create_task(server.kill()))
    )
    with pytest.raises(IndexUnavailable):
        await filling
    await asyncio.gather(*killing)
    index = await deployment.keeper.read()
    assert index is not None
    assert index.state == "filling"
    assert 0 < await deployment.backlog() < 400
    for query in QUERIES:
        assert await deployment.searcher.search(query) == await deployment.plain.search(query), "nobody asks it yet"
    await server.start()
    await until(deployment.answers)
    await deployment.fill()
    await deployment.agree()


async def test_a_server_that_dies_and_comes_back_between_searches(
    deployment: Deployment, server: LoopbackServer
) -> None:
    await deployment.fill()
    await server.kill()
    await deployment.falls_back()
    await server.start()

    worker = deployment.worker()

    async def answers() -> bool:
        with suppress(IndexUnavailable):  # the client tries again, up to a time
            await worker.step()
        return (await deployment.searcher.search(QUERIES[0])).degraded is None

    await until(answers)
    await deployment.agree()


async def test_a_worker_that_is_stopped_in_between_leaves_the_queue_as_it_was(deployment: Deployment) -> None:
    await deployment.fill()
    await deployment.ingest(*[document(str(UUID(int=n)), "", f"The lamp of house {n}.") for n in range(1, 30)])
    index = await deployment.keeper.read()
    assert index is not None
    written = asyncio.Event()

    class Stuck(Milvus):
        """Writes, and never says so."""

        async def write(self, collection: str, workspace: int, rows: Sequence[Row]) -> None:
            await super().write(collection, workspace, rows)
            written.set()
            await asyncio.Event().wait()

    stuck = Stuck(deployment.settings.milvus)
    keeper = IndexKeeper(deployment.database, stuck)
    working = asyncio.create_task(keeper.follow(index))
    await written.wait()
    assert await deployment.keeper.follow(index) == 0, "another worker holds them"
    working.cancel()
    await asyncio.wait([working])
    await stuck.close()
    assert await deployment.backlog() == 29
    await deployment.follow()
    await deployment.agree()


async def test_another_model_is_another_collection(deployment: Deployment) -> None:
    class Halved(Embedder):
        """The model of before, of which only the first half of each vector is kept."""

        model = "halved"
        dimension = deployment.embedder.dimension // 2

        async def embed(self, texts: Any) -> Any:
            whole = (await deployment.embedder.embed(texts))[:, : self.dimension]
            return whole / np.maximum(np.linalg.norm(whole, axis=1, keepdims=True), 1e-9)

        def coverage(self, text: str) -> float:
            return deployment.embedder.coverage(text)

        async def close(self) -> None: ...

    before = await deployment.fill()
    halved = Halved()
    await reindex(deployment.database, halved)
    again = replace(deployment, embedder=halved)
    for query in QUERIES:
        assert await again.searcher.search(query) == await again.plain.search(query)
    worker = deployment.worker()
    worker.start()

    async def is_serving() -> bool:
        index = await deployment.keeper.read()
        return index is not None and index.state == "serving"

    await until(is_serving)
    await worker.close()
    await again.agree()
    index = await deployment.keeper.read()
    assert index is not None
    assert (index.dimension, await deployment.milvus.collections(before[:-2])) == (halved.dimension, [index.collection])


def test_a_file_is_filled_and_left_by_the_command_line(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settings.database_url is not None
    for name, value in {
        "DATABASE_URL": settings.database_url.get_secret_value(),
        "DATA_DIR": str(tmp_path / "data"),
        "MILVUS__URL": str(tmp_path / "milvus.db"),
    }.items():
        monkeypatch.setenv(f"CITEWELL_{name}", value)
    monkeypatch.setattr("tools.process.library.LEAST_SEGMENTS", 0)
    (tmp_path / "lamp.md").write_text("# Lamp\n\nThe lamp of the lighthouse turns once in twelve seconds.\n")

    def run(*arguments: str) -> str:
        monkeypatch.setattr("sys.argv", ["citewell", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, None)
        return capsys.readouterr().out

    run("ingest", str(tmp_path / "lamp.md"))
    assert "no search asks it" in run("doctor")
    assert "of 1 segment" in run("reindex", "--to", "milvus")
    assert "names candidates, of 1 segment" in run("doctor")
    assert "twelve seconds" in run("search", "How often does the lamp turn?")
    assert "PostgreSQL searches alone" in run("reindex", "--to", "postgresql")
    assert "no search asks it" in run("doctor")
