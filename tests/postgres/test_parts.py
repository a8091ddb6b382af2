"""A workspace split into parts answers as one that is not, whatever changes, ends or moves meanwhile."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as how
from hypothesis import strategies as st
from pydantic import SecretStr

from graph.errors import DatabaseUnavailable
from graph.evidence import Identity
from graph.ports import SearchQuery
from tests.contract.searcher_kit import LIBRARY, LIGHTHOUSE, document
from tests.cut_documents import CutDocument
from tests.postgres.test_backups import empty_database, restore, run
from tests.postgres.test_flat_search import WordEmbedder, prose
from tests.postgres.test_shared_tables import QUESTIONS, Process, another, held_lock, waiting_backend
from tools.embeddings.embedder import open_embedder
from tools.langchain.vector_store import library_vector_store
from tools.milvus.filling import _SEGMENTS as FILLING
from tools.milvus.keeping import _VERSIONS as COMPARING
from tools.retrieval.flat_indexes import FlatIndexes
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.indexing import drop_segments, index_documents, maintain
from tools.retrieval.placing import give_own_tables, share_tables_again
from tools.retrieval.reindexing import reindex
from tools.retrieval.search_sql import search_statement
from tools.retrieval.segmenting import SegmentSpan
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.embedded import EmbeddedServer
from tools.storage.partitions import (
    PART_SEGMENTS,
    SEGMENT_COLUMNS,
    VECTOR_COLUMNS,
    drop_partition,
    find_place,
    lock_library,
)
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

__all__ = ["empty_database"]

WHOLE, SPLIT = Identity("whole"), Identity("split")
EXAMPLES, ASKED = 12, ("word1 word2", "word3 word4 word5 word6 said7", "said1 said2 said3", "word1")
MARMALADE = document("0b7e5f0e-0000-4000-8000-0000000000ff", "Extra", "An extra page about marmalade.")


@pytest.fixture
async def process(database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Process:
    """A process whose ingestions open another part beyond three segments."""
    workspaces = Workspaces(database)
    await workspaces.create_many(["whole", "split"], own_tables=True)
    monkeypatch.setattr("tools.storage.partitions.PART_SEGMENTS", 3)
    return Process(database, workspaces, await open_embedder(settings), settings)


async def fill(process: Process, identity: Identity, documents: Sequence[Any] = LIBRARY) -> None:
    """Ingest one document after another, so that each may open a part."""
    for each in documents:
        await process.fill(identity, [each])


def page_id(group: int, number: int) -> str:
    return f"0b7e5f0e-0000-4000-8000-0000000{group:03x}{number:02x}"


async def parts_of(process: Process, name: str = "split") -> int:
    number = await process.workspaces.number(name)
    async with process.database.connection() as conn:
        place = await find_place(conn, number)
    assert place is not None
    return place.parts


async def see_whole(process: Process, name: str = "split") -> int:
    """See that nothing is lost or doubled, and that the library counts each part right; return its segments."""
    number = await process.workspaces.number(name)
    async with process.database.connection() as conn, conn.transaction():
        place = await lock_library(conn, number)
        counted, vectors = [], 0
        for each in place.tables:
            for table in (each.segments, each.vectors):
                found = await conn.execute(f"SELECT count(*) FROM {table.as_string()} WHERE workspace = {number}")
                [(rows,)] = await found.fetchall()
                counted.append(rows)
        vectors = sum(counted[1::2])
        found = await conn.execute(
            "SELECT count(*), count(DISTINCT (document_id, segment_index)), (SELECT segments FROM library_statistics"
            " WHERE workspace = %(number)s), count(DISTINCT document_id), (SELECT documents FROM library_statistics"
            " WHERE workspace = %(number)s) FROM all_segments WHERE workspace = %(number)s",
            {"number": number},
        )
        [(segments, distinct, said, documents, documents_said)] = await found.fetchall()
    assert tuple(counted[::2]) == place.filled
    assert segments == distinct == said == sum(place.filled) == vectors
    assert documents == documents_said
    return int(segments)


async def tables_of(process: Process, number: int) -> list[str]:
    rows = await process.rows(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relname ~ %s ORDER BY 1",
        f"_{number}(_[0-9]+)?$",
    )
    return [name for (name,) in rows]


async def made(number: int, seed: int, segments: int, embedder: WordEmbedder) -> CutDocument:
    random = np.random.default_rng([number, seed])
    bodies = [f"{prose(random, 12)} " for _ in range(segments)]
    ends = np.cumsum([len(body) for body in bodies]).tolist()
    spans = [
        SegmentSpan(index, end - len(body), end, None, "", 5)
        for index, (body, end) in enumerate(zip(bodies, ends, strict=True))
    ]
    return CutDocument(str(UUID(int=number)), "", spans, "".join(bodies), await embedder.embed(bodies))


Change = tuple[int, int, int]  # a document's number, the seed of its text, and how many segments; 0 deletes it


@how(
    phases=[Phase.generate],
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    bound=st.integers(1, 30),
    changes=st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3), st.integers(0, 9)), min_size=3, max_size=25),
    indexed=st.booleans(),
)
async def test_any_documents_in_parts_of_any_size_give_the_same_hits_and_scores(
    process: Process, bound: int, changes: list[Change], indexed: bool
) -> None:
    embedder = WordEmbedder()
    numbers = {name: await process.workspaces.number(name) for name in ("whole", "split")}
    async with process.database.connection() as conn:
        for name, part_segments in (("whole", PART_SEGMENTS), ("split", bound)):
            workspace = numbers[name]
            for number, seed, segments in changes:
                new = await made(number, seed, segments, embedder)
                async with conn.transaction():
                    await drop_segments(conn, workspace, [new.document_id])
                    await conn.execute(
                        "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
                        " VALUES (%s, %s, '', 'text/plain', '') ON CONFLICT DO NOTHING",
                        [workspace, new.document_id],
                    )
                    await index_documents(conn, workspace, [new.packed(workspace)], part_segments=part_segments)
            if indexed:
                await maintain(conn, workspace, index_vectors_above=PART_SEGMENTS)
    await see_whole(process)
    largest = max(segments for _, _, segments in changes)
    assert await parts_of(process, "whole") == 1
    async with process.database.connection() as conn:
        place = await find_place(conn, numbers["split"])
        assert place is not None
        assert max(place.filled) <= max(bound, largest)
    searcher = HybridSearcher(process.database, process.workspaces, embedder)
    for text in ASKED:
        query = SearchQuery(text, WHOLE, min_score=0.0, expand=1)
        expected = await searcher.search(query)
        found = await searcher.search(SearchQuery(text, SPLIT, min_score=0.0, expand=1))
        assert found.degraded is None
        assert [(hit.segment_id, hit.segment.text, hit.score) for hit in found.hits] == [
            (hit.segment_id, hit.segment.text, hit.score) for hit in expected.hits
        ]
    async with process.database.connection() as conn:
        for workspace in numbers.values():
            await drop_segments(conn, workspace, [str(UUID(int=number)) for number in range(13)])
    # The next example begins with the parts that this one leaves, empty.
    assert await see_whole(process) == 0


async def test_all_that_reads_a_library_reads_every_part(process: Process, settings: Settings) -> None:
    for identity in (WHOLE, SPLIT):
        await fill(process, identity)
    unbounded = Process(process.database, process.workspaces, process.embedder, settings)
    assert {each.name: each.parts for each in await process.workspaces.list()} == {
        "default": 1,
        "split": await parts_of(process),
        "whole": await parts_of(process, "whole"),
    }
    assert await parts_of(process) > 3
    for question in QUESTIONS:
        for scope in ({}, {"document_ids": (LIGHTHOUSE,)}, {"spaces": ("harbour",)}, {"top_k": 2}):
            expected = await unbounded.hits(question, WHOLE, **scope)
            assert await process.hits(question, SPLIT, **scope) == expected
    texts = {(each.document_id, each.segments) for each in (await process.documents.list(WHOLE)).documents}
    assert {(each.document_id, each.segments) for each in (await process.documents.list(SPLIT)).documents} == texts
    for each in LIBRARY:
        if each.owner is None and each.document_id:
            raw = [(await process.documents.raw_text(own, each.document_id))["segments"] for own in (WHOLE, SPLIT)]
            assert raw[0] == raw[1]
    async with library_vector_store(process.database, process.workspaces, process.embedder, "split") as store:
        assert "lamp" in (await store.asimilarity_search("the lamp of the lighthouse", k=1))[0].page_content
    number = await process.workspaces.number("split")
    bound = {"workspace": number, "documents": [UUID(each.document_id) for each in LIBRARY]}
    everything = {**bound, "after": UUID(int=0), "after_index": -1, "limit": 1_000}
    async with process.database.connection() as conn:
        for statement in (COMPARING, FILLING):
            found = await conn.execute(statement, everything)
            assert len(await found.fetchall()) == await see_whole(process)
    indexes = FlatIndexes(process.database, 1_000_000, least_segments=1, rest=0.0)
    held = HybridSearcher(process.database, process.workspaces, process.embedder, indexes)
    query = SearchQuery(QUESTIONS[0], SPLIT)
    first = (await held.search(query)).hits
    await held.search(query)
    await indexes.settled()
    index = indexes.of(number, process.embedder.dimension)
    assert index is not None
    assert (await held.search(query)).hits == first
    await indexes.close()
    await reindex(process.database, process.embedder)
    assert [hit[0] for hit in await process.hits(QUESTIONS[0], SPLIT)] == [
        hit[0] for hit in await process.hits(QUESTIONS[0], WHOLE)
    ]


async def test_a_process_that_knows_fewer_parts_finds_what_is_in_the_new_one(process: Process) -> None:
    await fill(process, SPLIT, LIBRARY[:2])
    other = another(process)
    assert await other.hits(QUESTIONS[0], SPLIT)
    known = await other.workspaces.place("split")
    async with held_lock(
        process, "SELECT count(*) FROM all_segments"
    ):  # a long read, as a dump is, keeps nobody waiting
        await fill(process, SPLIT, [*LIBRARY[2:], MARMALADE])
    assert await parts_of(process) > known.parts
    assert "marmalade" in (await other.hits("marmalade", SPLIT))[0][2]
    pages = another(process)
    assert await pages.segments(SPLIT)


async def test_a_part_that_is_killed_while_it_opens_leaves_nothing(process: Process) -> None:
    await fill(process, SPLIT, LIBRARY[:3])
    before, parts, tables = await see_whole(process), await parts_of(process), await tables_of(process, 3)
    expected = [await process.hits(question, SPLIT) for question in QUESTIONS]
    async with held_lock(process, "LOCK TABLE further_segments IN SHARE UPDATE EXCLUSIVE MODE"):
        ingesting = asyncio.create_task(process.ingestor.ingest(SPLIT, MARMALADE))
        pid = await waiting_backend(process, "ALTER TABLE%ATTACH%")
        assert [await another(process).hits(question, SPLIT) for question in QUESTIONS] == expected
        assert await process.segments(SPLIT)
        assert await process.rows("SELECT pg_terminate_backend(%s)", pid) == [(True,)]
        with pytest.raises((DatabaseUnavailable, psycopg.Error)):
            await ingesting
    assert (await see_whole(process), await parts_of(process), await tables_of(process, 3)) == (before, parts, tables)
    assert [await process.hits(question, SPLIT) for question in QUESTIONS] == expected
    await fill(process, SPLIT, [MARMALADE])
    assert await see_whole(process) == before + 1
    assert await parts_of(process) == parts + 1


async def test_parts_open_under_ingestion_deletion_and_search(process: Process) -> None:
    await fill(process, SPLIT, LIBRARY[:1])
    searching = another(process)

    async def ingest(first: int) -> None:
        writing = another(process)
        for n in range(first, first + 8):
            page = document(page_id(1, n), f"Page {n}", f"Page {n} is on marmalade.")
            await writing.ingestor.ingest(SPLIT, page)
            if n % 4 == 3:
                await writing.documents.delete(SPLIT, page_id(1, n))
                await writing.ingestor.ingest(SPLIT, document(page_id(1, n - 1), f"Page {n}", f"Another text {n}."))

    async def search() -> None:
        while not writing.done():
            assert LIGHTHOUSE in (await searching.hits(QUESTIONS[0], SPLIT))[0][0]
            assert await searching.segments(SPLIT)

    writing = asyncio.gather(ingest(0), ingest(16))
    await asyncio.gather(writing, search())
    assert await parts_of(process) > 3
    await process.documents.purge("split")
    assert await see_whole(process) == await process_documents(process)


async def process_documents(process: Process) -> int:
    [(documents,)] = await process.rows("SELECT count(*) FROM documents WHERE workspace = 3")
    return int(documents)


async def test_room_that_deletion_leaves_is_used_again(process: Process) -> None:
    await fill(process, SPLIT, [document(page_id(2, n), f"Page {n}", f"Page {n}.") for n in range(12)])
    parts = await parts_of(process)
    for round_ in range(3):
        for n in range(12):
            await process.fill(SPLIT, [document(page_id(2, n), f"Page {n}", f"Text {round_} of page {n}.")])
    assert await parts_of(process) == parts
    assert await see_whole(process) == 12


async def test_a_document_is_refused_that_is_in_another_part(process: Process) -> None:
    embedder, number = WordEmbedder(), await process.workspaces.number("split")
    async with process.database.connection() as conn:
        for n in (1, 2, 3):
            await index_documents(conn, number, [(await made(n, 0, 2, embedder)).packed(number)], part_segments=2)
        with pytest.raises(psycopg.errors.UniqueViolation):
            await index_documents(conn, number, [(await made(1, 1, 2, embedder)).packed(number)], part_segments=2)
    [(segments,)] = await process.rows("SELECT count(*) FROM all_segments WHERE workspace = %s", number)
    assert segments == 6


async def test_parts_move_to_the_shared_tables_and_are_dropped_with_their_workspace(process: Process) -> None:
    await fill(process, SPLIT)
    expected, segments = await process.hits(QUESTIONS[0], SPLIT), await see_whole(process)
    reader = another(process)
    assert await reader.segments(SPLIT)
    assert await process.move(share_tables_again, "split")
    assert await see_whole(process) == segments
    assert await tables_of(process, 3) == ["library_3"]
    assert await reader.segments(SPLIT)
    assert await reader.hits(QUESTIONS[0], SPLIT) == expected
    assert await process.move(give_own_tables, "split")
    assert (await parts_of(process), await see_whole(process)) == (1, segments)
    await fill(process, SPLIT, [MARMALADE])
    assert await parts_of(process) == 2
    async with held_lock(process, "SELECT count(*) FROM further_segments"):  # a long read, as a dump is
        dropping = asyncio.create_task(process.move(drop, "split"))
        pid = await waiting_backend(process, "ALTER TABLE%DETACH%")
        assert await process.rows("SELECT pg_terminate_backend(%s)", pid) == [(True,)]
        with pytest.raises((DatabaseUnavailable, psycopg.Error)):
            await dropping
    await process.workspaces.delete("split")
    assert await tables_of(process, 3) == []
    assert await process.rows("SELECT count(*) FROM all_segments WHERE workspace = 3") == [(0,)]


async def drop(conn: Connection, number: int) -> bool:
    await drop_partition(conn, number)
    return True


async def test_each_part_has_a_vector_index_and_a_search_merges_them(process: Process) -> None:
    embedder, number = WordEmbedder(), await process.workspaces.number("split")
    async with process.database.connection() as conn:
        for n in range(1, 61):
            new = await made(n, 0, 10, embedder)
            await conn.execute(
                "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
                " VALUES (%s, %s, '', 'text/plain', '')",
                [number, new.document_id],
            )
            await index_documents(conn, number, [new.packed(number)], part_segments=250)
        before = await HybridSearcher(process.database, process.workspaces, embedder).search(
            SearchQuery("said1", SPLIT)
        )
        await maintain(conn, number, index_vectors_above=100)
        found = await conn.execute("SELECT relname FROM pg_class WHERE relname LIKE '%%_hnsw' ORDER BY 1")
        names = [name for (name,) in await found.fetchall()]
        assert names == ["segment_vectors_3_1_hnsw", "segment_vectors_3_hnsw"]  # the third part has 100 segments
        after = await HybridSearcher(process.database, process.workspaces, embedder).search(SearchQuery("said1", SPLIT))
        assert after == before
        statement = search_statement(number, embedder.dimension, leg=30, dense=True, reach="library", parts=3)
        async with conn.transaction():
            await conn.execute("SET LOCAL enable_seqscan = off")
            plan = await conn.execute(f"EXPLAIN (GENERIC_PLAN) {statement.text}".encode())
            lines = "\n".join([row[0] for row in await plan.fetchall()])
    assert "Merge Append" in lines
    assert all(f"Index Scan using {name}" in lines for name in names)


async def test_a_dump_of_parts_is_restored_whole(
    process: Process, settings: Settings, postgres: EmbeddedServer, empty_database: str, tmp_path: Path
) -> None:
    await fill(process, SPLIT)
    expected = [await process.hits(question, SPLIT) for question in QUESTIONS]
    file = tmp_path / "parts.dump"
    await run(postgres, "pg_dump", "--format=custom", f"--file={file}", process.database.url)
    await restore(postgres, file, empty_database)
    deployed = settings.model_copy(update={"database_url": SecretStr(empty_database)})
    async with open_database(deployed) as database:
        restored = Process(database, Workspaces(database), process.embedder, process.settings)
        assert [await restored.hits(question, SPLIT) for question in QUESTIONS] == expected
        parts = await parts_of(restored)
        await fill(restored, SPLIT, [MARMALADE])
        assert await parts_of(restored) >= parts
        await see_whole(restored)


async def test_a_process_that_knows_of_no_parts_can_neither_search_nor_write_them(process: Process) -> None:
    """One of an earlier release, while a deployment is upgraded."""
    for part, (searched, counted) in enumerate(((True, True), (False, False))):
        await fill(process, SPLIT, LIBRARY[:1] if part == 0 else LIBRARY[1:6])
        for statement, passes in (
            ("SELECT library_is_in(3, true)", searched),
            ("UPDATE library_statistics SET segments = segments + 0 WHERE workspace = 3", True),
            ("UPDATE library_statistics SET segments = segments + 1 WHERE workspace = 3", counted),
        ):
            async with process.database.connection() as conn:
                if passes:
                    async with conn.transaction(force_rollback=True):
                        await conn.execute(statement.encode())
                else:
                    with pytest.raises((psycopg.errors.UndefinedTable, psycopg.errors.CheckViolation)):
                        await conn.execute(statement.encode())


async def test_the_columns_that_tables_are_joined_by_are_all_that_they_have(process: Process) -> None:
    for table, columns in (("segments", SEGMENT_COLUMNS), ("segment_vectors", VECTOR_COLUMNS)):
        for name in (table, f"shared_{table}", f"further_{table}"):
            rows = await process.rows(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
                name,
            )
            assert {column for (column,) in rows} - {"part"} == set(columns.split(", "))
