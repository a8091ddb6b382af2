"""Benchmark of searches whose candidates Milvus names, beside PostgreSQL's own, in one run on one library.

Ranking is compared question by question on XQuAD and on the manuals, where CITEWELL_BENCH_DATA names a folder that
holds them; speed on synthetic documents. The engine is milvus-lite, which is written in Python and compares every row:
its speed says nothing about a cluster.
"""

import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench.corpus import Corpus
from bench.figures import Figure, NotAvailable, compared, figure, percentile
from bench.libraries import BenchWorkspace, fill_workspace
from bench.loopback_server import LoopbackServer
from bench.milvus_server import PROGRAM, milvus_server
from bench.real_library import DATA
from evals.cases import DataSet
from evals.dataset_store import stored_data_set
from evals.gold_passages import quote_hits
from evals.sets.manuals import manuals_set
from evals.sets.xquad import xquad_set
from graph.evidence import Hit, Identity
from graph.ports import SearchQuery
from text.terms import weigh_question
from tools.milvus.collection import Milvus, Row
from tools.milvus.keeping import IndexKeeper
from tools.process.library import Library, open_library
from tools.retrieval.hybrid_search import SPARE, HybridSearcher
from tools.retrieval.placing import give_own_tables
from tools.settings import MilvusSettings, Settings
from tools.telemetry.metrics import REGISTRY

TOP = 10
MOST = 60  # questions of a language
MOST_OF_MANUALS = 25
DOCUMENTS = 120  # of 20 segments, for speed; milvus-lite compares every row
QUESTIONS = 25
WARM_UP = 3
ROWS_AT_ONCE = 1_000
SEED = 7
EQUAL_TOP_TEN = 0.98  # of the questions of a set, at least
CORRELATION = 0.99
ANSWERED = 0.95  # of the questions; a name that a filter drops, or a slow answer, leaves one to PostgreSQL


async def runs(folder: Path, count: int) -> list[list[Figure]]:
    """Measure ranking once, which is the same each time, and speed ``count`` times.

    Raises NotAvailable without the engine.
    """
    if PROGRAM is None or find_spec("pymilvus") is None:
        raise NotAvailable("no Milvus: `make test-engines` installs milvus-lite, whose folder has to be on the paths")
    server = milvus_server(folder / "milvus")
    await server.start()
    try:
        milvus = MilvusSettings(url=server.url, deadline_seconds=30, least_segments=0)
        settings = Settings(data_dir=folder / "data", database_url=None, milvus=milvus)
        async with open_library(settings) as library:
            figures: list[Figure] = []
            if place := os.environ.get(DATA):
                for name, data in _sets(Path(place)):
                    figures += await _ranking(library, name, data)
            measured = await _speed(library, server, count)
            measured[-1][:0] = figures
            return measured
    finally:
        await server.kill()


def _sets(place: Path) -> list[tuple[str, DataSet]]:
    languages = [
        (f"XQuAD {name}", xquad_set(place / "xquad" / f"{name}.json").sample(MOST)) for name in ("en", "vi", "zh")
    ]
    return [
        *languages,
        ("manuals", _of_gold_documents(manuals_set(place / "manuals" / "questions.jsonl").sample(MOST_OF_MANUALS))),
    ]


def _of_gold_documents(data: DataSet) -> DataSet:
    """Leave out documents that no question is about: milvus-lite would take an hour over all of the manuals."""
    gold = {each.document for case in data.cases for each in case.passages}
    return replace(data, documents=tuple(each for each in data.documents if each.name in gold), lasting=False)


async def _ranking(library: Library, name: str, data: DataSet) -> list[Figure]:
    """Ask each question of a set by both, and compare what they find."""
    async with stored_data_set(library, data) as (stored, identity):
        async with library.database.connection() as connection:  # Milvus names nothing in the shared tables
            await give_own_tables(connection, await library.workspaces.number(identity.workspace))
        library.workspaces.forget(identity.workspace)
        await _filled(library)
        plain = HybridSearcher(library.database, library.workspaces, library.embedder)
        equal: list[bool] = []
        correlations: list[float] = []
        right: tuple[list[bool], list[bool]] = ([], [])
        before, cases = _answered(), [case for case in data.cases if case.evidence or case.passages]
        for case in cases:
            query = SearchQuery(case.question, identity, top_k=TOP, min_score=0.0, expand=0)
            ours, theirs = [(await each.search(query)).hits for each in (plain, library.searcher)]
            equal.append(_told(ours) == _told(theirs))
            correlations.append(_correlation(ours, theirs))
            for hits, found in zip((ours, theirs), right, strict=True):
                if case.passages:
                    found.append(
                        any(
                            stored.names[hit.segment.document_id] == each.document
                            and quote_hits(hit.segment.text, each.text)
                            for hit in hits
                            for each in case.passages
                        )
                    )
                else:
                    first = {stored.names[hit.segment.document_id] for hit in hits[:1]}
                    found.append(any(gold <= first for gold in case.gold_documents))
        asked = min(1.0, (_answered() - before) / len(cases))  # a search that finds copies asks again
    measure = "a passage among ten" if name == "manuals" else "recall at 1"
    share = compared(
        figure(f"{name}: {measure}", float(np.mean(right[1])), ""),
        {"PostgreSQL": float(np.mean(right[0]))},
        rival=None,
        more=True,
    )
    return [
        share,
        figure(f"{name}: questions whose candidates Milvus named", asked, "", at_least=ANSWERED),
        figure(f"{name}: questions with the same top ten", float(np.mean(equal)), "", at_least=EQUAL_TOP_TEN),
        figure(f"{name}: rank correlation of the top ten", float(np.mean(correlations)), "", at_least=CORRELATION),
    ]


