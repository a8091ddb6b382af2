"""How far a search reaches: counted as it is, and never anew for each reader."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from uuid import UUID

import psycopg
import pytest

from graph.evidence import EVERYONE, Identity
from graph.ports import SearchQuery
from tests.postgres.test_retrieval import HashEmbedder, made, store
from tools.retrieval import scope
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.scope import (
    CANDIDATES,
    FEW_DOCUMENTS,
    LASTING,
    MOST_CANDIDATES,
    READABLE,
    ReadableShares,
    Scope,
    find_scope,
    reading_as,
)
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

DOCUMENTS = 1_200
OWNERS = (None, None, "ann", "bob")
READERS = (None, [EVERYONE], ["user:ann"], ["group:hr", "user:bob"], ["group:it"])
SPACES = (None, "office", "yard")
READING = [
    Identity(user=user, groups=groups, spaces=spaces)
    for user, groups, spaces in product(("ann", "bob", "eve"), ((), ("hr",), ("hr", "it")), (None, ("yard",)))
]


async def fill(database: Database) -> None:
    """Store documents of a word each, and give them all combinations of owners, readers, spaces and deadlines."""
    await store(database, [await made(number, f"lamp{number}") for number in range(DOCUMENTS)])
    rights = product(OWNERS, READERS, SPACES, (None, "1 day"), (None, "1 day"))
    async with database.connection() as conn, conn.cursor() as cursor:
        await cursor.executemany(
            "UPDATE documents SET owner = %s, readers = %s, space_id = %s, expires_at = now() + %s::interval,"
            " deleted_at = now() - %s::interval WHERE document_id = %s",
            [(*each, UUID(int=number)) for number, each in enumerate(rights)],
        )


async def truth(database: Database, identity: Identity, spaces: Sequence[str]) -> int:
    """Count what an identity may read by the condition that says so."""
    within = {"spaces": list(spaces) or None, **reading_as(identity)}
    async with database.connection() as conn:
        found = await conn.execute(
            f"SELECT count(*) FROM documents AS d WHERE d.deleted_at IS NULL AND {LASTING} AND {READABLE}"
            " AND (%(spaces)s::text[] IS NULL OR d.space_id = ANY(%(spaces)s))",
            within,
        )
        [count] = await found.fetchone() or (0,)
    return int(count)


async def test_what_somebody_may_read_is_counted_as_the_rights_are(database: Database) -> None:
    await fill(database)
    shares = ReadableShares()
    async with database.connection() as conn:
        for identity, spaces in product(READING, ((), ("yard",), ("yard", "office"))):
            readable, documents = await shares.of(conn, 1, identity, spaces)
            assert readable == await truth(database, identity, spaces), (identity, spaces)
            assert documents == (DOCUMENTS if spaces else await counted_lasting(database))


async def counted_lasting(database: Database) -> int:
    async with database.connection() as conn:
        found = await conn.execute(f"SELECT count(*) FROM documents AS d WHERE d.deleted_at IS NULL AND {LASTING}")
        [count] = await found.fetchone() or (0,)
    return int(count)


async def test_a_small_space_is_read_whole_and_a_large_one_by_its_share(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(database)
    shares = ReadableShares()
    eve = Identity(user="eve")
    query = SearchQuery("lamp", eve, spaces=("yard",))
    inside = await truth(database, eve, query.spaces)
    assert 0 < inside <= FEW_DOCUMENTS
    async with database.connection() as conn:
        few = await find_scope(conn, 1, query, shares)
        assert len(few.document_ids or ()) == inside
        nowhere = await find_scope(conn, 1, replace(query, spaces=("nowhere",)), shares)
        assert nowhere.document_ids == []
        monkeypatch.setattr(scope, "FEW_DOCUMENTS", inside - 1)
        large = await find_scope(conn, 1, query, shares)
        assert large == Scope(candidates=min(CANDIDATES * DOCUMENTS // inside, MOST_CANDIDATES))


async def test_what_somebody_may_read_of_a_large_space_is_read_whole_where_it_is_little(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(database)
    shares = ReadableShares()
    async with database.connection() as conn:
        for identity, spaces in product(READING, (("yard",), ("yard", "office"))):
            inside = await truth(database, identity, spaces)
            monkeypatch.setattr(scope, "FEW_DOCUMENTS", inside)
            few = await find_scope(conn, 1, SearchQuery("lamp", identity, spaces=spaces), shares)
            found = few.document_ids or []
            allowed = await conn.execute(
                f"SELECT count(*) FROM documents AS d WHERE d.document_id = ANY(%(found)s) AND {READABLE}",
                {"found": found, **reading_as(identity)},
            )
            assert len(set(found)) == len(found) == inside, (identity, spaces)
            assert await allowed.fetchone() == (inside,)


async def test_counts_of_different_ages_leave_the_budget_of_a_whole_library(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library may have grown by a large space since its documents were counted."""
    await store(database, [await made(number, f"lamp{number}") for number in range(5)])
    shares, yard = ReadableShares(), SearchQuery("lamp", Identity(), spaces=("yard",))
    monkeypatch.setattr(scope, "FEW_DOCUMENTS", 0)
    async with database.connection() as conn:
        await find_scope(conn, 1, SearchQuery("lamp", Identity(), spaces=("office",)), shares)
        await store(database, [await made(number, f"lamp{number}") for number in range(5, 60)])
        await conn.execute("UPDATE documents SET space_id = 'yard'")
        assert await find_scope(conn, 1, yard, shares) == Scope(candidates=CANDIDATES)


