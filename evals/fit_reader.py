"""Fit the extractive reader and its sense of unanswerable questions, and report both by cross-validation.

``python -m evals.fit_reader --data FOLDER [--write]`` reads XQuAD (en, zh, vi) and CLAPnq below the folder, searches
them as a deployment would, and prints figures of held-out folds: XQuAD in folds of whole articles, an article in its
three languages in one fold, CLAPnq in folds of questions. ``--write`` then fits on everything and writes the weights.

For unanswerable questions XQuAD's paragraphs are parted into two libraries: a question is asked of the one with its
paragraph and of the other, so that no statistic of the second has seen the paragraph.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import tools.extractive
from evals.cross_validation import Fold, Row, answerable_figures, fit_answerable, fold_of, reader_figures
from evals.datasets.clapnq import load_clapnq
from evals.datasets.xquad import load_xquad
from evals.listwise import Question, fit_softmax
from evals.workspace import ingest_texts, throwaway_workspace
from graph.evidence import Hit, Identity
from graph.ports import SearchQuery
from tools.extractive.candidates import candidates
from tools.extractive.features import FEATURES, evidence
from tools.extractive.grader import KEPT_AT_MOST
from tools.extractive.signals import SIGNALS, signals
from tools.resources import Library, open_library
from tools.settings import load_settings

LANGUAGES = ("en", "zh", "vi")
FOLDS = 6
READER_LAMBDA = 30.0
ANSWERABLE_LAMBDA = 3.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what the search brought it. ``gold`` is the document that answers it, None where none does."""

    data_set: str
    group: str
    text: str
    hits: tuple[Hit, ...]
    gold: str | None
    answers: tuple[str, ...] = ()


async def gather(library: Library, folder: Path) -> tuple[list[Asked], list[Asked]]:
    """Search for every question: once over all paragraphs for the reader, and with and without its own for the rest."""
    reading: list[Asked] = []
    judging: list[Asked] = []
    for code in LANGUAGES:
        data = load_xquad(folder / "xquad" / f"{code}.json")
        for part in (None, 0, 1):
            chosen = [index for index in range(len(data.paragraphs)) if part in (None, index % 2)]
            async with throwaway_workspace(library, "fit") as identity:
                titles = [f"Paragraph {index + 1}" for index in chosen]
                ids = await ingest_texts(library, identity, [data.paragraphs[index] for index in chosen], titles)
                document = dict(zip(chosen, ids, strict=True))
                for question in data.questions:
                    hits = await _search(library, identity, question.text)
                    gold = document.get(question.paragraph)
                    group = data.articles[question.paragraph]
                    asked = Asked(f"xquad-{code}", group, question.text, hits, gold, question.answers)
                    (reading if part is None else judging).append(asked)
    passages = load_clapnq(folder / "clapnq")
    async with throwaway_workspace(library, "fit") as identity:
        texts, titles = [each.passage for each in passages], [each.title for each in passages]
        ids = await ingest_texts(library, identity, texts, titles)
        for index, (each, document_id) in enumerate(zip(passages, ids, strict=True)):
            hits = await _search(library, identity, each.text)
            judging.append(
                Asked("clapnq", f"clapnq-{index % 60}", each.text, hits, document_id if each.answerable else None)
            )
    return reading, judging


async def _search(library: Library, identity: Identity, text: str) -> tuple[Hit, ...]:
    return (await library.searcher.search(SearchQuery(text, identity))).hits


def reader_rows(asked: Sequence[Asked]) -> list[Question]:
    """Compute the features of each question's candidates, and which of them quote the answer."""
    rows: list[Question] = []
    for each in asked:
        hits = _as_graded(each.hits)
        pool = candidates([hit.segment for hit in hits])
        if pool:
            found = evidence(each.text, [hit.segment for hit in hits], [hit.score for hit in hits], pool)
            right = [
                hits[one.segment].segment.document_id == each.gold
                and any(answer in one.text for answer in each.answers)
                for one in pool
            ]
            rows.append(Question(each.data_set, each.group, found.features, np.array(right)))
        else:
            rows.append(Question(each.data_set, each.group, np.zeros((0, len(FEATURES))), np.zeros(0, dtype=bool)))
    return rows


def signal_rows(asked: Sequence[Asked], folds: Sequence[Fold]) -> list[Row]:
    """Compute the signals of each question under the reader that has not seen its group; None where no hit came."""
    rows: list[Row] = []
    for each in asked:
        hits = sorted(each.hits, key=lambda hit: -hit.score)
        pool = candidates([hit.segment for hit in hits])
        if not pool:
            rows.append((each.data_set, each.group, None, each.gold is not None))
            continue
        scores = [hit.score for hit in hits]
        found = evidence(each.text, [hit.segment for hit in hits], scores, pool)
        weights = folds[fold_of(each.group, len(folds))].weights
        row = signals(each.text, found, found.features @ weights, scores)
        rows.append((each.data_set, each.group, row, each.gold is not None))
    return rows


def _as_graded(hits: Sequence[Hit]) -> list[Hit]:
    """Take the hits that the writer sees where the grader keeps as many as it may."""
    return sorted(hits, key=lambda hit: -hit.score)[:KEPT_AT_MOST]


def main() -> None:
    """Fit, report, and write the weights where asked to."""
    parser = argparse.ArgumentParser(description="Fit the extractive reader.")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds xquad/ and clapnq/")
    parser.add_argument("--write", action="store_true", help="fit on all data and write weights.json")
    options = parser.parse_args()
    reading, judging = asyncio.run(_gathered(options.data))
    report = fit(reading, judging, write=options.write)
    json.dump(report, sys.stdout, indent=2)
    sys.stdout.write("\n")


async def _gathered(folder: Path) -> tuple[list[Asked], list[Asked]]:
    async with open_library(load_settings()) as library:
        return await gather(library, folder)


def fit(reading: Sequence[Asked], judging: Sequence[Asked], *, write: bool) -> dict[str, object]:
    """Fit both models; give the figures of held-out folds and, where asked to, write the weights of all folds."""
    questions = reader_rows(reading)
    reader, folds = reader_figures(questions, READER_LAMBDA, FOLDS)
    rows = signal_rows(judging, folds)
    answerable = answerable_figures(rows, ANSWERABLE_LAMBDA, FOLDS)
    report: dict[str, object] = {"reader_cv": reader, "answerable_cv": answerable}
    if write:
        weights = fit_softmax(questions, READER_LAMBDA)
        coefficients, intercept = fit_answerable(rows, ANSWERABLE_LAMBDA)
        shipped = {
            "provenance": {
                "fitted_by": "python -m evals.fit_reader",
                "date": datetime.now(UTC).date().isoformat(),
                "data": "XQuAD en, zh, vi and CLAPnq, the halves that docs/evaluation.md names",
                "questions": {"reader": len(reading), "answerable": len(rows)},
                "features": hashlib.sha256(" ".join((*FEATURES, *SIGNALS)).encode()).hexdigest()[:12],
                "lambda": {"reader": READER_LAMBDA, "answerable": ANSWERABLE_LAMBDA},
            },
            "reader": {"cv": reader, "weights": _named(FEATURES, weights)},
            "answerable": {
                "cv": answerable,
                "intercept": round(intercept, 4),
                "weights": _named(SIGNALS, coefficients),
            },
        }
        path = Path(tools.extractive.__file__).with_name("weights.json")
        path.write_text(json.dumps(shipped, indent=2) + "\n", encoding="utf-8")
    return report


def _named(names: Sequence[str], values: np.ndarray) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in zip(names, values, strict=True)}


if __name__ == "__main__":
    main()
