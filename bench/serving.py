"""Servers to measure, each a separate process, and the CPU and memory of a process."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

ROOT = Path(__file__).parents[1]
CITEWELL = ("-c", "from cli.main import main; main()")
STOP_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Served:
    """A server that listens at ``url``."""

    url: str
    process: psutil.Process

    def cpu(self) -> float:
        """Return the seconds of CPU used so far, children included."""
        return cpu_of(self.process)

    def bytes(self) -> int:
        """Return its memory in bytes, children included."""
        return sum(each.memory_info().rss for each in [self.process, *self.process.children(recursive=True)])


@asynccontextmanager
async def served(
    folder: Path, data: Path, *command: str, settings: Mapping[str, str] | None = None
) -> AsyncIterator[Served]:
    """Start a Python program that prints its address as JSON on its first line; stop it on exit."""
    async with started(folder, data, sys.executable, *command, settings=settings) as process:
        yield Served(str((await read_announcement(process))["url"]), psutil.Process(process.pid))


@asynccontextmanager
async def started(
    folder: Path,
    data: Path,
    *command: str,
    settings: Mapping[str, str] | None = None,
    errors: IO[bytes] | None = None,
) -> AsyncIterator[Process]:
    """Start a program over a data folder, without the caller's own settings; stop it on exit.

    Its errors go where ``errors`` says, else where this process's go.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CITEWELL_", "OPENAI_"))}
    ours = {
        "CITEWELL_DATA_DIR": str(data),
        "CITEWELL_LOG_LEVEL": "warning",
        "CITEWELL_JUDGE__EXAM": "manual",  # an exam in the background would be measured too
        "PYTHONPATH": str(ROOT),
    }
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=PIPE,
        stderr=errors,
        cwd=folder,
        env={**kept, **ours, **(settings or {})},
    )
    try:
        yield process
    finally:
        await _stop(process)


async def read_announcement(process: Process) -> dict[str, Any]:
    """Read the JSON object that a program prints on its first line."""
    assert process.stdout is not None
    text = b""
    while not text.rstrip().endswith(b"}"):
        line = await process.stdout.readline()
        assert line, "the program ended without printing anything"
        text += line
    found: dict[str, Any] = json.loads(text)
    return found


async def _stop(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()


def cpu_of(process: psutil.Process) -> float:
    """Return the seconds of CPU of a process and its children, ended ones included."""
    own = process.cpu_times()
    used = own.user + own.system + own.children_user + own.children_system
    for child in process.children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        used += times.user + times.system
    return float(used)


def postgres_of(data: Path) -> psutil.Process:
    """Return the embedded server of a data folder."""
    return psutil.Process(int((data / "postgres" / "postmaster.pid").read_text().splitlines()[0]))


def proportional_memory(process: psutil.Process) -> int:
    """Return the memory of a process and its children, shared pages counted once."""
    return sum(int(each.memory_full_info().pss) for each in [process, *process.children(recursive=True)])
