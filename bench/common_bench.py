"""Benchmark of searching for common words: rows, time and recall of the lexical leg as a workspace grows.

Recall is of the ten best by exact BM25, which reads every segment. ``CITEWELL_BENCH_SEGMENTS`` sets the largest size.
"""

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.corpus import SEGMENTS_PER_DOCUMENT, Corpus
from bench.figures import Figure, compared, figure, percentile
from bench.libraries import BenchWorkspace, fill_workspace
from graph.evidence import Identity
from graph.ports import SearchQuery
from text.terms import weigh_question
from tools.retrieval.common_terms import CommonTerms
from tools.retrieval.hybrid_search import BoundQuery, bound_parameters
from tools.retrieval.indexing import maintain
from tools.retrieval.scope import CANDIDATES, Scope
from tools.retrieval.search_sql import Statement, numbered, planned, search_statement
from tools.settings import Settings
from tools.storage.database import Connection
from tools.storage.partitions import Place
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

SEED = 11
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
LARGEST = 100_000  # unless the environment says otherwise
QUESTIONS = 12
TOP = 10
DIMENSION = 4  # of vectors that nothing here compares
FILLED_AT_ONCE = 10_000  # segments
NO_VECTOR_INDEX = 10**9
# The words of a question, and the share of the segments that each is in.
CLASSES = {
    "two common": (2, 0.05, 0.5),
    "four common": (4, 0.05, 0.5),
    "middling": (3, 0.003, 0.03),
    "rare": (3, 0.0, 0.0003),
}


