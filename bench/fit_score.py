"""Fit the calibrated score: ``python -m bench.fit_score DATA`` prints the constants of tools/retrieval/scoring.py.

Gold segments against the three best others of the same library, and against the best segment for a question of
another library. A logistic regression weighs each data set and each side alike; then the intercept is moved so that
the default threshold keeps 99 % of the gold segments. docs/adr/0004-calibrated-score.md says why.
"""

import asyncio
import json
import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.scored_library import Features, Passage, ScoredLibrary
from tools.settings import Settings
from tools.static_embedding import StaticEmbedder

Questions = list[tuple[str, int]]
THRESHOLD, KEPT = 0.3, 0.99
OTHERS = 3
FOREIGN = {"en": "clapnq", "clapnq": "en"}


def xquad(path: Path) -> tuple[list[Passage], Questions]:
    """Read paragraphs and the questions on each."""
    articles = json.loads(path.read_text())["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    questions = [(qa["question"], n) for n, paragraph in enumerate(paragraphs) for qa in paragraph["qas"]]
    return [Passage("", paragraph["context"]) for paragraph in paragraphs], questions


def clapnq(folder: Path) -> tuple[list[Passage], Questions]:
    """Read passages, those of unanswerable questions among them, and the answerable questions."""
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
    """Compute the columns of gold, other and foreign segments."""
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
    """Fit by Newton's method; every set weighs alike, and within it gold as much as the rest."""
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
    """Fit on XQuAD in three languages and on CLAPnq, and print constants and what they do."""
    embedder = await StaticEmbedder.load(Settings().embedding.dimension)
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
