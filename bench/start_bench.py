"""Benchmark of starting up: the CPU of one command, and a server's until it answers and its memory at rest.

CPU is that of the command's process and of those it waits for, which the embedded PostgreSQL is not one of. Each
command starts that server and stops it again. Beside them are floors: Python alone, and the imports that no question
goes without.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.figures import Figure, compared, figure
from bench.libraries import fill_small_library
from bench.serving import CITEWELL, ROOT, served
from bench.sse_client import Connection
from tools.settings import load_settings

ROUNDS = 5
SERVERS = 3
QUESTIONS = 10
REST_SECONDS = 3
MEGABYTE = 1e6
MOST_SECONDS = 0.6  # of CPU, for a question
MOST_MEGABYTES = 160  # at rest
PACKAGES = "import langgraph.graph, numpy, psycopg_pool, pydantic_settings"
EMBEDDINGS = "from tools.embeddings.static_embedding import bundled_embedder; bundled_embedder().pooled(['Why?'])"


@dataclass(frozen=True, slots=True)
class _Rest:
    """What a server took: seconds of CPU until it answered, and the memory of its own process in bytes.

    ``after`` is its memory when it had answered questions, and rested again.
    """

    cpu: float
    resident: int
    proportional: int
    after: int


async def run(folder: Path) -> list[Figure]:
    """Run each command five times in turns over a small library that is ingested, and start a server three times."""
    data = folder / "data"
    questions = await fill_small_library(load_settings(data_dir=data), QUESTIONS)
    commands = {
        "floor: python -c pass": ("-c", "pass"),
        "floor: importing LangGraph": ("-c", "import langgraph.graph"),
        "floor: importing LangGraph, NumPy, psycopg and pydantic": ("-c", PACKAGES),
        "floor: loading the embeddings": ("-c", EMBEDDINGS),
        "citewell --help": (*CITEWELL, "--help"),
        "citewell workspaces list": (*CITEWELL, "workspaces", "list"),
        "citewell ask": (*CITEWELL, "ask", questions[0]),
    }
    used: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(ROUNDS + 1):
        for name, arguments in commands.items():
            seconds = await asyncio.to_thread(_cpu_of, arguments, folder, _environment(data))
            if turn:  # the first of each leaves bytecode behind
                used[name].append(seconds)
    rests = [await _rest(folder, data, questions) for _ in range(SERVERS)]
    return [
        *(_row(name, taken, "s of CPU", MOST_SECONDS if "ask" in name else None) for name, taken in used.items()),
        _row("citewell serve until it answers", [each.cpu for each in rests], "s of CPU"),
        _row("citewell serve at rest, RSS", [each.resident / MEGABYTE for each in rests], "MB", MOST_MEGABYTES),
        _row("citewell serve at rest, PSS", [each.proportional / MEGABYTE for each in rests], "MB"),
        _row("citewell serve after ten questions, RSS", [each.after / MEGABYTE for each in rests], "MB"),
    ]


def _environment(data: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CITEWELL_", "OPENAI_")) and name != "PYTHONDONTWRITEBYTECODE"
    }
    return {**kept, "CITEWELL_DATA_DIR": str(data), "PYTHONPATH": str(ROOT)}


def _cpu_of(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> float:
    """Run Python and return the seconds of CPU that it took, processes that it waited for included."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{arguments} ended with {process.returncode}"
    return usage.ru_utime + usage.ru_stime


async def _rest(folder: Path, data: Path, questions: Sequence[str]) -> _Rest:
    async with served(folder, data, *CITEWELL, "serve", "--port", "0", "--json") as server:
        connection = await Connection.open(server.url)
        await connection.get("/healthz")
        cpu = server.cpu()
        await asyncio.sleep(REST_SECONDS)
        found = server.process.memory_full_info()
        for question in questions:
            session = json.loads(await connection.post("/api/sessions", {}))
            await connection.stream(f"/api/sessions/{session['session_id']}/runs", {"question": question})
        connection.close()
        await asyncio.sleep(REST_SECONDS)
        return _Rest(cpu, found.rss, found.pss, server.process.memory_info().rss)


def _row(name: str, values: Sequence[float], unit: str, at_most: float | None = None) -> Figure:
    return compared(figure(name, median(values), unit, at_most=at_most), {"least": min(values), "most": max(values)})