async def _fill_to(conn: Connection, number: int, corpus: Corpus, present: int, segments: int) -> None:
    """Fill a workspace that has ``present`` segments up to ``segments``, by the path that ingestion takes."""
    for start in range(present, segments, FILLED_AT_ONCE):
        documents = list(corpus.documents((min(segments, start + FILLED_AT_ONCE) - start) // SEGMENTS_PER_DOCUMENT))
        vectors = np.ones((sum(len(each.spans) for each in documents), DIMENSION), np.float32)
        await fill_workspace(conn, BenchWorkspace("", number, documents, vectors), maintained=False)
    await maintain(conn, number, index_vectors_above=NO_VECTOR_INDEX)


def _questions(corpus: Corpus, kind: str) -> list[str]:
    """Return questions of one of ``CLASSES``, the same ones each time."""
    random = Random(f"{SEED} {kind}")
    words, least, most = CLASSES[kind]
    known = corpus.words_within(least, most)
    return [" ".join(random.sample(known, words)) for _ in range(QUESTIONS)]


async def _measure(
    conn: Connection, place: Place, questions: Sequence[str], best: dict[str, list[float]]
) -> dict[str, float]:
    """Ask the lexical leg for its ten best, each question once to warm up and once to measure.

    ``best`` keeps the exact scores of each question, for another measurement of the same segments.
    """
    statement, common = _leg(place), CommonTerms()
    rows, times, cpu, shares = [], [], 0.0, []
    for question in questions:
        asked = await _bound(conn, place, question, common)
        async with planned(conn):
            await statement.execute(conn, asked)
        before, used = await _rows_read(conn, place), _cpu_seconds(conn)
        began = time.perf_counter()
        async with planned(conn):
            found = await statement.execute(conn, asked)
        times.append((time.perf_counter() - began) * 1000)
        cpu += _cpu_seconds(conn) - used
        rows.append(await _rows_read(conn, place) - before)
        if question not in best:
            best[question] = await _best(conn, place, asked)
        shares.append(_recall(best[question], found))
    return {
        "p95, ms": percentile(times, 0.95),
        "CPU of PostgreSQL, ms": cpu * 1000 / len(questions),
        "rows, most": max(rows),
        "recall of the ten best": float(np.mean(shares)),
    }


def _leg(place: Place) -> Statement:
    """Return the statement of a search cut off behind its lexical leg."""
    return _cut(
        place,
        ",\npool AS",
        f" SELECT x.document_id::text, x.segment_index, ({_own(place)}) FROM lexical AS x",
    )


def _exact(place: Place) -> Statement:
    return _cut(
        place,
        ",\nlexical AS",
        f" SELECT -(s.weights <#> (SELECT vector FROM question)) AS own FROM {place.read.segments} AS s"
        f" ORDER BY own DESC LIMIT {TOP}",
    )


def _cut(place: Place, before: str, rest: str) -> Statement:
    """Return the beginning of a search's statement with another end, and those of its parameters that are left."""
    whole = search_statement(place.workspace, DIMENSION, leg=TOP, dense=False, reach="library", parts=place.parts)
    text = whole.text[: whole.text.index(before)] + rest
    return numbered(re.sub(r"\$(\d+)", lambda found: f"%({whole.parameters[int(found[1]) - 1]})s", text))


def _own(place: Place) -> str:
    return (
        f"SELECT -(s.weights <#> (SELECT vector FROM question)) FROM {place.read.segments} AS s WHERE s.workspace ="
        f" {place.workspace} AND s.document_id = x.document_id AND s.segment_index = x.segment_index"
    )


async def _bound(conn: Connection, place: Place, question: str, common: CommonTerms) -> dict[str, Any]:
    terms = weigh_question(question)
    combinations = await common.combinations(conn, place.workspace, terms, CANDIDATES)
    query, scope = SearchQuery(question, Identity(), top_k=TOP), Scope(candidates=CANDIDATES)
    return bound_parameters(BoundQuery(place, query, terms, scope, combinations))


async def _best(conn: Connection, place: Place, asked: dict[str, Any]) -> list[float]:
    """Return the scores of the ten best by exact BM25, the best first."""
    async with conn.transaction(), planned(conn):
        await conn.execute("SET LOCAL max_parallel_workers_per_gather = 0")
        scores = [row[0] for row in await _exact(place).execute(conn, asked)]
    return [score for score in scores if score > 0]


def _recall(scores: Sequence[float], found: Sequence[Any]) -> float:
    """Return the share of the ten best that were found; one as good as the tenth counts as it."""
    return sum(1 for row in found if row[2] >= scores[-1] - 1e-5) / max(1, len(scores)) if scores else 1.0


async def _rows_read(conn: Connection, place: Place) -> int:
    await conn.execute("SELECT pg_stat_force_next_flush()")
    found = await conn.execute(
        "SELECT sum(idx_tup_fetch) FROM pg_stat_user_tables WHERE relid = ANY(%s::text[]::regclass[])",
        [[each.segments.as_string() for each in place.tables]],
    )
    row = await found.fetchone()
    assert row is not None
    return int(row[0])


def _cpu_seconds(conn: Connection) -> float:
    """Return the CPU time that the connection's server process has used; Linux tells it to the nanosecond."""
    return int(Path(f"/proc/{conn.info.backend_pid}/schedstat").read_text().split()[0]) / 1e9


async def runs(folder: Path, count: int) -> list[list[Figure]]:
    """Fill a workspace step by step in its own embedded server, and measure each class of questions at each size."""
    largest = int(os.environ.get("CITEWELL_BENCH_SEGMENTS", LARGEST))
    sizes = [size for size in SIZES if size <= largest]
    corpus, present = Corpus(SEED), 0
    measured: list[dict[tuple[str, int], dict[str, float]]] = [{} for _ in range(count)]
    async with open_database(Settings(data_dir=folder, database_url=None)) as database:
        number = await Workspaces(database).ensure("common")
        async with database.connection() as conn:
            for size in sizes:
                await _fill_to(conn, number, corpus, present, size)
                present = size
                best: dict[str, list[float]] = {}
                for found in measured:
                    for kind in CLASSES:
                        place, questions = Place(number, own=True), _questions(corpus, kind)
                        found[kind, size] = await _measure(conn, place, questions, best)
    return [_figures(found, sizes) for found in measured]


def _figures(found: Mapping[tuple[str, int], Mapping[str, float]], sizes: Sequence[int]) -> list[Figure]:
    """Return the figures of the largest size, with those of the others beside them."""
    *others, largest = sizes
    return [
        compared(figure(f"{kind}: {name}", value, ""), {f"of {size:,}": found[kind, size][name] for size in others})
        for kind in CLASSES
        for name, value in found[kind, largest].items()
    ]
