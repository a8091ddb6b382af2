import asyncio
import uuid

import pytest

from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.library.languages import SampledLanguages
from tools.retrieval.placing import give_own_tables, share_tables_again
from tools.retrieval.segment_store import SegmentStore
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.partitions import Place, drop_partition
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces


@pytest.fixture
def workspaces(database: Database) -> Workspaces:
    return Workspaces(database)


async def fill(database: Database, number: int) -> None:
    """Give a workspace with tables of its own a row of every kind, checkpoints of its thread among them."""
    session, run, document = uuid.uuid4(), uuid.uuid4(), uuid.uuid4()
    async with database.connection() as conn:
        await conn.execute(
            "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
            " VALUES (%s, %s, 'T', 'text/plain', 'x')",
            [number, document],
        )
        await conn.execute(
            "INSERT INTO segments (workspace, segment_index, document_id, start_offset, end_offset, tokens, weights,"
            " terms, heading, body) VALUES (%s, 0, %s, 0, 2, 1, '{1:1}/1000000000', '{1}', '', 'Hi')",
            [number, document],
        )
        await conn.execute(
            "INSERT INTO segment_vectors (workspace, segment_index, document_id, embedding)"
            " VALUES (%s, 0, %s, '[1,0]')",
            [number, document],
        )
        await conn.execute("UPDATE library_statistics SET segments = 1, documents = 1 WHERE workspace = %s", [number])
        await conn.execute("INSERT INTO originals (workspace, sha256, size, place) VALUES (%s, 'x', 1, 'y')", [number])
        await conn.execute(
            "INSERT INTO original_chunks (workspace, sha256, number, data) VALUES (%s, 'x', 0, 'z')", [number]
        )
        await conn.execute(
            'INSERT INTO sessions (session_id, workspace, "user") VALUES (%s, %s, %s)', [session, number, "ann"]
        )
        await conn.execute(
            'INSERT INTO runs (run_id, session_id, workspace, "user", question) VALUES (%s, %s, %s, %s, %s)',
            [run, session, number, "ann", "Why?"],
        )
        await conn.execute("INSERT INTO run_events (run_id, seq, type, payload) VALUES (%s, 1, 'queued', '{}')", [run])
        await conn.execute(
            "INSERT INTO messages (message_id, session_id, run_id, role, content) VALUES (%s, %s, %s, 'user', 'Why?')",
            [uuid.uuid4(), session, run],
        )
        await conn.execute(
            'INSERT INTO api_keys (key_hash, workspace, "user") VALUES (%s, %s, %s)', [session.bytes * 2, number, "ann"]
        )
        await conn.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (%s, 'c', '{}')", [str(session)]
        )
        await conn.execute(
            "INSERT INTO checkpoint_blobs (thread_id, channel, version, type) VALUES (%s, 'c', '1', 'empty')",
            [str(session)],
        )
        await conn.execute(
            "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob)"
            " VALUES (%s, 'c', 't', 0, 'c', '')",
            [str(session)],
        )


TABLES = [
    "documents",
    "originals",
    "original_chunks",
    "segments",
    "segment_vectors",
    "sessions",
    "runs",
    "run_events",
    "messages",
    "api_keys",
    "checkpoints",
    "checkpoint_blobs",
    "checkpoint_writes",
]


async def rows_in(database: Database) -> dict[str, int]:
    counts = {}
    async with database.connection() as conn:
        for table in TABLES:
            row = await (await conn.execute(f"SELECT count(*) FROM {table}")).fetchone()
            assert row is not None
            counts[table] = row[0]
    return counts


async def test_deleting_a_workspace_deletes_all_it_holds_and_nothing_else(
    database: Database, workspaces: Workspaces
) -> None:
    for name in ("mine", "other"):
        await fill(database, await workspaces.create(name, own_tables=True))
    assert await rows_in(database) == dict.fromkeys(TABLES, 2)
    await workspaces.delete("mine")
    assert await rows_in(database) == dict.fromkeys(TABLES, 1)
    [_, other] = await workspaces.list()
    assert (other.name, other.documents, other.segments, other.sessions) == ("other", 1, 1, 1)
    with pytest.raises(NotFound):
        await workspaces.number("mine")


