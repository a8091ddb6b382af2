"""Answers while everything around them fails: ``python -m bench.chaos [--seconds N] [--seed N]``.

Two servers share one embedded PostgreSQL, and five clients ask, read each stream to its end and join it again, at
either server, wherever it breaks. Meanwhile servers are killed, stopped in order and suspended past their leases, and
the database and its connections are killed. A client counts events that are missing or come twice, and ends; after
all, the stored messages are counted. Exits with 1 if anything was lost or came twice.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
from rich.console import Console

from bench.libraries import fill_small_library
from bench.serving import postgres_of, read_announcement, started
from graph.errors import CitewellError
from tools.settings import load_settings
from tools.storage.database import Database
from tools.storage.startup import open_database

CLIENTS = 5
QUESTIONS = 20
PATIENCE_SECONDS = 120.0  # for the rest of a stream whose server is gone
BETWEEN_SECONDS = (4.0, 12.0)  # two faults
SUSPENDED_SECONDS = 40.0  # longer than a lease
TERMINAL = ("run_finished", "run_failed")


@dataclass
class Server:
    """A server that is started again whenever it has ended."""

    folder: Path
    data: Path
    url: str = ""
    pid: int = 0
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def keep_running(self) -> None:
        """Start the server again and again, until cancelled."""
        while True:
            with suppress(AssertionError):  # it was killed while it started
                command = (sys.executable, "-m", "bench.scripted_server")
                async with started(self.folder, self.data, *command) as process:
                    self.pid = process.pid
                    self.url = str((await read_announcement(process))["url"])
                    self.ready.set()
                    await process.wait()
            self.ready.clear()

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if there is somebody to hear it."""
        with suppress(ProcessLookupError):
            if self.pid:
                os.kill(self.pid, number)


@dataclass
class Told:
    """What clients were told, counted."""

    ends: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    joined: int = 0
    unheard: int = 0  # questions whose reply broke before it named a run


class Client:
    """A reader that asks one question after the other, and checks what it is told."""

    def __init__(self, servers: list[Server], told: Told, chance: random.Random) -> None:
        self._servers = servers
        self._told = told
        self._chance = chance
        self._http = httpx.AsyncClient(timeout=httpx.Timeout(20.0), trust_env=False)

    async def ask_until(self, deadline: float, questions: list[str]) -> None:
        """Ask until the time is over."""
        async with self._http:
            while time.monotonic() < deadline:
                try:
                    async with asyncio.timeout(3 * PATIENCE_SECONDS):  # beats keep a stream open that never ends
                        await self._ask(self._chance.choice(questions))
                except httpx.HTTPError:
                    pass
                except TimeoutError:
                    self._told.wrong["questions that nobody ended"] += 1
                await asyncio.sleep(0.1)

    async def _ask(self, question: str) -> None:
        made = await self._http.post(f"{await self._url()}/api/sessions", json={})
        session = made.raise_for_status().json()["session_id"]
        body = {"question": question, "model": "paced", "on_disconnect": "continue"}
        reading = _Reading(self._told)
        asked = f"{await self._url()}/api/sessions/{session}/runs"
        with suppress(httpx.HTTPError):
            async with self._http.stream("POST", asked, json=body) as response:
                if response.status_code != httpx.codes.OK:
                    return
                await reading.read(response)
        if not reading.run_id:
            self._told.unheard += 1
            return
        began = time.monotonic()
        while not reading.ended:
            if time.monotonic() - began > PATIENCE_SECONDS:
                self._told.wrong["streams without an end"] += 1
                return
            self._told.joined += 1
            headers = {"Last-Event-ID": f"{reading.run_id}:{reading.seq}"}
            with suppress(httpx.HTTPError):
                join = f"{await self._url()}/api/runs/{reading.run_id}/stream"
                async with self._http.stream("GET", join, headers=headers) as response:
                    if response.status_code == httpx.codes.OK:
                        await reading.read(response)
            await asyncio.sleep(0.5)
        reading.check()

    async def _url(self) -> str:
        server = self._chance.choice(self._servers)
        await server.ready.wait()
        return server.url


