"""Searches with and without a standby, beside a writer: what they cost each server, and how far the standby lags.

Both servers, the searching process and the writer share the machine, so that the CPU time of a search tells more than
the number of searches a second.
"""

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import uuid4

import psycopg
from pydantic import SecretStr

from bench.database_pair import DatabasePair, Node, database_pair
from bench.figures import Figure, compared, figure, percentile
from bench.libraries import fill_small_library
from bench.serving import cpu_of
from graph.evidence import Identity
from graph.ports import SearchQuery
from tools.concurrency.tasks import cancel_and_wait
from tools.library.ingestion import NewDocument
from tools.process.library import Library, open_library
from tools.settings import ReplicaSettings, Settings
from tools.storage.database import Connection
from tools.storage.startup import migrate

DOCUMENTS = 300
QUESTIONS = 100
ROUNDS = 3
SEARCHES = 150  # of a round, each way
AT_ONCE = 4
WRITES = 60
MILLISECONDS = 1000
_HAS_REPLAYED = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
WITH, ALONE = "with the standby", "primary alone"


async def readings(folder: Path) -> list[Figure]:
    """Measure both ways in turn, with commits that do not wait for the standby."""
    async with database_pair(folder, synchronous=False) as pair:
        settings = Settings(
            _env_file=None,  # type: ignore[call-arg]
            database_url=SecretStr(pair.url("read-write")),
            data_dir=folder,
        )
        await migrate(settings)
        questions = await fill_small_library(settings, QUESTIONS, documents=DOCUMENTS)
        replica = ReplicaSettings(url=SecretStr(pair.url("standby")))
        async with (
            open_library(settings.model_copy(update={"replica": replica})) as reading,
            open_library(settings) as alone,
        ):
            await _warmed(reading, questions)
            await _warmed(alone, questions)
            ways = {WITH: reading, ALONE: alone}
            found: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
            for _ in range(ROUNDS):
                for way, library in ways.items():
                    await _measure(pair, library, alone, questions, found[way])
            lags = await _lags(pair, alone)
    return _figures(found, lags)


def _figures(found: dict[str, defaultdict[str, list[float]]], lags: Sequence[float]) -> list[Figure]:
    def row(name: str, unit: str, of: Callable[[Sequence[float]], float] = statistics.median) -> Figure:
        ours, theirs = (of(found[way][name]) for way in (WITH, ALONE))
        return compared(figure(name, ours, unit), {ALONE: theirs}, rival=None)

    return [
        compared(
            figure("searches beside a writer", statistics.median(found[WITH]["rate"]), "1/s"),
            {ALONE: statistics.median(found[ALONE]["rate"])},
            rival=None,
            more=True,
        ),
        row("CPU of the primary, a search", "ms"),
        row("CPU of the standby, a search", "ms"),
        row("CPU of the searching process, a search", "ms"),
        row("a reading of one value, p50", "ms"),
        row("a reading of one value, p95", "ms"),
        row("a reading of one value, longest", "ms", max),
        figure("lag of the standby, p50", percentile(lags, 0.5), "ms"),
        figure("lag of the standby, p95", percentile(lags, 0.95), "ms"),
        figure("lag of the standby, longest", max(lags), "ms"),
    ]


async def _warmed(library: Library, questions: Sequence[str]) -> None:
    for question in questions[:20]:
        await _search(library, question)
    replica = library.database.replica
    while replica is not None and replica.left_out is not None:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.05)


async def _search(library: Library, question: str) -> None:
    await library.searcher.search(SearchQuery(question, Identity()))


async def _measure(
    pair: DatabasePair, library: Library, writing: Library, questions: Sequence[str], found: dict[str, list[float]]
) -> None:
    """Search while another process' worth of documents is written, and read one value in between."""
    places = iter(range(SEARCHES))
    small: list[float] = []

    async def keep_searching() -> None:
        for place in places:
            await _search(library, questions[place % len(questions)])
            began = time.perf_counter()
            await library.database.read(_small)
            small.append(MILLISECONDS * (time.perf_counter() - began))

    writer = asyncio.create_task(_keep_writing(writing))
    own = time.process_time()
    before = [_cpu(pair.primary), _cpu(pair.standby)]
    began = time.perf_counter()
    await asyncio.gather(*(keep_searching() for _ in range(AT_ONCE)))
    seconds = time.perf_counter() - began
    spent = [_cpu(pair.primary) - before[0], _cpu(pair.standby) - before[1], time.process_time() - own]
    await cancel_and_wait(writer)
    found["rate"].append(SEARCHES / seconds)
    for name, each in zip(("primary", "standby", "searching process"), spent, strict=True):
        found[f"CPU of the {name}, a search"].append(MILLISECONDS * each / SEARCHES)
    found["a reading of one value, p50"].append(percentile(small, 0.5))
    found["a reading of one value, p95"].append(percentile(small, 0.95))
    found["a reading of one value, longest"].append(max(small))


async def _small(connection: Connection) -> None:
    """Read next to nothing: on the standby, what is left is the question to the primary, and the wait."""
    await connection.execute("SELECT 1")


async def _keep_writing(library: Library) -> None:
    while True:
        text = f"Bollard {uuid4()} is painted in spring, and oiled before the boats come in."
        await library.ingestor.ingest(Identity(), NewDocument(document_id=str(uuid4()), title="Bollard", text=text))
        await asyncio.sleep(0.05)


async def _lags(pair: DatabasePair, library: Library) -> list[float]:
    """Return the milliseconds from the acknowledgement of a document to its arrival on the standby."""
    lags = []
    async with await psycopg.AsyncConnection.connect(pair.url("standby"), autocommit=True) as standby:
        for _ in range(WRITES):
            text = f"Capstan {uuid4()} is turned by hand, and oiled before the boats come in."
            await library.ingestor.ingest(Identity(), NewDocument(document_id=str(uuid4()), title="Capstan", text=text))
            began = time.perf_counter()
            async with library.database.connection() as connection:
                row = await (await connection.execute("SELECT pg_current_wal_flush_lsn()")).fetchone()
            while not await _true(standby, _HAS_REPLAYED, row):  # noqa: ASYNC110 - another server
                await asyncio.sleep(0)
            lags.append(MILLISECONDS * (time.perf_counter() - began))
    return lags


async def _true(connection: Connection, query: str, values: Sequence[object] | None) -> bool:
    row = await (await connection.execute(query.encode(), values)).fetchone()
    return row is not None and bool(row[0])


def _cpu(node: Node) -> float:
    return cpu_of(node.process)
