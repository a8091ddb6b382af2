"""An index outside of the database names candidates, and may name anything: it is believed in nothing.

The index here is scripted. tests/engines has the real one.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import given as examples
from hypothesis import settings as how
from hypothesis import strategies as st
from numpy.typing import NDArray

from graph.errors import IndexUnavailable
from graph.evidence import Identity
from graph.ports import SearchQuery, SearchResult
from graph.reasons import why
from tests.contract.searcher_kit import CHINESE, DIARY, LIBRARY, LIGHTHOUSE, LONG, ME, YOU, chinese_pages, document
from tools.embeddings.embedder import open_embedder
from tools.library.catalogue import Documents
from tools.library.ingestion import Ingestor
from tools.originals.originals import Originals
from tools.retrieval.candidates import CandidateList, Candidates
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.segment_store import SegmentStore
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.index_changes import begin_again, begin_index, end_index, queue_all, read_backlog
from tools.storage.tenants import Workspaces
from tools.telemetry.metrics import REGISTRY

QUESTION = SearchQuery("How often does the lamp of the lighthouse turn?", ME, min_score=0.0, expand=0)
MANY = [document(str(UUID(int=n)), f"Note {n}", f"Note {n} is about the lamp of house {n}.") for n in range(1, 120)]
Places = Sequence[tuple[str, int]]


@dataclass
class ScriptedIndex:
    """Names what it is told to, to words and to vectors alike; ``broken`` it fails, ``slow`` it never ends."""

    engine: str = "milvus"
    words: Places = ()
    near: Places | None = None
    complete: bool = True
    broken: bool = False
    slow: bool = False
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def by_words(self, collection: str, workspace: int, idfs: Mapping[int, float], count: int) -> CandidateList:
        return await self._named(self.words, workspace, count)

    async def by_vector(
        self, collection: str, workspace: int, vector: NDArray[np.float32], count: int
    ) -> CandidateList:
        return await self._named(self.words if self.near is None else self.near, workspace, count)

    async def _named(self, places: Places, workspace: int, count: int) -> CandidateList:
        self.asked.append(("named", workspace))
        if self.slow:
            await asyncio.Event().wait()
        if self.broken:
            raise IndexUnavailable("It is broken.")
        return CandidateList([UUID(each) for each, _ in places], [index for _, index in places], self.complete)


@dataclass
class Deployment:
    database: Database
    ingestor: Ingestor
    index: ScriptedIndex
    plain: HybridSearcher
    documents: Documents
    reader: SegmentStore
    settings: Settings

    def searcher(self, *, least_segments: int = 0, deadline: float = 30, rest: float = 60) -> HybridSearcher:
        candidates = Candidates(self.index, least_segments=least_segments, deadline=deadline, rest=rest)
        plain = self.plain
        return HybridSearcher(plain._database, plain._workspaces, plain._embedder, None, candidates)

    async def execute(self, statement: str) -> None:
        async with self.database.connection() as connection:
            await connection.execute(statement.encode())

    async def ingest(self, *documents: object) -> None:
        assert all([report.status != "refused" async for report in self.ingestor.ingest_many(ME, list(documents))])  # type: ignore[arg-type]

    async def backlog(self) -> int:
        async with self.database.connection() as connection:
            return (await read_backlog(connection)).documents

    async def all_places(self) -> list[tuple[str, int]]:
        async with self.database.connection() as connection:
            found = await connection.execute("SELECT document_id::text, segment_index FROM segments ORDER BY 1, 2")
            return [(row[0], row[1]) for row in await found.fetchall()]


@pytest.fixture
async def deployment(database: Database, settings: Settings) -> Deployment:
    workspaces, embedder = Workspaces(database), await open_embedder(settings)
    ingestor = Ingestor(database, workspaces, embedder, settings)
    deployment = Deployment(
        database,
        ingestor,
        ScriptedIndex(),
        HybridSearcher(database, workspaces, embedder),
        Documents(database, workspaces, Originals.of(settings, database, workspaces)),
        SegmentStore(database, workspaces),
        settings,
    )
    await deployment.ingest(*LIBRARY)
    async with database.connection() as connection:
        assert await begin_index(connection, "citewell", embedder.dimension)
    await deployment.execute("UPDATE search_index SET state = 'serving'")
    return deployment


def hits(found: SearchResult) -> list[tuple[str, float]]:
    return [(hit.segment_id, hit.score) for hit in found.hits]


def searches(result: str) -> float:
    return REGISTRY.get_sample_value("citewell_index_searches_total", {"result": result}) or 0.0


async def test_what_is_named_is_ranked_as_without_an_index(deployment: Deployment) -> None:
    deployment.index.words = await deployment.all_places()
    searcher, before = deployment.searcher(), searches("answered")
    for text in ("How often does the lamp of the lighthouse turn?", "守塔人什么时候给齿轮上油？", "old town granary"):
        for identity in (ME, YOU):
            query = SearchQuery(text, identity, top_k=4, min_score=0.2)
            assert await searcher.search(query) == await deployment.plain.search(query)
    assert searches("answered") - before == 6


async def test_without_vectors_the_database_finds_as_much_as_an_index_of_all_words(deployment: Deployment) -> None:
    """Also segments that hold nothing but the least telling words, and are good for what stands beside them."""
    pages, questions = chinese_pages(100)
    await deployment.ingest(*pages)
    await deployment.execute("DELETE FROM index_changes")
    deployment.index.words = await deployment.all_places()
    searcher, before = deployment.searcher(), searches("answered")
    for text in questions[:40]:
        query = SearchQuery(text, ME, min_score=0.0, expand=0)
        assert hits(await searcher.search(query)) == hits(await deployment.plain.search(query))
    assert searches("answered") - before >= 40


async def test_no_name_makes_up_a_hit_or_a_score(deployment: Deployment) -> None:
    known = await deployment.all_places()
    scores = {}
    for identity in (ME, YOU):
        for document_id in {place[0] for place in known}:
            named = replace(QUESTION, identity=identity, document_ids=(document_id,), top_k=50)
            for segment_id, score in hits(await deployment.plain.search(named)):
                scores[identity, segment_id] = score
    await deployment.documents.delete(ME, CHINESE)
    lies = [*known, (str(uuid4()), 0), (LONG, 999_999), (str(UUID(int=0)), 0)]
    names = st.lists(st.sampled_from(lies), max_size=30)

    async def holds(words: Places, near: Places, identity: Identity) -> None:
        deployment.index.words, deployment.index.near = words, near
        found = await deployment.searcher().search(replace(QUESTION, identity=identity, top_k=20))
        best = max((scores[identity, hit.segment_id] for hit in found.hits), default=0.0)
        for hit in found.hits:
            assert [hit.segment] == await deployment.reader.read_segments([hit.segment_id], identity)
            own = scores[identity, hit.segment_id]
            # A document that another hit names by its title is raised, at most to that one.
            assert hit.score == pytest.approx(own, abs=1e-9) or own < hit.score <= best + 1e-9
            assert hit.segment.document_id != CHINESE
            assert identity == ME or hit.segment.document_id != DIARY

    loop = asyncio.get_running_loop()

    @how(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @examples(names, names, st.sampled_from([ME, YOU]))
    def hold(words: Places, near: Places, identity: Identity) -> None:
        asyncio.run_coroutine_threadsafe(holds(words, near, identity), loop).result()

    await asyncio.to_thread(hold)


async def test_unknown_names_are_dropped_and_counted(deployment: Deployment) -> None:
    def unknown() -> float:
        return REGISTRY.get_sample_value("citewell_index_unknown_candidates_total") or 0.0

    known, before = await deployment.all_places(), unknown()
    deployment.index.words = [(str(uuid4()), 0), (LIGHTHOUSE, 77), *known]
    assert await deployment.searcher().search(QUESTION) == await deployment.plain.search(QUESTION)
    assert unknown() - before == 4


async def test_what_the_index_does_not_have_yet_is_read_by_the_database(deployment: Deployment) -> None:
    deployment.index.words = await deployment.all_places()
    searcher = deployment.searcher()
    beacon = str(UUID(int=1))
    await deployment.ingest(document(beacon, "Beacon", "The beacon of the northern cape blinks twice a minute."))
    query = replace(QUESTION, text="How often does the beacon of the northern cape blink?")
    assert (await searcher.search(query)).hits[0].segment.document_id == beacon
    await deployment.ingest(document(beacon, "Beacon", "It blinks no more."))
    assert hits(await searcher.search(query)) == hits(await deployment.plain.search(query))
    await deployment.documents.delete(ME, beacon)
    assert hits(await searcher.search(query)) == hits(await deployment.plain.search(query))
    assert await deployment.backlog() == 1


async def test_a_failing_index_is_done_without_and_left_in_peace(deployment: Deployment) -> None:
    deployment.index.words = await deployment.all_places()
    expected = await deployment.plain.search(QUESTION)
    for fault in ("broken", "slow"):
        setattr(deployment.index, fault, True)
        searcher = deployment.searcher(deadline=0.2)
        asked = len(deployment.index.asked)
        for _ in range(3):
            found = await searcher.search(QUESTION)
            assert (hits(found), [each["code"] for each in why(found.degraded)]) == (hits(expected), ["no_index"])
        assert len(deployment.index.asked) - asked == 2, "words and vector, once"
        setattr(deployment.index, fault, False)
    recovered = await deployment.searcher(rest=0).search(QUESTION)
    assert recovered == expected


async def test_an_index_that_lost_a_part_of_the_library_is_done_without(deployment: Deployment) -> None:
    deployment.index.words = (await deployment.all_places())[:1]
    found = await deployment.searcher().search(QUESTION)
    assert hits(found) == hits(await deployment.plain.search(QUESTION))
    assert [each["code"] for each in why(found.degraded)] == ["no_index"]


async def test_where_filters_leave_too_few_the_database_looks_itself(deployment: Deployment) -> None:
    """Those named are hidden from the reader, and there are others that were not named."""
    await deployment.ingest(*MANY)
    places = await deployment.all_places()
    deployment.index.words = [place for place in places if UUID(place[0]).int in range(1, 80)]
    deployment.index.complete = False
    await deployment.execute(f"UPDATE documents SET owner = 'ann' WHERE document_id < '{UUID(int=60)}'")
    await deployment.execute("DELETE FROM index_changes")
    before = searches("narrow")
    query = replace(QUESTION, text="lamp of the house", identity=YOU, top_k=20)
    found = await deployment.searcher().search(query)
    assert found == await deployment.plain.search(query)
    assert searches("narrow") - before == 1


async def test_it_is_asked_only_once_it_serves_and_for_large_workspaces(deployment: Deployment) -> None:
    deployment.index.broken = True
    expected = await deployment.plain.search(QUESTION)
    assert await deployment.searcher(least_segments=10_000).search(QUESTION) == expected
    named = replace(QUESTION, document_ids=(LIGHTHOUSE,))
    assert await deployment.searcher().search(named) == await deployment.plain.search(named)
    for change in ("state = 'filling'", "state = 'serving', dimension = 8"):
        await deployment.execute(f"UPDATE search_index SET {change}")
        assert await deployment.searcher().search(QUESTION) == expected
    await deployment.execute("DELETE FROM search_index")
    assert await deployment.searcher().search(QUESTION) == expected
    assert deployment.index.asked == []


async def test_changes_are_queued_with_what_they_change(deployment: Deployment) -> None:
    assert await deployment.backlog() == 0, "the library was there before the index"
    await deployment.ingest(*MANY[:3])
    assert await deployment.backlog() == 3
    await deployment.ingest(*MANY[:3])
    assert await deployment.backlog() == 3, "nothing changed"
    await deployment.documents.delete(ME, MANY[0].document_id or "")
    await deployment.execute("DELETE FROM index_changes")
    assert await deployment.documents.purge("default") == 1
    assert await deployment.backlog() == 1

    async def fail(connection: Connection) -> None:
        async with connection.transaction():
            await queue_all(connection, 1)
            raise LookupError

    async with deployment.database.connection() as connection:
        with pytest.raises(LookupError):
            await fail(connection)
        assert await deployment.backlog() == 1
        assert await queue_all(connection, 1) == len(LIBRARY) + 2
        assert await queue_all(connection, 1) == 0
        assert await begin_again(connection, 8)
        await end_index(connection)
    await deployment.ingest(*MANY[3:5])
    assert await deployment.backlog() == 0, "nobody follows"