def _told(hits: Sequence[Hit]) -> list[tuple[float, str]]:
    """Return what a search found; segments of one score may come in any order."""
    return sorted((-round(hit.score, 6), hit.segment_id) for hit in hits)


def _correlation(ours: Sequence[Hit], theirs: Sequence[Hit]) -> float:
    """Return Spearman's correlation of the ranks of all that either found; what one did not find stands behind."""
    ranks = [{hit.segment_id: place for place, hit in enumerate(hits)} for hits in (ours, theirs)]
    every = sorted(ranks[0].keys() | ranks[1].keys())
    first, second = ([rank.get(each, TOP) for each in every] for rank in ranks)
    if first == second:
        return 1.0
    return float(np.corrcoef(first, second)[0, 1])


async def _filled(library: Library) -> float:
    """Fill Milvus with what the library holds, and return the seconds that it took."""
    assert isinstance(library.milvus, Milvus)
    keeper = IndexKeeper(library.database, library.milvus, library.settings.milvus)
    began = time.perf_counter()
    await keeper.fill(library.embedder.dimension)
    return time.perf_counter() - began


async def _speed(library: Library, server: LoopbackServer, count: int) -> list[list[Figure]]:
    """Fill a workspace of synthetic documents, and ask by Milvus, by PostgreSQL, and Milvus alone, in turns."""
    corpus = Corpus(SEED)
    documents = list(corpus.documents(DOCUMENTS))
    vectors = await library.embedder.embed([body for each in documents for body in each.bodies()])
    number = await library.workspaces.ensure("synthetic")
    async with library.database.connection() as connection:
        await fill_workspace(connection, BenchWorkspace("synthetic", number, documents, vectors))
    segments, seconds = len(vectors), await _filled(library)
    bare = await _bare_seconds(library, server, number, documents[0].document_id)
    filling = [
        compared(
            figure(f"filling: segments a second, of {segments:,}", segments / seconds, "/s"),
            {"milvus-lite alone": segments / bare},
            rival=None,
            more=True,
        )
    ]
    questions = [corpus.question(documents[n % DOCUMENTS].bodies()[n % 20]) for n in range(0, QUESTIONS * 7, 7)]
    plain = HybridSearcher(library.database, library.workspaces, library.embedder)
    ways: list[Callable[[str], Awaitable[object]]] = [
        lambda text: library.searcher.search(SearchQuery(text, Identity("synthetic"))),
        lambda text: plain.search(SearchQuery(text, Identity("synthetic"))),
        lambda text: _milvus_alone(library, number, text),
    ]
    searching = [await _turns(questions, ways) for _ in range(count)]
    return [*searching[:-1], [*filling, *searching[-1]]]


async def _turns(questions: Sequence[str], ways: Sequence[Callable[[str], Awaitable[object]]]) -> list[Figure]:
    before, figures = _answered(), []
    times: list[list[float]] = [[], [], []]
    for place, question in enumerate([*questions[:WARM_UP], *questions]):
        for way in sorted(range(3), key=lambda way: (way + place) % 3):
            began = time.perf_counter()
            await ways[way](question)
            if place >= WARM_UP:
                times[way].append((time.perf_counter() - began) * 1000)
    if _answered() - before < ANSWERED * len(questions):
        raise AssertionError("Milvus named the candidates of too few questions")
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        ours, postgresql, alone = (percentile(each, share) for each in times)
        beside = {"PostgreSQL": postgresql, "milvus-lite alone": alone}
        figures.append(compared(figure(f"search by Milvus, {name}", ours, "ms"), beside, rival=None))
    return figures


async def _bare_seconds(library: Library, server: LoopbackServer, number: int, document_id: str) -> float:
    """Write as many rows as a program would that reads none and compares nothing."""
    assert isinstance(library.milvus, Milvus)
    index = await IndexKeeper(library.database, library.milvus, library.settings.milvus).read()
    assert index is not None
    name, milvus = f"{index.collection}_bare", library.milvus
    await milvus.create(name, index.dimension)
    async with library.database.connection() as connection:
        found = await connection.execute(
            "SELECT weights::text, embedding::text FROM segments JOIN segment_vectors"
            " USING (workspace, document_id, segment_index) WHERE workspace = %s",
            [number],
        )
        rows = [
            Row(document_id, place, 0, _words(weights), np.array(vector[1:-1].split(","), np.float32))
            for place, (weights, vector) in enumerate(await found.fetchall())
        ]
    began = time.perf_counter()
    for start in range(0, len(rows), ROWS_AT_ONCE):
        await milvus.write(name, number, rows[start : start + ROWS_AT_ONCE])
    seconds = time.perf_counter() - began
    await milvus.drop(name)
    return seconds


def _words(weights: str) -> dict[int, float]:
    pairs = (pair.split(":") for pair in weights[1:].split("}")[0].split(",") if pair)
    return {int(term): float(weight) for term, weight in pairs}


async def _milvus_alone(library: Library, number: int, text: str) -> None:
    """Search by both legs of Milvus, and read nothing."""
    assert isinstance(library.milvus, Milvus)
    index = await IndexKeeper(library.database, library.milvus, library.settings.milvus).read()
    assert index is not None
    terms, [vector] = weigh_question(text), await library.embedder.embed([text])
    weights = dict(zip(terms.ids.tolist(), terms.weights.tolist(), strict=True))
    await library.milvus.by_words(index.collection, number, weights, 2 * (TOP + SPARE))
    await library.milvus.by_vector(index.collection, number, vector, 2 * (TOP + SPARE))


def _answered() -> float:
    return REGISTRY.get_sample_value("citewell_index_searches_total", {"result": "answered"}) or 0.0
