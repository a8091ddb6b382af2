"""What tests share: a real PostgreSQL, a database of its own for each test, and a fuse against the network."""

import asyncio
import gc
import ipaddress
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Generator, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
import uvloop
from psycopg import sql
from pydantic import SecretStr

from tests import once  # noqa: F401 - for what it does
from tests.handed_on import handed_on
from tools.judges import entailment
from tools.llm import model_endpoint
from tools.settings import RunSettings, Settings
from tools.storage.database import Database
from tools.storage.embedded import EmbeddedServer, start_embedded
from tools.storage.startup import migrate, open_database

TEMPLATE = "citewell_template"
# The settings of whoever runs the tests stay out of them.
for name in [each for each in os.environ if each.startswith(("CITEWELL_", "OPENAI_", "SERPER_"))]:
    del os.environ[name]
NO_EXAM = {"CITEWELL_JUDGE__EXAM": "manual"}  # a scripted endpoint expects no exam of its model
os.environ.update(NO_EXAM)
NO_FILE: Any = {"_env_file": None}
model_endpoint.FIRST_WAIT = entailment.FIRST_WAIT = 0.01  # seconds: a scripted endpoint fails on purpose
QUICKLY = RunSettings(drain_seconds=0)  # a test waits for no run that it leaves
BARE = Settings(**NO_FILE)  # made once: to look for 190 names in the environment takes a fifth of opening a deployment
# The 550 files of a database are made in memory in a tenth of the time that a disk takes.
_MEMORY, ROOM_NEEDED = Path("/dev/shm"), 8 << 30
SCRATCH = str(_MEMORY) if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > ROOM_NEEDED else "/tmp"
# A test's data need not survive a power cut, and each database that is made or dropped walks through all buffers.
UNSAFE_BUT_FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "32MB",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden streams and print what changes")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how golden streams were changed, which pytest shows of no test that passes."""
    if config.getoption("--update-golden"):
        terminalreporter.section("golden streams")
        for report in terminalreporter.getreports("passed"):
            for name, differences in report.sections:
                if name == "Captured golden call":
                    terminalreporter.write_line(differences)


# What starts processes and browsers comes first: no worker is left with it when the others have ended.
FIRST = ("e2e", "page", "wire", "engines", "postgres", "api", "contract", "graph", "unit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: FIRST.index(item.nodeid.split("/", 2)[1]))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Look for no garbage while tests are imported, and later only in what they make.

    It took a quarter of that time to walk the 600,000 objects that stay for as long as the process does.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class Fuse:
    """Blows where Python code reaches beyond this machine. Unix sockets and loopback pass.

    An audit hook sees every socket and can't be taken off again, so it is set once and remembers what it saw.
    """

    def __init__(self) -> None:
        self.attempts: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect":
            address = arguments[1]
            if isinstance(address, tuple) and not _is_local(address[0]):
                self._blow(str(address[0]))
        elif event == "socket.getaddrinfo" and arguments[0] is not None and not _is_local(arguments[0]):
            self._blow(str(arguments[0]))

    def _blow(self, target: str) -> None:
        self.attempts.append(target)
        raise ConnectionRefusedError(f"tests stay on this machine, but something reached for {target}")


def _is_local(host: str | bytes) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(name.split("%")[0]).is_loopback or name in ("0.0.0.0", "::")
    except ValueError:
        return False


FUSE = Fuse()


class FusedLoop(uvloop.Loop):
    """The event loop that `citewell serve` has. Its sockets are not Python's own, so no audit hook hears of them."""

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **how: Any) -> Any:
        if host is not None:
            sys.audit("socket.connect", None, (host, port))
        return await super().create_connection(protocol_factory, host, port, **how)

    def close(self) -> None:
        """Close what tests have left to be collected, too: a warning of each would leave it, and the loop, open."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            super().close()


class ServicePolicy(asyncio.DefaultEventLoopPolicy):
    """Tests run on the loop of the service, which takes less for granted than asyncio's own."""

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        return FusedLoop()