async def test_a_deletion_that_was_cut_short_can_be_repeated(database: Database, workspaces: Workspaces) -> None:
    number = await workspaces.create("mine", own_tables=True)
    await fill(database, number)
    async with database.connection() as conn:
        await drop_partition(conn, number)
    await workspaces.delete("mine")
    assert await rows_in(database) == dict.fromkeys(TABLES, 0)


async def test_a_name_that_is_used_again_is_a_new_workspace(workspaces: Workspaces) -> None:
    first = await workspaces.create("mine")
    await workspaces.delete("mine")
    assert await workspaces.create("mine") != first
    assert await workspaces.number("mine") != first


async def test_known_numbers_cost_no_round_trip(settings: Settings) -> None:
    async with open_database(settings) as database:
        workspaces = Workspaces(database)
        number = await workspaces.number("default")
        async with open_database(settings) as other:
            assert await Workspaces(other).number("default") == number
    assert await workspaces.number("default") == number  # although the database is closed


async def test_two_processes_may_ensure_one_workspace_at_once(database: Database) -> None:
    numbers = await asyncio.gather(*[Workspaces(database).ensure("shared") for _ in range(4)])
    assert len(set(numbers)) == 1


async def test_names_are_taken_once(workspaces: Workspaces) -> None:
    await workspaces.create("mine")
    with pytest.raises(InvalidRequest, match="exists"):
        await workspaces.create("mine")
    with pytest.raises(InvalidRequest, match="exists"):
        await workspaces.create_many(["other", "mine"])
    assert await workspaces.names() == ("default", "mine")


async def test_a_thousand_are_created_at_once(workspaces: Workspaces) -> None:
    names = [f"tenant-{n}" for n in range(1000)]
    numbers = await workspaces.create_many(names)
    assert [await workspaces.number(name) for name in names] == numbers == sorted(set(numbers))
    assert len(await workspaces.list()) == 1001


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
async def test_names_that_are_refused(workspaces: Workspaces, name: str) -> None:
    with pytest.raises(InvalidRequest, match="1 to 100"):
        await workspaces.create(name)
    with pytest.raises(InvalidRequest, match="1 to 100"):
        await workspaces.ensure(name)


async def test_what_does_not_exist_is_not_found(workspaces: Workspaces) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await workspaces.number("nowhere")
    with pytest.raises(NotFound, match="nowhere"):
        await workspaces.delete("nowhere")


async def test_a_workspace_that_went_and_came_back_while_it_was_read_is_read_again(
    database: Database, workspaces: Workspaces
) -> None:
    number = await workspaces.create("restless")
    seen: list[bool] = []

    async def read(place: Place) -> str:
        """Read by a statement that is begun while the workspace has tables of its own, for a moment."""
        seen.append(place.own)
        if len(seen) == 1:
            assert await give_own_tables(mover, number)
        try:
            await connection.execute("SELECT library_is_in(%s, %s)", [number, place.own])
        finally:
            if len(seen) == 1:
                assert await share_tables_again(mover, number)
        return "read"

    async with database.connection() as connection, database.connection() as mover:
        assert await workspaces.read(connection, "restless", read) == "read"
        assert seen == [False, False]
        await workspaces.delete("restless")
        workspaces.forget("restless")
        with pytest.raises(NotFound):
            await workspaces.read(connection, "restless", read)


async def test_a_workspace_unknown_to_its_process_is_read_on_one_connection(settings: Settings) -> None:
    """As many readers as connections would otherwise each hold one, and wait for another until all are refused."""
    pool = settings.model_copy(update={"pool_size": 2, "pool_timeout_seconds": 2.0})
    async with open_database(pool) as database, database.connection():  # the other is the only one left
        assert await SegmentStore(database, Workspaces(database)).read_segments([], Identity()) == []
        assert await SegmentStore(database, Workspaces(database)).read_pages([], Identity()) == []
        assert await SampledLanguages(database, Workspaces(database))(Identity()) == ()
