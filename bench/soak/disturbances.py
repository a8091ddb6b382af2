"""What goes wrong in a soak, one thing after the other, each put right again by itself or by its end."""

import asyncio
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psycopg

from bench.soak.readers import Readers
from bench.soak.soaked_service import LEASE_SECONDS, Deployment

SLOW_SYNC_SECONDS, SLOW_SECONDS = 0.25, 12.0
FULL_SECONDS = 12.0
CLOCK_SECONDS = 12.0
STEP = 3600.0
DATABASE_STEP = 45.0
_OTHERS = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A thing that went wrong, and when, in seconds since the soak began; ``refused`` counts requests meanwhile."""

    name: str
    began: float
    took: float
    refused: int
    note: str


@dataclass(slots=True)
class Disturbances:
    """Does one thing after the other, in rounds of a random order, with a pause between them."""

    deployment: Deployment
    readers: Readers
    random: random.Random
    pause: float
    done: list[Disturbance] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)

    def kinds(self) -> dict[str, Callable[[], Awaitable[str]]]:
        """Return what can be done on this machine, by name."""
        kinds: dict[str, Callable[[], Awaitable[str]]] = {
            "kill -9 of a server": self._kill_server,
            "kill -9 of the worker": self._kill_worker,
            "SIGTERM to a server": self._stop_server,
            "a server frozen for longer than its lease": self._freeze_server,
            "every client's connection cut": self._cut_clients,
            "every database connection cut": self._cut_database,
            "kill -9 of a backend of the database": self._kill_backend,
            "restart of the database": self._restart_database,
        }
        if self.deployment.disk.can_be_filled:
            kinds["full disk"] = self._fill_disk
        if self.deployment.database.library is not None:
            kinds["slow disk"] = self._slow_disk
            kinds["clock of a server, an hour on and back"] = self._step_server
            kinds["clock of a server, an hour back and on"] = self._step_server_back
            kinds["clock of the database, 45 s on and back"] = self._step_database
        return kinds

    async def go_on(self) -> None:
        """Disturb until cancelled."""
        kinds = self.kinds()
        while True:
            names = list(kinds)
            self.random.shuffle(names)
            for name in names:
                began, refused = time.monotonic(), self.readers.refusals.total()
                note = await kinds[name]()
                took = time.monotonic() - began
                print(f"{datetime.now(UTC):%H:%M:%S} {name}: {note}", flush=True)
                await asyncio.sleep(self.pause)
                refused = self.readers.refusals.total() - refused
                self.done.append(Disturbance(name, began - self._began, took, refused, note))

    def put_right(self) -> None:
        """End whatever is still wrong."""
        self.deployment.disk.free()
        for injection in (self.deployment.database, *(server.injection for server in self.deployment.servers)):
            injection.step_clock(0)
            injection.slow_disk(0)
        for program in self.deployment.programs:
            program.send(signal.SIGCONT)

    async def _kill_server(self) -> str:
        self.deployment.first.program.end(signal.SIGKILL)
        return f"{self.readers.in_flight} runs in flight"

    async def _kill_worker(self) -> str:
        self.deployment.worker.end(signal.SIGKILL)
        return "documents in work go on in its next life"

    async def _stop_server(self) -> str:
        self.deployment.first.program.end(signal.SIGTERM)
        return f"{self.readers.in_flight} runs in flight"

    async def _freeze_server(self) -> str:
        self.deployment.first.program.send(signal.SIGSTOP)
        await asyncio.sleep(LEASE_SECONDS * 1.5)
        self.deployment.first.program.send(signal.SIGCONT)
        return f"{LEASE_SECONDS * 1.5:.0f} s"

    async def _cut_clients(self) -> str:
        return f"{self.readers.cut_all()} streams"

    async def _cut_database(self) -> str:
        return f"{await self._number(f'SELECT count(pg_terminate_backend(pid)) {_OTHERS}')} connections"

    async def _kill_backend(self) -> str:
        pid = await self._number(f"SELECT pid {_OTHERS} ORDER BY random() LIMIT 1")
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return "the database recovers"

    async def _restart_database(self) -> str:
        self.deployment.postgres.end(signal.SIGINT)
        return "fast shutdown"

    async def _fill_disk(self) -> str:
        self.deployment.postgres.may_end = True  # where it finds no room for its log
        life = self.deployment.postgres.life
        self.deployment.disk.fill()
        try:
            await asyncio.sleep(FULL_SECONDS)
        finally:
            self.deployment.disk.free()
        await asyncio.sleep(2)
        ended = self.deployment.postgres.life - life
        self.deployment.postgres.may_end = False
        return f"{FULL_SECONDS:.0f} s; PostgreSQL ended {ended} times"

    async def _slow_disk(self) -> str:
        self.deployment.database.slow_disk(SLOW_SYNC_SECONDS)
        await asyncio.sleep(SLOW_SECONDS)
        self.deployment.database.slow_disk(0)
        return f"each sync {SLOW_SYNC_SECONDS * 1000:.0f} ms longer for {SLOW_SECONDS:.0f} s"

    async def _step_server(self) -> str:
        return await self._step(STEP)

    async def _step_server_back(self) -> str:
        return await self._step(-STEP)

    async def _step(self, seconds: float) -> str:
        server = self.random.choice(self.deployment.servers)
        server.injection.step_clock(seconds)
        await asyncio.sleep(CLOCK_SECONDS)
        server.injection.step_clock(0)
        return f"{server.program.name} for {CLOCK_SECONDS:.0f} s"

    async def _step_database(self) -> str:
        self.deployment.database.step_clock(DATABASE_STEP)
        await asyncio.sleep(CLOCK_SECONDS)
        self.deployment.database.step_clock(0)
        return f"for {CLOCK_SECONDS:.0f} s"

    async def _number(self, query: str) -> int:
        try:
            async with await psycopg.AsyncConnection.connect(self.deployment.database_url) as connection:
                row = await (await connection.execute(query.encode())).fetchone()
        except psycopg.OperationalError:
            return 0
        return int(row[0]) if row else 0
