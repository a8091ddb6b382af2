"""Fit of the calibrated score: ``python -m research.fitting.fit_score DATA`` prints the constants of ``search_sql``.

Gold segments are compared with the three best others of the same library, and with the best segment for a question of
another library. A logistic regression weights each data set and each side equally; then the intercept is moved so that
the default threshold keeps 99 % of the gold segments. docs/adr/0004-calibrated-score.md has the reasons.
"""

import asyncio
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from text.terms import UNSPACED_TERM, weigh_question, weigh_segment
from tools.embeddings.static_embedding import StaticEmbedder, count_tokens
from tools.parsers import parse
from tools.retrieval.search_sql import CONTEXT, CONTEXT_NORM, IDF_POWER, dense_coverage
from tools.retrieval.segmenting import SegmentSize, segment


@dataclass(frozen=True, slots=True)
class Passage:
    """A document of a data set."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Features:
    """The features of each segment's score: lexical ratio, coverage, and similarity times coverage."""

    ratio: NDArray[np.float64]
    coverage: float
    similarity: NDArray[np.float64]

    def columns(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the regression columns of some segments: intercept, lexical, dense, dense offset."""
        ones = np.ones(len(rows))
        return np.stack([ones, self.ratio[rows], self.similarity[rows], ones * self.coverage], axis=1)


class ScoredLibrary:
    """Segments of passages with their terms and vectors. ``passage_of`` is the passage number of each segment."""

    def __init__(self, passages: list[Passage]) -> None:
        self.passage_of: list[int] = []
        self.bodies: list[str] = []
        self._postings: dict[int, list[tuple[int, float]]] = {}
        for number, passage in enumerate(passages):
            parsed = parse(passage.text.encode(), name="passage.txt")
            for span in segment(parsed, SegmentSize(300), count_tokens):
                vector = weigh_segment(parsed.text[span.start : span.end], title=passage.title)
                for term, weight in zip(vector.ids.tolist(), vector.weights.tolist(), strict=True):
                    self._postings.setdefault(term, []).append((len(self.bodies), weight))
                self.passage_of.append(number)
                self.bodies.append(parsed.text[span.start : span.end])
        self._vectors = np.zeros((0, 0), np.float32)

    async def embed(self, embedder: StaticEmbedder) -> None:
        """Embed the segments; must be called before ``features``."""
        self._vectors = await embedder.embed(self.bodies)

    async def features(self, question: str, embedder: StaticEmbedder) -> Features:
        """Return the features of every segment for a question."""
        query = weigh_question(question)
        total, attainable, own = len(self.bodies), 0.0, np.zeros(len(self.bodies))
        unspaced = len(self._postings.get(UNSPACED_TERM, []))
        for term, weight, expected, is_unspaced in zip(
            query.ids.tolist(), query.weights.tolist(), query.expected.tolist(), query.unspaced.tolist(), strict=True
        ):
            postings = self._postings.get(term, [])
            alike = max(unspaced or total, len(postings)) if is_unspaced else total
            idf = weight * math.log(1 + (alike - len(postings) + 0.5) / (len(postings) + 0.5)) ** IDF_POWER
            attainable += expected * idf
            for row, saturated in postings:
                own[row] += idf * saturated
        coverage = dense_coverage(embedder.coverage(question))
        similarity = self._vectors @ (await embedder.embed([question]))[0]
        return Features(self._in_context(own) / max(attainable, 1e-6), coverage, coverage * similarity)

    def _in_context(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        passages = np.array(self.passage_of)
        joined = passages[1:] == passages[:-1]
        neighbours = np.full(len(own), -np.inf)
        neighbours[:-1][joined] = own[1:][joined]
        neighbours[1:][joined] = np.maximum(neighbours[1:][joined], own[:-1][joined])
        return np.where(np.isfinite(neighbours), (own + CONTEXT * np.maximum(neighbours, 0)) / CONTEXT_NORM, own)


Questions = list[tuple[str, int]]
THRESHOLD, KEPT = 0.3, 0.99
OTHERS = 3
FOREIGN = {"en": "clapnq", "clapnq": "en"}


def xquad(path: Path) -> tuple[list[Passage], Questions]:
    """Load the paragraphs, and the questions on each."""
    articles = json.loads(path.read_text())["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    questions = [(qa["question"], n) for n, paragraph in enumerate(paragraphs) for qa in paragraph["qas"]]
    return [Passage("", paragraph["context"]) for paragraph in paragraphs], questions


def clapnq(folder: Path) -> tuple[list[Passage], Questions]:
    """Load the passages, including those of unanswerable questions, and the answerable questions."""
    passages: list[Passage] = []
    questions: Questions = []
    for name in ("answerable", "unanswerable"):
        for line in (folder / f"{name}.jsonl").read_text().splitlines():
            row = json.loads(line)
            if name == "answerable":
                questions.append((row["input"], len(passages)))
            passages.append(Passage(row["passages"][0]["title"], row["passages"][0]["text"]))
    return passages, questions


async def examples(
    library: ScoredLibrary, questions: Questions, foreign: Questions, embedder: StaticEmbedder
) -> dict[str, NDArray[np.float64]]:
    """Return the columns of gold, other and foreign segments."""
    found: dict[str, list[NDArray[np.float64]]] = {"gold": [], "other": [], "foreign": []}
    passage_of = np.array(library.passage_of)
    for question, passage in questions:
        features = await library.features(question, embedder)
        order = _by_strength(features)
        is_gold = passage_of[order] == passage
        found["gold"].append(features.columns(order[is_gold][:1]))
        found["other"].append(features.columns(order[~is_gold][:OTHERS]))
    for question, _ in foreign:
        features = await library.features(question, embedder)
        found["foreign"].append(features.columns(_by_strength(features)[:1]))
    return {kind: np.concatenate(rows) if rows else np.zeros((0, 4)) for kind, rows in found.items()}


def _by_strength(features: Features) -> NDArray[np.intp]:
    return np.argsort(-(features.ratio + features.similarity))


def fit(sets: list[dict[str, NDArray[np.float64]]]) -> NDArray[np.float64]:
    """Fit by Newton's method; every set has the same weight, and within it gold as much as the rest."""
    columns, labels, weights = [], [], []
    for found in sets:
        against = np.concatenate([found["other"], found["foreign"]])
        for rows, label in ((found["gold"], 1.0), (against, 0.0)):
            columns.append(rows)
            labels.append(np.full(len(rows), label))
            weights.append(np.full(len(rows), 1 / len(rows)))
    x, y, w = np.concatenate(columns), np.concatenate(labels), np.concatenate(weights)
    solution = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ solution))
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + 1e-4 * np.eye(len(solution))
        solution -= np.linalg.solve(hessian, x.T @ (w * (p - y)) + 1e-4 * solution)
    return solution


