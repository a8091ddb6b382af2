"""Several servers and workers over one database, behind a plain proxy: started, stopped and restarted one by one."""

import asyncio
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import psutil

from bench.serving import CITEWELL, cpu_of, read_announcement, started
from tools.concurrency.tasks import cancel_and_wait

LOOK_SECONDS = 0.5  # between two looks at which servers are ready
PATIENCE_SECONDS = 120
CHUNK = 65_536
UNAVAILABLE = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 18\r\n"
    b'Connection: close\r\n\r\n{"retryable":true}'
)
READY = b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


class Member:
    """A process of the deployment, which can be restarted; ``port`` is where a server listens."""

    def __init__(self, folder: Path, name: str, command: tuple[str, ...], settings: Mapping[str, str]) -> None:
        self.name = name
        self.port: int | None = None
        self._folder = folder
        self._command = (sys.executable, *CITEWELL, *command, "--json")
        self._settings = settings
        self._used = 0.0
        self._process: psutil.Process | None = None
        self._running = AsyncExitStack()

    async def start(self) -> None:
        """Start it and wait until it works."""
        log = self._running.enter_context((self._folder / f"{self.name}.log").open("ab"))
        settings = {**self._settings, "PYTHONFAULTHANDLER": "1"}
        process = await self._running.enter_async_context(
            started(self._folder, self._folder, *self._command, settings=settings, errors=log)
        )
        self._process = psutil.Process(process.pid)
        async with asyncio.timeout(PATIENCE_SECONDS):
            self.port = (await read_announcement(process)).get("port")

    async def stop(self) -> None:
        """Send SIGTERM and wait for its end."""
        self._used += self._cpu_now()
        self._process = None
        await self._running.aclose()
        self._running = AsyncExitStack()

    def cpu(self) -> float:
        """Return the seconds of CPU that it has used, restarts included."""
        return self._used + self._cpu_now()

    @property
    def log(self) -> str:
        """What it has logged."""
        return (self._folder / f"{self.name}.log").read_text(encoding="utf-8", errors="replace")

    def _cpu_now(self) -> float:
        return cpu_of(self._process) if self._process is not None and self._process.is_running() else 0.0


class Balancer:
    """A proxy that takes ready servers in turn and repeats nothing but connecting."""

    def __init__(self, members: list[Member]) -> None:
        self._members = members
        self._ready: frozenset[str] = frozenset()
        self._turns = itertools.count()
        self._open: dict[asyncio.Task[None] | None, asyncio.StreamWriter] = {}

    async def watch(self) -> None:
        """Ask again and again which servers are ready."""
        while True:
            answers = await asyncio.gather(*map(_is_ready, self._members))
            self._ready = frozenset(each.name for each, ready in zip(self._members, answers, strict=True) if ready)
            await asyncio.sleep(LOOK_SECONDS)

    async def all_ready(self) -> None:
        """Wait until every server is."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self._ready) < len(self._members):  # noqa: ASYNC110 - they are other processes
                await asyncio.sleep(LOOK_SECONDS / 10)

    async def serve(self, client: asyncio.StreamReader, answering: asyncio.StreamWriter) -> None:
        """Carry one connection to one server."""
        self._open[asyncio.current_task()] = answering
        try:
            found = await self._connected()
            if found is None:
                await client.read(CHUNK)  # what is unread when a connection closes resets it
                answering.write(UNAVAILABLE)
                await answering.drain()
                return
            server, asking = found
            forth, back = (
                asyncio.create_task(_pass_on(client, asking)),
                asyncio.create_task(_pass_on(server, answering)),
            )
            try:
                await asyncio.wait([forth, back], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in (forth, back):
                    each.cancel()
                asking.close()
        finally:
            self._open.pop(asyncio.current_task(), None)
            answering.close()

    async def close(self) -> None:
        """Break off what is open."""
        for writer in self._open.values():
            writer.transport.abort()
        await asyncio.gather(*(task for task in self._open if task is not None))

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        ready = [each for each in self._members if each.name in self._ready and each.port is not None]
        first = next(self._turns)
        for place in range(len(ready)):
            member = ready[(first + place) % len(ready)]
            with suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", member.port)
        return None


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(CHUNK):
            target.write(data)
            await target.drain()


async def _is_ready(member: Member) -> bool:
    if member.port is None:
        return False
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(5):
            server, asking = await asyncio.open_connection("127.0.0.1", member.port)
            try:
                asking.write(READY)
                return (await server.readline()).split()[1:2] == [b"200"]
            finally:
                asking.close()
    return False


class Deployment:
    """Servers and workers, and the proxy at ``url``."""

    def __init__(self, servers: list[Member], workers: list[Member], balancer: Balancer, url: str) -> None:
        self.servers = servers
        self.workers = workers
        self.balancer = balancer
        self.url = url

    async def restart_all(self) -> None:
        """Restart the servers one after another, each when the one before is ready again, and workers beside."""
        for server, worker in itertools.zip_longest(self.servers, self.workers):
            await asyncio.gather(*(_restart(each) for each in (server, worker) if each is not None))
            await self.balancer.all_ready()

    def cpu(self) -> float:
        """Return the seconds of CPU that all processes have used."""
        return sum(member.cpu() for member in (*self.servers, *self.workers))


async def _restart(member: Member) -> None:
    await member.stop()
    await member.start()


@asynccontextmanager
async def deployed(
    folder: Path, settings: Mapping[str, str], *, servers: int = 3, workers: int = 2
) -> AsyncIterator[Deployment]:
    """Run servers and workers with the same settings, behind a proxy; stop them on exit."""
    serving = [
        Member(folder, f"server-{n}", ("serve", "--port", "0"), {**settings, "CITEWELL_JOBS__WORKERS": "0"})
        for n in range(servers)
    ]
    working = [Member(folder, f"worker-{n}", ("worker", "--processes", "1"), settings) for n in range(workers)]
    balancer = Balancer(serving)
    async with AsyncExitStack() as stack:
        for member in (*serving, *working):
            stack.push_async_callback(member.stop)
        await asyncio.gather(*(member.start() for member in (*serving, *working)))
        watching = asyncio.create_task(balancer.watch())
        listening = await asyncio.start_server(balancer.serve, "127.0.0.1", 0)
        try:
            await balancer.all_ready()
            port = listening.sockets[0].getsockname()[1]
            yield Deployment(serving, working, balancer, f"http://127.0.0.1:{port}")
        finally:
            listening.close()
            await cancel_and_wait(watching)
            await balancer.close()


def settings_over(database: str, replica: str | None, models: list[dict[str, str]], **others: str) -> dict[str, str]:
    """Return the environment of a deployment whose answers are written by a scripted model."""
    return {
        "CITEWELL_DATABASE_URL": database,
        **({"CITEWELL_REPLICA__URL": replica} if replica else {}),
        **({"CITEWELL_MODELS": json.dumps(models), "CITEWELL_DEFAULT_MODEL": models[0]["name"]} if models else {}),
        "CITEWELL_AUTO_TITLE": "false",
        "CITEWELL_JUDGE__KIND": "off",
        "CITEWELL_LOG_LEVEL": "info",
        "HOME": os.environ.get("HOME", "/tmp"),
        **others,
    }
