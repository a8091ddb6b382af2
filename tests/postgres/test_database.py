import asyncio
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.adapt import Dumper, Loader
from pydantic import SecretStr

import migrations
from cli.checks import check_database
from cli.command import Exit
from graph.errors import ConfigurationError, DatabaseBusy, DatabaseUnavailable
from tests.conftest import SCRATCH
from tests.postgres.proxy import proxied
from tools.settings import Settings
from tools.storage.database import LEAST_POSTGRESQL, Database
from tools.storage.embedded import EmbeddedServer
from tools.storage.startup import migrate, open_database
from tools.storage.tenants import Workspaces

NO_FILE: Any = {"_env_file": None}


@pytest.fixture
def empty_url(postgres: EmbeddedServer) -> Iterator[str]:
    """The address of a database that has never been migrated."""
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE never_migrated")
        yield postgres.url("never_migrated")
        connection.execute("DROP DATABASE never_migrated WITH (FORCE)")


def over(url: str, **settings: Any) -> Settings:
    return Settings(**NO_FILE, database_url=SecretStr(url), **settings)


async def value(database: Database, query: str) -> Any:
    async with database.connection() as connection:
        row = await (await connection.execute(query)).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A new data folder that the server's own account may pass through, also as root."""
    with tempfile.TemporaryDirectory(prefix="cw-", dir=SCRATCH) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


async def test_the_embedded_default_is_ready_at_the_first_open_also_for_two_at_once(data_dir: Path) -> None:
    settings = Settings(**NO_FILE, data_dir=data_dir)

    async def open_and_look() -> int:
        async with open_database(settings) as database:
            return await Workspaces(database).number("default")

    assert list(await asyncio.gather(open_and_look(), open_and_look())) == [1, 1]
    assert await migrate(settings) == []


async def test_a_real_server_is_never_changed_unasked(empty_url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        async with open_database(over(empty_url)):
            pass
    assert "citewell migrate" in caught.value.advice
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


async def test_migrate_names_what_it_did_and_does_it_once(empty_url: str) -> None:
    settings = over(empty_url)
    done = await asyncio.gather(migrate(settings), migrate(settings))
    assert sorted(done) == [[], [*migrations.revisions(), "checkpointer"]]
    async with open_database(settings) as database:
        assert await value(database, "SELECT count(*) FROM checkpoints") == 0


async def test_a_new_release_of_the_checkpointer_is_pending(settings: Settings, database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute("UPDATE checkpointer_setup SET release = '0.1'")
    with pytest.raises(ConfigurationError, match="checkpointer"):
        async with open_database(settings):
            pass
    assert await migrate(settings) == ["checkpointer"]


def test_migrations_write_sql_of_the_least_postgresql() -> None:
    """The tests' server is a newer one, and took this in CREATE TABLE, which is of PostgreSQL 16."""
    statements = [each for path in migrations.VERSIONS.glob("*/*.sql") for each in path.read_text().split(";")]
    assert [each for each in statements if re.search(r"CREATE TABLE.*\bSTORAGE\b", each, re.DOTALL)] == []


async def test_uploads_are_stored_as_they_come(database: Database) -> None:
    stored = "SELECT attstorage FROM pg_attribute WHERE attrelid = 'ingestion_uploads'::regclass AND attname = 'data'"
    assert await value(database, stored) == "e"


async def test_a_server_that_is_too_old_is_refused_with_what_is_needed(empty_url: str, database_url: str) -> None:
    async with proxied(empty_url) as (proxy, url), proxied(database_url) as (migrated_proxy, migrated_url):
        proxy.version = migrated_proxy.version = b"14.9"
        with pytest.raises(ConfigurationError) as at_migration:
            await migrate(over(url))
        with pytest.raises(ConfigurationError) as at_start:
            async with open_database(over(migrated_url)):
                pass
        checked = await check_database(over(url))
        for told in (at_migration.value.message, at_start.value.message, checked.detail):
            assert {"14.9", str(LEAST_POSTGRESQL)} <= set(re.findall(r"\d+(?:\.\d+)?", told))
        assert "CITEWELL_DATABASE_URL" in checked.suggestion
        assert checked.exit_code == Exit.CONFIGURATION
        proxy.version = b"15.0"
        assert (await check_database(over(url))).facts["pending"]
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("postgresql://nobody@127.0.0.1:1/nothing", DatabaseUnavailable),
        ("postgresql://nobody@/nothing?host=/nowhere", DatabaseUnavailable),
        ("citewell:secret@somewhere", ConfigurationError),
    ],
)
async def test_a_server_that_cannot_be_reached(url: str, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        async with open_database(over(url)):
            pass
    assert "secret" not in str(caught.value)


async def test_a_database_whose_connections_are_all_in_use_is_busy_and_not_unavailable(database_url: str) -> None:
    """Askers who came in hundreds were told that the database could not be reached, though it was well."""
    async with (
        open_database(over(database_url, pool_size=2, pool_timeout_seconds=2)) as database,
        database.connection(),
    ):
        async with database.connection():
            with pytest.raises(DatabaseBusy, match="in use"):
                async with database.connection():
                    pass
        assert await value(database, "SELECT 1") == 1


async def test_a_database_that_went_away_is_unavailable_and_not_busy(database_url: str) -> None:
    async with (
        proxied(database_url) as (proxy, url),
        open_database(over(url, pool_timeout_seconds=1.5)) as database,
    ):
        async with database.connection():
            proxy.refusing = True
            proxy.cut()
            with pytest.raises(DatabaseUnavailable) as caught:
                async with database.connection():
                    pass
        assert not isinstance(caught.value, DatabaseBusy)


async def test_connections_that_the_server_ended_are_replaced(database: Database) -> None:
    async with database.connection() as one, database.connection():
        pids = [one.info.backend_pid]
    assert pids
    _end_connections(database)
    assert await value(database, "SELECT 1") == 1


async def test_connections_that_are_replaced_leave_no_classes_behind(database: Database) -> None:
    """Vector types were registered anew on each, and psycopg never forgets a class that was registered."""
    await value(database, "SELECT 1")
    known = len(_subclasses(Dumper)) + len(_subclasses(Loader))
    for _ in range(3):
        _end_connections(database)
        await value(database, "SELECT 1")
    assert len(_subclasses(Dumper)) + len(_subclasses(Loader)) == known


def _end_connections(database: Database) -> None:
    with psycopg.connect(database.url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def _subclasses(of: type) -> set[type]:
    direct: set[type] = set(of.__subclasses__())
    return direct.union(*map(_subclasses, direct))


async def test_a_connection_that_breaks_in_use_is_our_error(database: Database) -> None:
    with pytest.raises(DatabaseUnavailable):  # noqa: PT012 - the connection must break while it is lent
        async with database.connection() as connection:
            with psycopg.connect(database.url, autocommit=True) as admin:
                admin.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.info.backend_pid])
            await connection.execute("SELECT 1")