async def main(data: Path) -> None:
    """Fit on XQuAD in three languages and on CLAPnq, and print the constants and the scores they produce."""
    embedder = await StaticEmbedder.load()
    sets = {language: xquad(data / "xquad" / f"{language}.json") for language in ("en", "zh", "vi")}
    sets["clapnq"] = clapnq(data / "clapnq")
    found = {}
    for name, (passages, questions) in sets.items():
        library = ScoredLibrary(passages)
        await library.embed(embedder)
        foreign = sets[FOREIGN[name]][1] if name in FOREIGN else []
        found[name] = await examples(library, questions, foreign, embedder)
    solution = fit(list(found.values()))
    gold = np.concatenate([each["gold"] for each in found.values()]) @ solution
    solution[0] += math.log(THRESHOLD / (1 - THRESHOLD)) - np.quantile(gold, 1 - KEPT)
    for name, value in zip(("INTERCEPT", "LEXICAL", "DENSE", "DENSE_OFFSET"), solution, strict=True):
        print(f"{name} = {value:.2f}")
    for name, kinds in found.items():
        for kind, rows in kinds.items():
            if len(rows):
                scores = 1 / (1 + np.exp(-rows @ solution))
                passed = " ".join(f">={least}: {np.mean(scores >= least):.3f}" for least in (0.3, 0.5, 0.7, 0.9))
                print(f"{name:7} {kind:8} median {np.median(scores):.2f}  {passed}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
