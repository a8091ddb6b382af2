"""Memory, tasks, connections and files of each process, sampled while the soak goes on, and whether they grow."""

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import httpx
import numpy as np
import psutil
import psycopg

from bench.soak.programs import Program
from bench.soak.soaked_service import Deployment

EVERY_SECONDS = 5.0
WARM_UP_SECONDS = 60.0  # of each life; and of a life that lasts, its first fifth
BLOCK_SECONDS = 30.0
MEGABYTE = 1024 * 1024
MEMORY = "anonymous memory, MB"
RESIDENT = "resident memory, MB"
READS_FILES = "reads files"  # the name of all processes that a worker starts for it, one life each
_METRIC = re.compile(r'^(citewell_tasks|citewell_pool_connections\{state="open"\}) (\S+)$', re.MULTILINE)
_MEASURES = {"citewell_tasks": "tasks", 'citewell_pool_connections{state="open"}': "pool connections"}
_CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a process at a time in seconds since the soak began; ``life`` counts its restarts."""

    at: float
    life: int
    value: float


@dataclass(frozen=True, slots=True)
class Trend:
    """A straight line through samples: the mean level, and what an hour adds with the ends of a 95 % interval."""

    level: float
    slope: float
    low: float
    high: float


Series = dict[tuple[str, str], list[Sample]]  # by process and measure


@dataclass(slots=True)
class Sampler:
    """Samples every process of a deployment."""

    deployment: Deployment
    series: Series = field(default_factory=lambda: defaultdict(list))
    _began: float = field(default_factory=time.monotonic)

    async def sample(self) -> None:
        """Go on until cancelled."""
        async with httpx.AsyncClient(trust_env=False, timeout=3) as client:
            while True:
                await asyncio.to_thread(self._processes)
                for server in self.deployment.servers:
                    await self._metrics(client, server.program, server.metrics)
                await self._connections()
                await asyncio.sleep(EVERY_SECONDS)

    def _note(self, name: str, measure: str, life: int, value: float) -> None:
        self.series[name, measure].append(Sample(time.monotonic() - self._began, life, value))

    def _processes(self) -> None:
        for program in self.deployment.programs:
            with suppress(psutil.Error):
                if program.pid is None:
                    continue
                process = psutil.Process(program.pid)
                children = process.children(recursive=True)
                shared = program is self.deployment.postgres
                family = [process, *children] if shared else [process]
                anonymous, resident = map(sum, zip(*map(_memory, family), strict=True))
                files = sum(_files(each) for each in family)
                self._note(program.name, MEMORY, program.life, anonymous / MEGABYTE)
                if not shared:  # or its buffers would be counted once for each of its processes
                    self._note(program.name, RESIDENT, program.life, resident / MEGABYTE)
                self._note(program.name, "open files", program.life, files)
                # One that reads files ends after 500, and lives through no end of the process that started it.
                for child in [] if shared else children:
                    self._note(READS_FILES, MEMORY, child.pid, _memory(child)[0] / MEGABYTE)
                self._note(program.name, "threads", program.life, process.num_threads())

    async def _metrics(self, client: httpx.AsyncClient, program: Program, url: str) -> None:
        life = program.life
        with suppress(httpx.HTTPError):
            for name, value in _METRIC.findall((await client.get(url)).text):
                self._note(program.name, _MEASURES[name], life, float(value))

    async def _connections(self) -> None:
        with suppress(psycopg.Error, TimeoutError):
            async with (
                asyncio.timeout(3),
                await psycopg.AsyncConnection.connect(self.deployment.database_url) as connection,
            ):
                row = await (await connection.execute(_CONNECTIONS)).fetchone()
                if row is not None:
                    self._note("postgres", "client connections", self.deployment.postgres.life, row[0] - 1)


def _memory(process: psutil.Process) -> tuple[int, int]:
    """Return its memory in bytes: the anonymous part, and all that is resident.

    Not anonymous are pages of mapped files, which the system takes back when others need memory, and PostgreSQL's
    shared buffers.
    """
    with suppress(psutil.NoSuchProcess):
        memory = process.memory_info()
        return int(memory.rss - memory.shared), int(memory.rss)
    return 0, 0


def _files(process: psutil.Process) -> int:
    with suppress(psutil.NoSuchProcess):
        return int(process.num_fds())
    return 0


def trend(samples: Sequence[Sample]) -> Trend | None:
    """Fit one slope through all lives of a process, each with a level of its own; None where they are too short.

    Samples of the warm-up are left out. The rest is averaged over half a minute, so that the interval does not take
    neighbours for independent.
    """
    lives: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        lives[sample.life].append(sample)
    hours, values = [], []
    for life in lives.values():
        blocks = _blocks(life)
        if len(blocks) < 3:
            continue
        times, levels = np.array(blocks).T
        hours.append((times - times.mean()) / 3600)
        values.append(levels)
    count = sum(map(len, hours))
    if count < 6:
        return None
    x = np.concatenate(hours)
    y = np.concatenate([levels - levels.mean() for levels in values])
    slope = float(x @ y / (x @ x))
    freedom = count - len(hours) - 1
    error = float(np.sqrt(((y - slope * x) ** 2).sum() / freedom / (x @ x)))
    reach = 2.1 * error  # of Student's t at 95 %, for some twenty degrees of freedom
    return Trend(float(np.concatenate(values).mean()), slope, slope - reach, slope + reach)


def _blocks(life: Sequence[Sample]) -> list[tuple[float, float]]:
    """Return the mean time and value of each half minute behind the warm-up."""
    lasted = life[-1].at - life[0].at
    begins = life[0].at + max(WARM_UP_SECONDS, lasted / 5)
    blocks: dict[int, list[Sample]] = defaultdict(list)
    for sample in life:
        if sample.at >= begins:
            blocks[int((sample.at - begins) / BLOCK_SECONDS)].append(sample)
    return [
        (float(np.mean([each.at for each in block])), float(np.mean([each.value for each in block])))
        for block in blocks.values()
    ]