class _Reading:
    """What a client has read of a run, over all of its connections."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._sections: dict[int, str] = {}
        self._finished: dict[int, str] = {}
        self.run_id = ""
        self.seq = 0
        self.ended = False

    async def read(self, response: httpx.Response) -> None:
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                self._hear(json.loads(line.removeprefix("data: ")))

    def _hear(self, event: dict[str, Any]) -> None:
        self.run_id = event["run_id"]
        if event["seq"] != self.seq + 1:
            self._told.wrong["events missing" if event["seq"] > self.seq else "events twice"] += 1
        if self.ended:
            self._told.wrong["events behind the end"] += 1
        self.seq = event["seq"]
        match event["type"]:
            case "run_resumed":
                self._told.resumed += 1
                kept = set(event["sections"])
                self._sections = {index: text for index, text in self._sections.items() if index in kept}
            case "text_delta":
                index = event["section_index"]
                self._sections[index] = self._sections.get(index, "") + event["delta"]
            case "section_finished":
                self._finished[event["section_index"]] = event["text"]
            case kind if kind in TERMINAL:
                self.ended = True
                self._told.ends[event.get("outcome", "failed")] += 1

    def check(self) -> None:
        if any(self._sections.get(index) != text for index, text in self._finished.items()):
            self._told.wrong["sections whose pieces are not their text"] += 1


async def break_things(
    servers: list[Server], database: Database, data: Path, told: Told, chance: random.Random, deadline: float
) -> None:
    """Let one thing after another fail until the time is over."""
    while time.monotonic() < deadline:
        await asyncio.sleep(chance.uniform(*BETWEEN_SECONDS))
        server = chance.choice(servers)
        await asyncio.wait_for(server.ready.wait(), PATIENCE_SECONDS)
        kind = chance.choices(
            ("server killed", "server stopped in order", "server suspended", "database killed", "connections killed"),
            (14, 4, 3, 10, 12),
        )[0]
        told.faults[kind] += 1
        match kind:
            case "server killed":
                server.send(signal.SIGKILL)
            case "server stopped in order":
                server.send(signal.SIGTERM)
            case "server suspended":
                server.send(signal.SIGSTOP)
                await asyncio.sleep(SUSPENDED_SECONDS)
                server.send(signal.SIGCONT)
            case "database killed":
                with suppress(OSError, ValueError):
                    postgres_of(data).kill()
            case _:
                with suppress(psycopg.Error, CitewellError):  # the database is down already
                    await _end_connections(database)


async def _end_connections(database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


_STORED = """
SELECT
    (SELECT count(*) FROM runs),
    (SELECT count(*) FROM runs WHERE status <> 'finished'),
    (SELECT count(*) FROM runs WHERE attempt > 1),
    (SELECT count(*) FROM (SELECT run_id FROM messages WHERE role = 'assistant'
        GROUP BY run_id HAVING count(*) > 1) AS twice),
    (SELECT count(*) FROM runs AS r WHERE status = 'finished'
        AND NOT EXISTS (SELECT FROM messages AS m WHERE m.run_id = r.run_id AND m.role = 'assistant')),
    (SELECT count(*) FROM (SELECT run_id FROM run_events WHERE type = ANY(%s)
        GROUP BY run_id HAVING count(*) > 1) AS ends)
"""


async def run(folder: Path, seconds: float, seed: int) -> tuple[Told, dict[str, int]]:
    """Ask and break things for so many seconds; return what was told, and what is stored at the end."""
    chance = random.Random(seed)
    data = folder / "data"
    settings = load_settings(data_dir=data)
    questions = await fill_small_library(settings, QUESTIONS)
    told = Told()
    servers = [Server(folder, data) for _ in range(2)]
    async with open_database(settings) as database:
        keeping = [asyncio.create_task(server.keep_running()) for server in servers]
        deadline = time.monotonic() + seconds
        clients = [Client(servers, told, random.Random(seed + place)) for place in range(CLIENTS)]
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client.ask_until(deadline, questions))
            group.create_task(break_things(servers, database, data, told, chance, deadline))
        await asyncio.sleep(SUSPENDED_SECONDS)  # runs whose servers are gone are taken over when their leases end
        async with database.connection() as connection:
            row = await (await connection.execute(_STORED, [list(TERMINAL)])).fetchone()
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
    names = ("runs", "runs without an end", "taken over", "messages twice", "runs without a message", "ends twice")
    return told, dict(zip(names, row or (), strict=True))


def main(arguments: list[str]) -> int:
    """Print what was told and stored; return 1 if anything was lost or came twice."""
    parser = argparse.ArgumentParser(prog="python -m bench.chaos")
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    console = Console()
    with tempfile.TemporaryDirectory(prefix="citewell-chaos-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o711)
        told, stored = asyncio.run(run(Path(name), asked.seconds, asked.seed))
    console.print(f"{sum(told.faults.values())} faults: {_counted(told.faults)}")
    console.print(f"{sum(told.ends.values())} streams read to their end: {_counted(told.ends)}")
    console.print(f"joined again {told.joined} times, resumed {told.resumed}; questions unheard {told.unheard}")
    console.print(f"stored: {_counted(stored)}")
    console.print(f"wrong: {_counted(told.wrong) or 'nothing'}")
    kept = ("runs without an end", "messages twice", "ends twice")
    return int(bool(told.wrong) or any(stored[each] for each in kept))


def _counted(counts: dict[str, int] | Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
