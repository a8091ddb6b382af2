"""Workspaces that share tables: they answer as those with their own do, see nothing of each other, and move."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from graph.errors import DatabaseUnavailable, InvalidRequest, NotFound
from graph.evidence import Identity
from graph.ports import SearchQuery
from tests.contract.searcher_kit import LIBRARY, LIGHTHOUSE, document
from tools.embeddings.embedder import Embedder, open_embedder
from tools.langchain.vector_store import library_vector_store
from tools.library.catalogue import Documents
from tools.library.ingestion import Ingestor
from tools.library.languages import SampledLanguages
from tools.retrieval import indexing, placing
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.placing import give_own_tables, move_if_outgrown, share_tables_again
from tools.retrieval.reindexing import reindex
from tools.retrieval.segment_store import SegmentStore
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.partitions import Place
from tools.storage.tenants import Workspaces

OWN, SHARED, OTHER = Identity("own"), Identity("shared"), Identity("other")
QUESTIONS = (
    "Who oils the gears of the lamp?",
    "the lamp of the lighthouse",
    "How often is the granary described?",
    "Ngọn hải đăng được xây năm nào?",
    "守塔人什么时候给齿轮上油？",
    "Does the pilot serve aboard the Amphitrite?",
)


@dataclass(frozen=True, slots=True)
class Process:
    """What one process has over a database; another one has its own idea of where workspaces are."""

    database: Database
    workspaces: Workspaces
    embedder: Embedder
    settings: Settings

    @property
    def ingestor(self) -> Ingestor:
        return Ingestor(self.database, self.workspaces, self.embedder, self.settings)

    @property
    def documents(self) -> Documents:
        return Documents(self.database, self.workspaces)

    async def hits(self, text: str, identity: Identity, **scope: Any) -> list[tuple[str, float, str]]:
        query = SearchQuery(text, identity, **{"min_score": 0.0, "expand": 1, **scope})
        found = await HybridSearcher(self.database, self.workspaces, self.embedder).search(query)
        return [(hit.segment_id, round(hit.score, 9), hit.segment.text) for hit in found.hits]

    async def segments(self, identity: Identity) -> list[str]:
        pages = await SegmentStore(self.database, self.workspaces).read_pages([LIGHTHOUSE], identity)
        return [segment.text for page in pages for segment in page.segments]

    async def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        async with self.database.connection() as conn:
            return await (await conn.execute(statement.encode(), values)).fetchall()

    async def fill(self, identity: Identity, documents: list[Any] = LIBRARY) -> None:
        async for _ in self.ingestor.ingest_many(identity, documents):
            pass

    async def move(self, how: Callable[[Connection, int], Awaitable[bool]], name: str) -> bool:
        number = await self.workspaces.number(name)
        async with self.database.connection() as conn:
            return await how(conn, number)


@pytest.fixture
async def process(database: Database, settings: Settings) -> Process:
    workspaces = Workspaces(database)
    await workspaces.create("own", own_tables=True)
    await workspaces.create_many(["shared", "other"])
    return Process(database, workspaces, await open_embedder(settings), settings)


def another(process: Process) -> Process:
    return Process(process.database, Workspaces(process.database), process.embedder, process.settings)


async def counted(process: Process, name: str) -> list[tuple[Any, ...]]:
    """Say how many segments, distinct segments and vectors a workspace has, and how many it is said to have."""
    return await process.rows(
        "SELECT (SELECT count(*) FROM all_segments AS s WHERE s.workspace = number),"
        " (SELECT count(DISTINCT (document_id, segment_index)) FROM all_segments AS s WHERE s.workspace = number),"
        " (SELECT count(*) FROM segment_vectors AS v WHERE v.workspace = number)"
        " + (SELECT count(*) FROM shared_segment_vectors AS v WHERE v.workspace = number),"
        " segments FROM workspaces JOIN library_statistics ON workspace = number WHERE name = %s",
        name,
    )


async def test_a_library_gives_the_same_hits_and_scores_in_both_places(process: Process) -> None:
    for identity in (OWN, SHARED):
        await process.fill(identity)
    await process.fill(OTHER, [document(LIGHTHOUSE, "Lighthouse", "The lamp of the lighthouse. " * 300)])
    for question in QUESTIONS:
        for scope in ({}, {"document_ids": (LIGHTHOUSE,)}, {"spaces": ("harbour",)}, {"top_k": 2}):
            in_shared = await process.hits(question, SHARED, **scope)
            assert in_shared == await process.hits(question, OWN, **scope)
            assert in_shared or scope


async def test_workspaces_in_the_shared_tables_see_and_change_nothing_of_each_other(process: Process) -> None:
    """The documents of both have the same ids, and nearly the same words: a statement not bound to one would tell."""
    secret = "The lamp of the lighthouse turns once in ninety seconds. Its keeper oils the gears on Sundays."
    await process.fill(SHARED)
    await process.fill(OTHER, [document(LIGHTHOUSE, "Lighthouse manual", secret)])
    before = [await process.hits(question, SHARED) for question in QUESTIONS]
    assert {text for question in QUESTIONS for *_, text in await process.hits(question, OTHER)} == {secret}
    assert all(secret not in text for hits in before for *_, text in hits)
    assert await process.segments(OTHER) == [secret]
    assert secret not in await process.segments(SHARED)
    [raw] = (await process.documents.raw_text(OTHER, LIGHTHOUSE))["segments"]
    assert raw["text"] == secret
    assert (await process.documents.get(OTHER, LIGHTHOUSE)).segments == 1
    languages = SampledLanguages(process.database, process.workspaces)
    assert await languages(OTHER) == ("en",)
    assert len(await languages(SHARED)) > 1
    async with library_vector_store(process.database, process.workspaces, process.embedder, "other") as store:
        assert [found.page_content for found in await store.asimilarity_search("lamp", k=10)] == [secret]
    # What one of them writes leaves the other as it was: a new text, a deletion, other vectors, its end.
    of_shared = "SELECT s::text, xmin::text FROM shared_segments AS s WHERE workspace = 3 ORDER BY 1"
    shared = await process.rows(of_shared)
    await process.fill(OTHER, [document(LIGHTHOUSE, "Lighthouse manual", secret + " Now and then.")])
    await process.documents.delete(OTHER, LIGHTHOUSE)
    assert await process.documents.purge("other") == 1
    assert [await process.hits(question, SHARED) for question in QUESTIONS] == before
    await reindex(process.database, process.embedder)
    await process.workspaces.delete("other")
    assert shared == await process.rows(of_shared)
    again = [await process.hits(question, SHARED) for question in QUESTIONS]
    for hits, same in zip(again, before, strict=True):
        assert [(segment_id, text) for segment_id, _, text in hits] == [(s, text) for s, _, text in same]
        # Reindexing sends vectors as text, which rounds them once more.
        assert [score for _, score, _ in hits] == pytest.approx([score for _, score, _ in same], abs=1e-3)
    assert {row[0] for row in await process.rows("SELECT DISTINCT workspace FROM shared_segment_vectors")} == {3}
    with pytest.raises(NotFound):
        await process.hits(QUESTIONS[0], OTHER)


async def test_a_workspace_that_outgrows_the_bound_moves_and_other_processes_notice(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = another(process)
    await process.fill(SHARED)
    [first, *_] = await other.hits(QUESTIONS[0], SHARED)  # it knows now where to look
    assert not (await other.workspaces.place("shared")).own
    monkeypatch.setattr("tools.retrieval.placing.OWN_TABLES_ABOVE", 5)
    more = document("0b7e5f0e-0000-4000-8000-0000000000ff", "Extra", "An extra page about marmalade.")
    await process.fill(SHARED, [more])
    found = await other.hits(QUESTIONS[0], SHARED)
    assert found[0][0] == first[0]
    assert (await other.workspaces.place("shared")).own
    assert "marmalade" in (await other.hits("marmalade", SHARED))[0][2]
    assert await process.rows("SELECT count(*) FROM shared_segments") == [(0,)]
    reader = another(process)
    text = await reader.segments(SHARED)
    assert await process.move(share_tables_again, "shared")
    assert await reader.segments(SHARED) == text  # it takes the own table, which is gone, for the place
    assert await other.hits(QUESTIONS[0], SHARED) == found
    assert await process.rows("SELECT to_regclass(%s)", "segments_3") == [(None,)]
    [(segments, distinct, vectors, said)] = await counted(process, "shared")
    assert segments == distinct == vectors == said


GONE = "SELECT gin_clean_pending_list('999999999')"  # as a statement fails whose table is dropped before it locks it


async def test_a_statement_whose_table_went_before_it_was_locked_is_tried_again(process: Process) -> None:
    await process.fill(SHARED)
    looks: list[Place] = []

    async with process.database.connection() as conn:

        async def read(place: Place) -> str:
            looks.append(place)
            if len(looks) == 1:
                await conn.execute(GONE)
            return "read"

        assert await process.workspaces.read(conn, "shared", read) == "read"
        assert len(looks) == 2
        with pytest.raises(psycopg.errors.DivisionByZero):
            await process.workspaces.read(conn, "shared", lambda _: conn.execute("SELECT 1 / 0"))


@asynccontextmanager
async def held_lock(process: Process, statement: str) -> AsyncIterator[None]:
    """Hold what a statement locks."""
    async with process.database.connection() as conn, conn.transaction():
        await conn.execute(statement.encode())
        yield


async def waiting_backend(process: Process, query: str) -> int:
    """Wait until a statement waits for a lock, and return its process."""
    while True:
        found = await process.rows(
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"
            " AND datname = current_database()",
            query,
        )
        if found:
            return int(found[0][0])
        await asyncio.sleep(0.01)


async def test_a_mover_that_is_killed_loses_and_doubles_nothing_while_all_goes_on(process: Process) -> None:
    await process.fill(SHARED)
    expected = [await process.hits(question, SHARED) for question in QUESTIONS]
    before = await counted(process, "shared")
    another_page = document("0b7e5f0e-0000-4000-8000-0000000000ff", "Extra", "An extra page about marmalade.")
    async with held_lock(process, "LOCK TABLE segments IN SHARE UPDATE EXCLUSIVE MODE"):
        moving = asyncio.create_task(process.move(give_own_tables, "shared"))
        pid = await waiting_backend(process, "ALTER TABLE%ATTACH%")
        # It has copied and deleted all: readers see the library as it was, and what changes it waits.
        assert [await another(process).hits(question, SHARED) for question in QUESTIONS] == expected
        assert await process.segments(SHARED)
        assert await counted(process, "shared") == before
        assert not await process.move(give_own_tables, "shared")  # one is at it
        ingesting = asyncio.create_task(process.fill(SHARED, [another_page]))
        await waiting_backend(process, "SELECT own_tables%FOR UPDATE%")
        assert await process.rows("SELECT pg_terminate_backend(%s)", pid) == [(True,)]
        with pytest.raises((DatabaseUnavailable, psycopg.Error)):
            await moving
        await ingesting
    [(segments, distinct, vectors, said)] = after = await counted(process, "shared")
    assert segments == distinct == vectors == said == before[0][0] + 1
    assert await process.rows("SELECT to_regclass(%s)", "segments_3") == [(None,)]
    assert await process.move(give_own_tables, "shared")
    assert await counted(process, "shared") == after
    assert "marmalade" in (await process.hits("marmalade", SHARED))[0][2]


async def test_a_move_back_that_is_killed_can_be_followed_by_any(process: Process) -> None:
    await process.fill(OWN)
    expected, before = await process.hits(QUESTIONS[0], OWN), await counted(process, "own")
    async with held_lock(process, "SELECT count(*) FROM segments"):  # a long read, as a dump is
        moving = asyncio.create_task(process.move(share_tables_again, "own"))
        pid = await waiting_backend(process, "ALTER TABLE%DETACH%")
        assert await another(process).hits(QUESTIONS[0], OWN) == expected
        assert await process.rows("SELECT pg_terminate_backend(%s)", pid) == [(True,)]
        with pytest.raises((DatabaseUnavailable, psycopg.Error)):
            await moving
    assert (await counted(process, "own"), await process.hits(QUESTIONS[0], OWN)) == (before, expected)
    assert await process.move(give_own_tables, "own")
    assert (await counted(process, "own"), await process.hits(QUESTIONS[0], OWN)) == (before, expected)


async def test_a_workspace_is_written_to_and_searched_while_it_moves_to_and_fro(process: Process) -> None:
    await process.fill(SHARED)
    searching, moves = another(process), 0

    async def ingest() -> None:
        for n in range(8):
            page = document(f"0b7e5f0e-0000-4000-8000-0000000001{n:02x}", f"Page {n}", f"Page {n} is on marmalade.")
            await another(process).ingestor.ingest(SHARED, page)

    async def search() -> None:
        while not writing.done():
            assert LIGHTHOUSE in (await searching.hits(QUESTIONS[0], SHARED))[0][0]
            assert await searching.segments(SHARED)

    writing = asyncio.create_task(ingest())
    reading = asyncio.create_task(search())
    while not writing.done():
        for how in (give_own_tables, share_tables_again):
            moves += await process.move(how, "shared")
    await asyncio.gather(writing, reading)
    assert moves >= 2
    [(segments, distinct, vectors, said)] = await counted(process, "shared")
    assert segments == distinct == vectors == said
    assert await process.rows("SELECT count(*) FROM documents WHERE workspace = 3") == [(len(LIBRARY) + 8,)]


async def test_a_workspace_that_goes_back_while_it_is_maintained_is_maintained_where_it_is(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    await process.fill(SHARED)
    find_place, looked = indexing.find_place, 0

    async def find_late(conn: Connection, workspace: int) -> Place | None:
        nonlocal looked
        looked += 1
        found = await find_place(conn, workspace)
        if looked == 1:
            assert await process.move(share_tables_again, "shared")
        return found

    assert await process.move(give_own_tables, "shared")
    monkeypatch.setattr(indexing, "find_place", find_late)
    async with process.database.connection() as conn:
        await indexing.maintain(conn, 3)
    assert looked == 2


async def test_only_what_outgrows_is_moved_and_only_what_is_small_comes_back(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    await process.fill(SHARED)
    number = await process.workspaces.number("shared")
    [(segments, *_)] = await counted(process, "shared")
    async with process.database.connection() as conn:
        monkeypatch.setattr("tools.retrieval.placing.OWN_TABLES_ABOVE", segments)
        assert not await move_if_outgrown(conn, number)
        monkeypatch.setattr("tools.retrieval.placing.OWN_TABLES_ABOVE", segments - 1)
        assert await move_if_outgrown(conn, number)
        assert not await move_if_outgrown(conn, number)
        monkeypatch.setattr(placing, "LARGEST_SHARED", segments - 1)
        with pytest.raises(InvalidRequest, match="too large"):
            await share_tables_again(conn, number)


async def test_an_ingestion_does_not_fill_the_shared_tables_before_it_leaves_them(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    await process.workspaces.create("large")
    monkeypatch.setattr("tools.retrieval.placing.OWN_TABLES_ABOVE", 50)
    pages = [
        document(f"0b7e5f0e-0000-4000-8000-000000000{n:03x}", f"Page {n}", f"Page {n} is about marmalade.")
        for n in range(256, 656)
    ]
    most = 0
    async for _ in process.ingestor.ingest_many(Identity("large"), pages):
        [(shared,)] = await process.rows("SELECT count(*) FROM shared_segments")
        most = max(most, shared)
    assert 0 < most < len(pages)
    assert await process.rows("SELECT count(*) FROM segments WHERE workspace = 5") == [(len(pages),)]