async def test_a_query_that_takes_too_long_is_our_error(database: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match="too long"):  # noqa: PT012 - the setting belongs to the transaction
        async with database.connection() as connection, connection.transaction():
            await connection.execute("SET LOCAL statement_timeout = 10")
            await connection.execute("SELECT pg_sleep(5)")


async def test_faults_of_a_query_itself_pass_unchanged(database: Database) -> None:
    with pytest.raises(psycopg.errors.UndefinedTable):
        async with database.connection() as connection:
            await connection.execute("SELECT * FROM no_such_table")


async def test_connections_are_set_up_for_short_queries(database: Database) -> None:
    assert await value(database, "SELECT current_setting('jit')") == "off"
    async with database.connection() as connection:
        assert connection.autocommit


SESSION = (
    'INSERT INTO sessions (session_id, workspace, "user", dialect, external_id)'
    " VALUES (gen_random_uuid(), 1, 'ann', %s, %s) RETURNING session_id"
)
RUN = (
    'INSERT INTO runs (run_id, session_id, workspace, "user", question, status)'
    " VALUES (gen_random_uuid(), %s, 1, 'ann', 'Why?', 'running') RETURNING run_id"
)
DOCUMENT = (
    "INSERT INTO documents (workspace, document_id, title, media_type, content_hash, metadata)"
    " VALUES (1, gen_random_uuid(), 'T', 'text/plain', 'x', %s)"
)


async def test_a_session_has_one_run_going_on_at_most(database: Database) -> None:
    async with database.connection() as connection:
        session = (await (await connection.execute(SESSION, ["native", None])).fetchone() or [None])[0]
        await connection.execute(RUN, [session])
        with pytest.raises(psycopg.errors.UniqueViolation):
            await connection.execute(RUN, [session])
        await connection.execute(
            "UPDATE runs SET status = 'finished', outcome = 'answered', stop_reason = 'answer_complete'"
        )
        await connection.execute(RUN, [session])


async def test_an_external_id_is_unique_within_workspace_user_and_dialect(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(SESSION, ["docs_chat", "c1"])
        await connection.execute(SESSION, ["docmost", "c1"])
        await connection.execute(SESSION, ["native", None])
        await connection.execute(SESSION, ["native", None])
        with pytest.raises(psycopg.errors.UniqueViolation):
            await connection.execute(SESSION, ["docmost", "c1"])


async def test_metadata_is_at_most_16_kilobytes(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(DOCUMENT, [psycopg.types.json.Jsonb({"k": "v" * 16_000})])
        with pytest.raises(psycopg.errors.CheckViolation):
            await connection.execute(DOCUMENT, [psycopg.types.json.Jsonb({"k": "v" * 16_400})])


async def test_every_table_that_names_a_workspace_loses_its_rows_with_it(database: Database) -> None:
    """A table added later that forgets the foreign key would keep a deleted tenant's rows."""
    async with database.connection() as connection:
        found = await connection.execute(
            "SELECT c.table_name FROM information_schema.columns c JOIN pg_class t ON t.relname = c.table_name"
            " WHERE c.column_name = 'workspace' AND c.table_schema = 'public' AND NOT t.relispartition"
            " AND t.relkind <> 'v'"
        )
        tables = {row[0] for row in await found.fetchall()}
        found = await connection.execute(
            "SELECT conrelid::regclass::text FROM pg_constraint"
            " WHERE contype = 'f' AND confrelid = 'workspaces'::regclass AND confdeltype = 'c'"
        )
        cascading = {row[0] for row in await found.fetchall()}
    of_the_library = {
        "segments",
        "segment_vectors",
        "term_statistics",
        "term_changes",
        "vocabulary",
        "library_statistics",
    }
    further = {"further_segments", "further_segment_vectors"}
    dropped_with_the_partition = {*of_the_library, *further, "shared_segments", "shared_segment_vectors"}
    dropped_with_their_own = {"original_chunks", "original_views", "collection_documents"}
    # The audit log is kept for as long as the deployment says; changes tell an index outside that a workspace is gone.
    outliving = {"audit_log", "index_changes"}
    assert tables - dropped_with_the_partition - dropped_with_their_own - outliving == cascading