asyncio.set_event_loop_policy(ServicePolicy())


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Escape lone surrogates, which some attacks hold: a report that is no UTF-8 would end the whole run."""
    return encodable((yield))


def encodable(value: Any) -> Any:
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case dict():
            return {encodable(key): encodable(each) for key, each in value.items()}
        case list() | tuple():
            return type(value)(encodable(each) for each in value)
    return value


@pytest.fixture(autouse=True)
def network_fuse() -> Iterator[Fuse]:
    """Fail a test that reached beyond this machine, even where it swallowed the error."""
    FUSE.attempts.clear()
    yield FUSE
    assert FUSE.attempts == []


@pytest.fixture(autouse=True)
def clean_environment() -> Iterator[None]:
    """Put back what a test changes in the environment, and no more: writing it anew takes longer than most tests."""
    before = _environment()
    yield
    after = _environment()
    if after != before:
        for name in after.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


# A busy machine is no fault of what is tested: neither an example nor the making of them has to be quick. Each run
# makes other examples, so that few a run are many in a week, but where they decide whether a change is let in.
hypothesis.settings.register_profile(
    "unhurried",
    parent=hypothesis.settings(),
    max_examples=25,
    deadline=None,
    derandomize=os.environ.get("CI") == "true",
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
)
hypothesis.settings.load_profile("unhurried")

NEAR_MIDNIGHT = 20  # seconds


@pytest.fixture
def same_day() -> None:
    """Wait for midnight in UTC where it is near: for a test that takes the day of its beginning for that of its end."""
    left = 86_400 - time.time() % 86_400
    if left < NEAR_MIDNIGHT:
        time.sleep(left + 0.1)


@pytest.fixture(scope="session", autouse=True)
async def processes_handed_on() -> AsyncIterator[None]:
    async with handed_on():
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedServer]:
    """A throw-away server, tuned for tests; its template database holds the schema of this release."""
    folder = Path(tempfile.mkdtemp(prefix="citewell-tests-", dir=SCRATCH))
    folder.chmod(0o711)  # as root, the server's own account passes through
    server = start_embedded(folder, UNSAFE_BUT_FAST)
    yield server
    server.release()
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
async def template(postgres: EmbeddedServer) -> AsyncIterator[str]:
    async with await psycopg.AsyncConnection.connect(postgres.url(), autocommit=True) as connection:
        _administrators[postgres.url()] = connection
        await _admin(postgres, "CREATE DATABASE {}", TEMPLATE)
        await migrate(Settings(**NO_FILE, database_url=SecretStr(postgres.url(TEMPLATE))))
        yield TEMPLATE
        del _administrators[postgres.url()]


_numbers = count(1)
# Where files were just deleted, ext4 without a journal takes six times as long to make others.
MOST_LEFT = 40  # databases of 10 MB
_left: list[str] = []
_administrators: dict[str, psycopg.AsyncConnection] = {}  # by the server that they are connected to


async def fresh_database(postgres: EmbeddedServer, template: str) -> AsyncIterator[str]:
    """Give the address of a database made from a template, for as long as it is used."""
    name = f"test_{next(_numbers)}"
    await _admin(postgres, f"CREATE DATABASE {{}} TEMPLATE {template} STRATEGY FILE_COPY", name)
    yield postgres.url(name)
    _left.append(name)
    if len(_left) == MOST_LEFT:
        await _admin(postgres, "DROP DATABASE {} WITH (FORCE)", *_left)
        _left.clear()


@pytest.fixture
async def database_url(postgres: EmbeddedServer, template: str) -> AsyncIterator[str]:
    """The address of a fresh, migrated database that holds the workspace "default" and nothing else."""
    async for url in fresh_database(postgres, template):
        yield url


@pytest.fixture(scope="module")
async def shared_database_url(postgres: EmbeddedServer, template: str) -> AsyncIterator[str]:
    """The address of such a database for all tests of a module: each has to keep to sessions of its own."""
    async for url in fresh_database(postgres, template):
        yield url


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """The settings of a deployment over the test's own database, untouched by any .env."""
    return settings_over(database_url, tmp_path / "data")


def settings_over(database_url: str, data_dir: Path) -> Settings:
    """Return the settings of a deployment over a database, which leave whatever the environment says."""
    return BARE.model_copy(
        update={
            "database_url": SecretStr(database_url),
            "data_dir": data_dir,
            "pool_size": 4,
            "pool_timeout_seconds": 10.0,  # on however busy a machine
            "runs": QUICKLY,
        }
    )


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    async with open_database(settings) as opened:
        yield opened


async def _admin(server: EmbeddedServer, statement: str, *names: str) -> None:
    for name in names:
        await _administrators[server.url()].execute(sql.SQL(statement).format(sql.Identifier(name)))