async def rows_read(url: str) -> int:
    """Return how many rows of documents were read so far, once all that read them have said so and gone."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as conn:
        while True:
            others = await conn.execute(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend'"
            )
            if await others.fetchone() is None:
                break
            await asyncio.sleep(0.01)
        found = await conn.execute(
            "SELECT seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'documents')"
            " FROM pg_stat_user_tables WHERE relname = 'documents'"
        )
        [count] = await found.fetchone() or (0,)
    return int(count)


async def fill_office(settings: Settings, yard: int = 0) -> None:
    """Store documents in the space of an office, but the first ``yard`` in another one."""
    async with open_database(settings) as database:
        await store(database, [await made(number, f"lamp{number}") for number in range(DOCUMENTS)])
        async with database.connection() as conn:
            await conn.execute("UPDATE documents SET space_id = 'office'")
            await conn.execute(
                "UPDATE documents SET space_id = 'yard', space_slug = 'yard-slug' WHERE document_id = ANY(%s)",
                [[UUID(int=number) for number in range(yard)]],
            )
            await conn.execute("VACUUM ANALYZE documents")


@pytest.mark.parametrize("spaces", [(), ("office",)])
async def test_what_everyone_may_read_is_counted_once_for_many_readers(
    settings: Settings, database_url: str, spaces: tuple[str, ...]
) -> None:
    """The first search of each reader in a minute read the rights of the whole library, and twice."""
    await fill_office(settings)
    before = await rows_read(database_url)
    async with open_database(settings) as database:
        searcher = HybridSearcher(database, Workspaces(database), HashEmbedder(coverage=0.0))
        queries = [SearchQuery("lamp7", Identity(user=f"reader{n}"), spaces=spaces) for n in range(8)]
        at_once = await asyncio.gather(*map(searcher.search, queries[:4]))
        one_by_one = [await searcher.search(query) for query in queries[4:]]
        for result in (*at_once, *one_by_one):
            assert [hit.segment.text for hit in result.hits] == ["lamp7"]
    each = 50 + (FEW_DOCUMENTS if spaces else 0)  # to find out that a space is large
    assert await rows_read(database_url) - before < 2 * DOCUMENTS + len(queries) * each


@pytest.mark.parametrize("spaces", [("yard",), ("yard-slug",)])
async def test_the_documents_of_a_small_space_are_found_without_reading_all_others(
    settings: Settings, database_url: str, spaces: tuple[str, ...]
) -> None:
    await fill_office(settings, yard=5)
    before = await rows_read(database_url)
    async with open_database(settings) as database:
        searcher = HybridSearcher(database, Workspaces(database), HashEmbedder(coverage=0.0))
        result = await searcher.search(SearchQuery("lamp3", Identity(), spaces=spaces))
        assert [hit.segment.text for hit in result.hits] == ["lamp3"]
    assert await rows_read(database_url) - before < 100


async def test_who_may_read_little_of_a_large_space_has_the_rest_left_unread(
    settings: Settings, database_url: str
) -> None:
    await fill_office(settings)
    async with open_database(settings) as database, database.connection() as conn:
        narrowed = (
            "UPDATE documents SET readers = ARRAY[CASE WHEN document_id = ANY(%s) THEN 'group:hr' ELSE 'group:it' END]"
        )
        await conn.execute(narrowed, [[UUID(int=number) for number in range(5)]])
        await conn.execute("VACUUM ANALYZE documents")
    before = await rows_read(database_url)
    async with open_database(settings) as database:
        searcher = HybridSearcher(database, Workspaces(database), HashEmbedder(coverage=0.0))
        query = SearchQuery("lamp3", Identity(user="ann", groups=("hr",)), spaces=("office",))
        results = [await searcher.search(query) for _ in range(10)]
        assert [[hit.segment.text for hit in result.hits] for result in results] == [["lamp3"]] * 10
    each = 2 * (FEW_DOCUMENTS + 1) + 50  # to find out that the space is large, by its id and by its slug
    assert await rows_read(database_url) - before < DOCUMENTS + len(results) * each
