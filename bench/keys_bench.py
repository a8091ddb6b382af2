"""Benchmark of what impact keys cost ingestion: CPU of the same real documents with the keys and without, in turns.

Slices of the documents of all public data sets go into new workspaces with tables of their own, each slice once to warm
up, then with keys, twice without, and with keys again. CPU is that of the process, which reads, embeds and lays out,
and of PostgreSQL.
"""

import os
import statistics
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest.mock import patch
from uuid import uuid4

import psutil

from bench.figures import Figure, NotAvailable, compared, figure
from bench.real_library import DATA, SETS
from bench.serving import cpu_of, postgres_of
from evals.dataset_store import StoredDataSet, document_ids
from graph.evidence import Identity
from tools.library.ingestion import Ingested, NewDocument
from tools.process.library import Library, open_library
from tools.retrieval import segment_rows
from tools.retrieval.indexing import maintain
from tools.settings import Settings

SEED = 17
SLICES, DOCUMENTS = 8, 200
MOST = 1.1  # times the CPU of ingestion without keys
ORDER = (True, False, False, True)  # whether with keys


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU milliseconds a segment, of this process and of PostgreSQL."""

    process: float
    postgres: float

    @property
    def both(self) -> float:
        """Of both together."""
        return self.process + self.postgres


async def run(folder: Path) -> list[Figure]:
    """Ingest slices in turns. Raises NotAvailable without the data."""
    data = os.environ.get(DATA)
    if data is None:
        raise NotAvailable(f"no data: {DATA} has to name a folder of data sets")
    documents = _documents(Path(data))
    settings = Settings(data_dir=folder, database_url=None)
    with_keys: list[Cost] = []
    without: list[Cost] = []
    async with open_library(settings) as library:
        server = postgres_of(folder)
        for start in range(0, SLICES * DOCUMENTS, DOCUMENTS):
            these = documents[start : start + DOCUMENTS]
            await _ingested(library, server, these, keys=True)
            for keys in ORDER:
                (with_keys if keys else without).append(await _ingested(library, server, these, keys=keys))
    return [
        *_figures("both", [each.both for each in with_keys], [each.both for each in without], at_most=MOST),
        *_figures("process", [each.process for each in with_keys], [each.process for each in without]),
        *_figures("PostgreSQL", [each.postgres for each in with_keys], [each.postgres for each in without]),
    ]


def _documents(place: Path) -> list[NewDocument]:
    documents: list[NewDocument] = []
    for folder, load in SETS.items():
        data = load(place / folder)
        stored = StoredDataSet(data, document_ids(data))
        documents += stored.to_store(stored.ids)
    Random(SEED).shuffle(documents)
    return documents


async def _ingested(library: Library, server: psutil.Process, documents: Sequence[NewDocument], *, keys: bool) -> Cost:
    name = f"keys-{uuid4().hex[:8]}"
    await library.workspaces.create(name, own_tables=True)
    with nullcontext() if keys else patch.object(segment_rows, "with_impacts", lambda vector: vector.ids):
        process, postgres = -time.process_time(), -cpu_of(server)
        reports = [each async for each in library.ingestor.ingest_many(Identity(name), documents)]
        process += time.process_time()
        async with library.database.connection() as conn:
            # So that what waits in the index's list of pending entries is paid for.
            await maintain(conn, (await library.workspaces.place(name)).workspace)
        postgres += cpu_of(server)
    segments = sum(each.segments for each in reports if isinstance(each, Ingested))
    await library.workspaces.delete(name)
    return Cost(process * 1000 / segments, postgres * 1000 / segments)


def _figures(
    name: str, with_keys: Sequence[float], without: Sequence[float], *, at_most: float | None = None
) -> list[Figure]:
    """Return the median cost of each, and the median of the ratios of pairs, with the least and the greatest."""
    ratios = [one / other for one, other in zip(with_keys, without, strict=True)]
    cost = figure(f"{name}, a segment", statistics.median(with_keys), "ms of CPU")
    ratio = figure(f"{name}, with keys by without, {len(ratios)} pairs", statistics.median(ratios), "", at_most=at_most)
    return [
        compared(cost, {"without keys": statistics.median(without)}, rival=None),
        compared(ratio, {"least": min(ratios), "most": max(ratios)}, rival=None),
    ]
