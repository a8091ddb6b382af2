"""A standby that the bundled PostgreSQL makes: it answers readings, and never one that it would answer differently."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr

from graph.errors import ConfigurationError, DatabaseUnavailable
from graph.evidence import Identity
from graph.ports import SearchQuery
from tests.conftest import NO_FILE, SCRATCH
from tests.postgres.database_pair import DatabasePair, database_pair
from tools.library.ingestion import NewDocument
from tools.process.engines import open_databases
from tools.process.health import EndpointProbe, check_readiness
from tools.process.library import Library, open_library
from tools.replica.replica import Lag, SharedReading
from tools.retrieval.flat_indexes import FlatIndexes
from tools.retrieval.hybrid_search import HybridSearcher
from tools.settings import ReplicaSettings, Settings
from tools.storage.database import Connection
from tools.storage.startup import migrate, open_database
from tools.telemetry.metrics import REPLICA_READINGS

ME, OTHER = Identity(), Identity(user="other")
# No test of this module waits for the disk, and a reading that is in the way of the log is ended at once.
QUICK = "fsync = off\nmax_standby_streaming_delay = 0\nmax_standby_archive_delay = 0\n"


@pytest.fixture(scope="module")
async def pair() -> AsyncIterator[DatabasePair]:
    folder = Path(tempfile.mkdtemp(prefix="citewell-replica-", dir=SCRATCH))
    os.chmod(folder, 0o711)  # as root, the servers' own account passes through
    async with database_pair(folder, synchronous=False, more=QUICK) as opened:
        await migrate(settings_over(opened, folder))
        yield opened
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On however busy a machine."""
    monkeypatch.setattr("tools.replica.replica.WAIT_SECONDS", 2.0)
    monkeypatch.setattr("tools.replica.replica.MOST_LAG_SECONDS", 30.0)


def settings_over(pair: DatabasePair, folder: Path, url: str | None = None) -> Settings:
    return Settings(
        **NO_FILE,
        database_url=SecretStr(pair.url("read-write")),
        replica=ReplicaSettings(url=SecretStr(url or pair.url("standby"))),
        data_dir=folder,
        pool_size=4,
        pool_timeout_seconds=10,
    )


@pytest.fixture
async def library(pair: DatabasePair, tmp_path: Path) -> AsyncIterator[Library]:
    """A process whose replica answers."""
    async with open_library(settings_over(pair, tmp_path)) as opened:
        await until(opened, lambda reason: reason is None)
        yield opened


async def until(library: Library, holds: Callable[[str | None], bool]) -> None:
    """Wait until the reason why the replica is left out, or None, is as it should be."""
    assert library.database.replica is not None
    async with asyncio.timeout(60):
        while not holds(library.database.replica.left_out):  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0.02)


def note(word: str, document_id: str | None = None, **fields: object) -> NewDocument:
    text = f"The {word} is oiled in the morning, before anything else is done.".encode()
    return NewDocument(document_id=document_id or str(uuid4()), name=f"{word}.md", title=word, data=text, **fields)  # type: ignore[arg-type]


async def found(library: Library, word: str, who: Identity = ME) -> list[str]:
    result = await library.searcher.search(SearchQuery(f"When is the {word} oiled?", who, min_score=0.0, expand=0))
    return [hit.segment.document_id for hit in result.hits if word in hit.segment.text]


def answered(result: str) -> float:
    """How many readings of this process came to this."""
    return REPLICA_READINGS.labels(result)._value.get()  # type: ignore[no-any-return]


@asynccontextmanager
async def paused(pair: DatabasePair) -> AsyncIterator[None]:
    """Let the standby replay nothing."""
    await pair.sql(pair.standby, "SELECT pg_wal_replay_pause()")
    try:
        yield
    finally:
        await pair.sql(pair.standby, "SELECT pg_wal_replay_resume()")


