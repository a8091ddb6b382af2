"""Two PostgreSQL servers, a primary and its standby, set up and changed over by the commands of docs/operations.md."""

import asyncio
import os
import re
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tools.storage.embedded import SUPERUSER, find_binaries
from tools.storage.server_account import SHARED_ACCOUNT, Unprivileged, account_named, unprivileged_user

MANUAL = Path(__file__).parents[2] / "docs" / "operations.md"
REPLICA, FAILOVER = "A read replica", "Failing over by hand"
_COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the two share: TCP on this machine alone, on the port that the environment names.
_CONFIGURATION = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
shared_buffers = 128MB
max_wal_size = 2GB
random_page_cost = 1.1
"""


def commands_of(section: str) -> list[str]:
    """Return the blocks of shell commands of a section of the manual, in order."""
    page = MANUAL.read_text(encoding="utf-8")
    begin = page.index(f"\n## {section}\n") + 1
    return _COMMANDS.findall(page[begin : page.index("\n## ", begin)])


@dataclass(frozen=True, slots=True)
class Node:
    """A server: its data folder, and the port where it listens on this machine."""

    data: Path
    port: int

    @property
    def conninfo(self) -> str:
        """How libpq reaches it."""
        return f"host=127.0.0.1 port={self.port} user={SUPERUSER}"

    @property
    def process(self) -> psutil.Process:
        """Its process."""
        return psutil.Process(int((self.data / "postmaster.pid").read_text().splitlines()[0]))


@dataclass(slots=True)
class DatabasePair:
    """A primary and its standby, which change places in a failover."""

    primary: Node
    standby: Node
    binaries: Path
    account: Unprivileged | None

    def url(self, attributes: str, database: str = "citewell") -> str:
        """Return an address that names both servers, of which libpq takes the one with the given attributes."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in sorted((self.primary.port, self.standby.port)))
        return f"postgresql://{SUPERUSER}@{hosts}/{database}?target_session_attrs={attributes}"

    async def replicate(self, *, synchronous: bool) -> None:
        """Make the standby of the primary, as the manual says."""
        prepare, copy, _ = commands_of(REPLICA)
        await self._follow(prepare, self.primary)
        await self._follow(copy, self.standby)
        if synchronous:
            await self.let_commits_wait()

    async def let_commits_wait(self) -> None:
        """Let the primary acknowledge nothing that the standby does not have on disk."""
        await self._follow(commands_of(REPLICA)[2], self.primary)

    async def stop_primary(self) -> None:
        """Stop the primary as it would end by a crash."""
        await self._follow(commands_of(FAILOVER)[0], self.primary)

    async def promote(self) -> None:
        """Make the standby the primary."""
        await self._follow(commands_of(FAILOVER)[1], self.standby)

    async def rejoin(self) -> None:
        """Bring the old primary back as the standby, after which the two have changed names."""
        await self._follow(commands_of(FAILOVER)[2], self.primary)
        self.primary, self.standby = self.standby, self.primary

    async def stop(self, node: Node) -> None:
        """Stop a server if it runs."""
        if (node.data / "postmaster.pid").exists():
            await self.run("pg_ctl", "-D", str(node.data), "-m", "immediate", "-w", "stop", node=node)

    async def start(self, node: Node) -> None:
        """Start a server."""
        await self.run("pg_ctl", "-D", str(node.data), "-l", f"{node.data}/server.log", "-w", "start", node=node)

    async def sql(self, node: Node, *statements: str) -> None:
        """Run statements on a server, each in a transaction of its own."""
        each = [part for statement in statements for part in ("-c", statement)]
        await self.run("psql", "-q", f"{node.conninfo} dbname=postgres", *each, node=node)

    async def run(self, program: str, *arguments: str, node: Node) -> None:
        """Run a program of PostgreSQL to its end, as the account of the servers. Raises AssertionError if it fails."""
        await asyncio.to_thread(self._execute, [str(self.binaries / program), *arguments], node)

    async def _follow(self, commands: str, node: Node) -> None:
        await asyncio.to_thread(self._execute, ["bash", "-euo", "pipefail", "-c", commands], node)

    def _execute(self, command: list[str], node: Node) -> None:
        account: Mapping[str, Any] = {}
        if self.account is not None:
            account = {"user": self.account.uid, "group": self.account.gid, "extra_groups": ()}
        environment = {
            "PATH": f"{self.binaries}:{os.environ.get('PATH', os.defpath)}",
            "HOME": str(node.data.parent),
            "PGPORT": str(node.port),  # of the server that the commands start
            "PRIMARY": self.primary.conninfo,
            "STANDBY": self.standby.conninfo,
            "PRIMARY_DATA": str(self.primary.data),
            "STANDBY_DATA": str(self.standby.data),
        }
        # A server inherits the output of what starts it, so a pipe would stay open for as long as it runs.
        with open(node.data.parent / "commands.log", "ab") as output:
            done = subprocess.run(command, stdout=output, stderr=output, cwd="/", env=environment, **account)
        assert done.returncode == 0, Path(output.name).read_text(encoding="utf-8", errors="replace")[-3000:]


@asynccontextmanager
async def database_pair(folder: Path, *, synchronous: bool, more: str = "") -> AsyncIterator[DatabasePair]:
    """Run a primary with an empty database ``citewell``, and its standby, in a folder that anybody may pass through.

    ``more`` are further lines of their configuration.
    """
    account = unprivileged_user() and account_named(SHARED_ACCOUNT)  # initdb insists on a name
    primary, standby = nodes = [Node(folder / name / "data", _free_port()) for name in ("db1", "db2")]
    for node in nodes:
        node.data.parent.mkdir()
        if account is not None:
            os.chown(node.data.parent, account.uid, account.gid)
    pair = DatabasePair(primary, standby, find_binaries(account), account)
    locale = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    initialise = ["-D", str(primary.data), "-U", SUPERUSER, "--auth=trust", "--no-sync", *locale]
    try:
        await pair.run("initdb", *initialise, node=primary)
        await asyncio.to_thread(_append, primary.data / "postgresql.conf", _CONFIGURATION + more)
        await pair.start(primary)
        await pair.sql(primary, "CREATE DATABASE citewell")
        await pair.replicate(synchronous=synchronous)
        yield pair
    finally:
        for node in nodes:
            await pair.stop(node)


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
