"""The deployment that is soaked: PostgreSQL, two servers and a worker, each supervised and fit to be disturbed."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import psycopg
from pydantic import SecretStr

from bench.paced_model import PACED
from bench.serving import ROOT
from bench.soak.preloading import Injection, compile_library
from bench.soak.programs import Program, as_account
from bench.soak.small_disk import SmallDisk, small_disk
from tools.settings import Settings, load_settings
from tools.storage.embedded import SUPERUSER, find_binaries, unprivileged_user
from tools.storage.startup import migrate

DISK_MEGABYTES = 6_000
LEASE_SECONDS = 10
SOAKED = (
    "-c",
    "from tools.library import job_worker; from tools.runs import runner;"
    f"job_worker.LEASE_SECONDS = runner.LEASE_SECONDS = {LEASE_SECONDS};"
    "from cli.main import main; main()",
)
READY_SECONDS = 90.0
POSTGRES = {
    "listen_addresses": "",
    "shared_buffers": "128MB",
    "max_connections": "100",
    "max_wal_size": "512MB",
    "log_min_messages": "fatal",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A server of the API: its program, where it listens, and where its metrics are."""

    program: Program
    url: str
    metrics: str
    injection: Injection


@dataclass(frozen=True, slots=True)
class Deployment:
    """All processes of the deployment. ``first`` is killed and stopped in the soak; ``second`` lives through all."""

    disk: SmallDisk
    postgres: Program
    database: Injection
    database_url: str
    first: Server
    second: Server
    worker: Program

    @property
    def servers(self) -> tuple[Server, Server]:
        """Both servers."""
        return self.first, self.second

    @property
    def programs(self) -> tuple[Program, ...]:
        """Every program."""
        return self.first.program, self.second.program, self.worker, self.postgres

    def settings(self, folder: Path) -> Settings:
        """Return settings by which a library on the same database is opened."""
        return load_settings(data_dir=folder, database_url=SecretStr(self.database_url))

    async def ready(self) -> None:
        """Wait until both servers can answer. Raises TimeoutError."""
        async with httpx.AsyncClient(trust_env=False) as client:
            for server in self.servers:
                await _until_ok(client, f"{server.url}/readyz")


@asynccontextmanager
async def deployed(folder: Path, model_url: str) -> AsyncIterator[Deployment]:
    """Start the deployment in a folder; on exit every process has ended and nothing is mounted."""
    async with AsyncExitStack() as stack:
        library = compile_library(folder)
        disk = stack.enter_context(small_disk(folder, DISK_MEGABYTES))
        postgres, injection = await _postgres(folder, disk, library)
        stack.push_async_callback(postgres.stop)
        url = f"postgresql://{SUPERUSER}@/postgres?host={quote(str(disk.folder / 'data'))}&port=5432"
        await _until_connected(url)
        await migrate(load_settings(data_dir=folder / "unused", database_url=SecretStr(url)))
        common = _environment(folder, url, model_url)
        first, second = (_server(folder, name, common, library) for name in ("server-1", "server-2"))
        worker = Program("worker", [sys.executable, *SOAKED, "worker"], common, folder / "worker.log")
        serving = (first.program, second.program, worker)
        for program in serving:
            program.start()
        stack.push_async_callback(_stop_all, serving)
        deployment = Deployment(disk, postgres, injection, url, first, second, worker)
        await deployment.ready()
        yield deployment


async def _stop_all(programs: Sequence[Program]) -> None:
    await asyncio.gather(*(program.stop() for program in programs))


async def _postgres(folder: Path, disk: SmallDisk, library: Path | None) -> tuple[Program, Injection]:
    account = unprivileged_user()
    binaries = find_binaries(account)
    data = disk.folder / "data"
    data.mkdir(mode=0o700)
    if account is not None:
        os.chown(data, account.uid, account.gid)
    command = [str(binaries / "initdb"), "-D", str(data), "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8"]
    command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    subprocess.run(command, check=True, capture_output=True, cwd="/", **as_account(account))  # noqa: ASYNC221 - alone yet
    injection = Injection(library, folder / "database.control")
    options = {**POSTGRES, "unix_socket_directories": str(data)}
    serve = [str(binaries / "postgres"), "-D", str(data)]
    serve += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    environment = {"PATH": os.environ["PATH"], **injection.environment()}
    postgres = Program("postgres", serve, environment, folder / "postgres.log", account, signal.SIGINT)
    postgres.start()
    return postgres, injection


def _environment(folder: Path, url: str, model_url: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CITEWELL_", "OPENAI_"))}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "CITEWELL_DATA_DIR": str(folder / "unused"),
        "CITEWELL_DATABASE_URL": url,
        "CITEWELL_LOG_LEVEL": "warning",
        "CITEWELL_LOG_FORMAT": "json",
        "CITEWELL_MODELS": json.dumps([{"name": PACED, "base_url": model_url, "model": PACED}]),
        "CITEWELL_DEFAULT_MODEL": "extractive",
        "CITEWELL_JUDGE__KIND": "off",
        "CITEWELL_JOBS__WORKERS": "0",  # documents are the worker's
        "CITEWELL_METRICS__SERVE": "port",
    }


def _server(folder: Path, name: str, common: Mapping[str, str], library: Path | None) -> Server:
    port, metrics = _free_port(), _free_port()
    injection = Injection(library, folder / f"{name}.control")
    environment = {**common, **injection.environment(), "CITEWELL_METRICS__PORT": str(metrics)}
    command = [sys.executable, *SOAKED, "serve", "--host", "127.0.0.1", "--port", str(port)]
    program = Program(name, command, environment, folder / f"{name}.log")
    return Server(program, f"http://127.0.0.1:{port}", f"http://127.0.0.1:{metrics}/metrics", injection)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


async def _until_connected(url: str) -> None:
    async with asyncio.timeout(READY_SECONDS):
        while True:
            with suppress(psycopg.OperationalError):
                async with await psycopg.AsyncConnection.connect(url):
                    return
            await asyncio.sleep(0.2)


async def _until_ok(client: httpx.AsyncClient, url: str) -> None:
    async with asyncio.timeout(READY_SECONDS):
        while True:
            with suppress(httpx.HTTPError):
                if (await client.get(url)).is_success:
                    return
            await asyncio.sleep(0.2)