async def test_what_any_process_changed_is_read_at_once(pair: DatabasePair, library: Library, tmp_path: Path) -> None:
    before = answered("replica")
    async with open_library(settings_over(pair, tmp_path / "other")) as writing:
        for number in range(8):
            word = f"windlass{number}"
            document_id = (await writing.ingestor.ingest(ME, note(word))).document_id
            assert await found(library, word) == [document_id]
            await writing.documents.set_readers(ME, document_id, ["user:local"])
            assert await found(library, word, OTHER) == []
            assert await library.reader.read_pages([document_id], OTHER) == []
            listed = await library.documents.list(ME)
            assert document_id in {each.document_id for each in listed.documents}
            await writing.documents.delete(ME, document_id)
            assert await found(library, word) == []
            assert await library.reader.read_segments([f"{document_id}:0"], ME) == []
    assert answered("replica") > before


async def test_a_replica_that_is_behind_is_not_read_until_it_has_caught_up(
    pair: DatabasePair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.replica.replica.WAIT_SECONDS", 0.01)
    monkeypatch.setattr("tools.replica.replica.MOST_LAG_SECONDS", 0.2)
    async with open_library(settings_over(pair, tmp_path)) as library:
        await until(library, lambda reason: reason is None)
        async with paused(pair):
            behind = answered("behind")
            document_id = (await library.ingestor.ingest(ME, note("capstan"))).document_id
            assert await found(library, "capstan") == [document_id]
            assert answered("behind") == behind + 1
            await until(library, lambda reason: reason is not None and reason.endswith("s behind"))
            await library.documents.delete(ME, document_id)
            left_out = answered("left_out")
            assert await found(library, "capstan") == []
            assert answered("left_out") == left_out + 1
            ready = await check_readiness(library, EndpointProbe())
            assert ready.ready
            assert ready.checks["replica"].startswith("left out, ")
        await until(library, lambda reason: reason is None)
        assert (await check_readiness(library, EndpointProbe())).checks["replica"] == "ok"


async def test_a_reading_that_conflicts_with_the_log_is_done_on_the_primary(
    pair: DatabasePair, library: Library
) -> None:
    database = library.database
    async with database.connection() as connection:
        await connection.execute("CREATE TABLE tide (height int)")
        await connection.execute("INSERT INTO tide VALUES (1)")
    on_standby = []

    async def read(connection: Connection) -> int:
        on_standby.append(await value(connection, "SELECT pg_is_in_recovery()"))
        async with connection.transaction():
            height = await value(connection, "SELECT height FROM tide")
            if len(on_standby) == 1:
                async with database.connection() as other:
                    await other.execute("TRUNCATE tide")
                    await other.execute("INSERT INTO tide VALUES (2)")
                while True:  # until the log that is replayed ends it
                    await value(connection, "SELECT height FROM tide")
            return int(height)

    conflicts = answered("conflict")
    async with asyncio.timeout(60):
        assert await database.read(read, seconds=None) == 2
    assert on_standby == [True, False]
    assert answered("conflict") == conflicts + 1


async def value(connection: Connection, query: str) -> int:
    row = await (await connection.execute(query.encode())).fetchone()
    assert row is not None
    return row[0]  # type: ignore[no-any-return]


async def test_vectors_that_a_process_holds_are_those_of_either_server(pair: DatabasePair, library: Library) -> None:
    workspace = await library.workspaces.number(ME.workspace)
    await library.ingestor.ingest(ME, note("bollard"))
    indexes = FlatIndexes(library.database, 100_000_000, least_segments=1)
    searcher = HybridSearcher(library.database, library.workspaces, library.embedder, indexes)
    async with open_database(
        settings_over(pair, Path("/tmp")).model_copy(update={"replica": ReplicaSettings()})
    ) as own:
        on_primary = HybridSearcher(own, library.workspaces, library.embedder, indexes)
        query = SearchQuery("When is the bollard oiled?", ME, min_score=0.0)
        for _ in range(3):
            await searcher.search(query)
            await indexes.settled()
        held = indexes.of(workspace, library.embedder.dimension)
        assert held is not None
        assert (await on_primary.search(query)).hits == (await searcher.search(query)).hits
        assert indexes.of(workspace, library.embedder.dimension) is held  # neither server has another version
    await indexes.close()


async def test_a_replica_that_is_down_is_missed_by_nobody(pair: DatabasePair, library: Library, tmp_path: Path) -> None:
    document_id = (await library.ingestor.ingest(ME, note("hawser"))).document_id
    await pair.stop(pair.standby)
    try:
        assert await found(library, "hawser") == [document_id]
        async with open_library(settings_over(pair, tmp_path / "new")) as begun_without:
            assert await found(begun_without, "hawser") == [document_id]
            assert (await check_readiness(begun_without, EndpointProbe())).ready
    finally:
        await pair.start(pair.standby)
    await until(library, lambda reason: reason is None)
    before = answered("replica")
    assert await found(library, "hawser") == [document_id]
    assert answered("replica") == before + 1


async def test_a_primary_is_no_replica(pair: DatabasePair, tmp_path: Path) -> None:
    settings = settings_over(pair, tmp_path, url=pair.url("read-write"))
    async with open_library(settings) as library:
        document_id = (await library.ingestor.ingest(ME, note("fender"))).document_id
        await until(library, lambda reason: reason == "it is no standby")
        assert await found(library, "fender") == [document_id]


async def test_the_two_change_places_and_back_and_nothing_acknowledged_is_missing(
    pair: DatabasePair, library: Library
) -> None:
    first, stored = pair.primary, {}
    for last, new in (("halyard", "thimble"), ("cleat", "grommet")):
        await pair.let_commits_wait()
        stored[last] = await stored_at_last(library, last)
        await pair.stop_primary()
        await pair.promote()
        stored[new] = await stored_at_last(library, new)
        await pair.rejoin()
        await until(library, lambda reason: reason is None)
        async with library.database.connection() as connection:  # a slot that nobody reads would fill the disk
            assert await value(connection, "SELECT count(*) FROM pg_replication_slots") == 1
    assert pair.primary is first
    before = answered("replica")
    for word, document_id in stored.items():
        assert await found(library, word) == [document_id]
    assert answered("replica") == before + len(stored)


async def stored_at_last(library: Library, word: str) -> str:
    """Store a note, as soon as there is a primary."""
    new = note(word)
    while True:
        try:
            return (await library.ingestor.ingest(ME, new)).document_id
        except DatabaseUnavailable:
            await asyncio.sleep(0.05)


async def test_changes_are_refused_by_a_standby_as_an_outage(pair: DatabasePair, tmp_path: Path) -> None:
    misled = settings_over(pair, tmp_path).model_copy(update={"database_url": SecretStr(pair.url("standby"))})
    async with open_database(misled) as database:
        with pytest.raises(DatabaseUnavailable, match="standby") as caught:
            async with database.connection() as connection:
                await connection.execute("DELETE FROM documents")
        assert caught.value.retryable


async def test_an_address_that_cannot_be_read_is_told(pair: DatabasePair, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"replica\.url"):
        async with open_databases(settings_over(pair, tmp_path, url="no address")):
            pass


async def test_a_shared_reading_began_after_whoever_asked() -> None:
    clock = 0
    begun: list[int] = []
    go = asyncio.Event()

    async def read() -> int:
        begun.append(clock)
        await go.wait()
        return begun[-1]

    shared = SharedReading(read)
    first = asyncio.create_task(shared.fresh())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    clock = 1
    later = [asyncio.create_task(shared.fresh()) for _ in range(5)]
    await asyncio.sleep(0)
    later[0].cancel()  # who leaves takes the reading from nobody
    go.set()
    assert await first == 0
    assert await asyncio.gather(*later[1:]) == [1] * 4
    assert begun == [0, 1]


def test_lag_is_the_age_of_the_oldest_position_that_is_missing() -> None:
    lag = Lag()
    for at in range(2500):
        lag.note(position=at, at=float(at))
    assert lag.seconds(replayed=2499, at=2500.0) == 0
    for at in range(2500, 5000):
        lag.note(position=at, at=float(at))
    assert lag.seconds(replayed=2499, at=5000.0) == pytest.approx(2500, abs=5)
    assert lag.seconds(replayed=4989, at=5000.0) == pytest.approx(10, abs=5)
