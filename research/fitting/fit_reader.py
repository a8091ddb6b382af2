"""Fit of the extractive family's models, reported by cross-validation.

``python -m research.fitting.fit_reader --data FOLDER --manuals FOLDER [--write]`` reads XQuAD (en, zh, vi), CLAPnq, the
manuals and the company in the first folder, our development set, and our questions over the manuals that
``debian_manuals`` lays out in the second. It searches them as a deployment would, and prints figures of held-out folds:
XQuAD in folds of whole articles, an article in its three languages in one fold, CLAPnq in folds of questions, the
development set in folds of documents, files in folds of pages, a page in its languages in one. Beside them stand the
figures of all files of one set by models that have seen none of them. ``--write`` then fits on everything and writes
the weights.

A candidate is right where the text around it holds the evidence; the figures are of the passages that are shown. What
was found answers where one of those does; for questions without an answer, XQuAD's paragraph is taken out of what was
found, and a page without the answer is another paragraph of the same article, or the whole article except that one.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import tools.extractive
from answers.entries import entries_of
from answers.entry import Entry
from answers.passages import Passages
from evals.gold_passages import quote_hits
from evals.sets.manuals import company_set, manuals_set
from graph.evidence import Segment
from research.development import load_development
from research.fitting.cross_validation import (
    Fold,
    Row,
    answerable_figures,
    fit_answerable,
    fold_of,
    reader_figures,
    reader_weight_of,
    unseen_answerable,
    unseen_figures,
)
from research.fitting.small_models import CandidateList, Floats, Place, fit_softmax
from research.fitting.training_questions import (
    TrainingQuestion,
    TrainingQuestions,
    gather,
    gather_development,
    gather_manuals,
)
from tools.extractive.answerability import FOUND_SIGNALS, PAGE_SIGNALS
from tools.extractive.extractive_family import KEPT_AT_MOST
from tools.extractive.quoted_passages import choose_passages
from tools.extractive.reader import RankedSentences, ReaderInput, reader_input
from tools.extractive.sentence_features import FEATURES
from tools.process.library import open_library
from tools.settings import load_settings

FOLDS = 6
FILES = ("manuals", "manuals-debian", "company")
PENALTY = {"reader": 100.0, "answerable": 100.0}
AROUND = 450  # characters of the text that is told right or wrong for a candidate, which stands in its middle
HELD = 0.75  # share of a marked sentence that a passage must hold


def reader_rows(asked: Sequence[TrainingQuestion]) -> list[CandidateList]:
    """Return the features of each question's candidates, which are right, and the passages that are shown for them."""
    rows: list[CandidateList] = []
    for each in asked:
        # XQuAD's paragraphs as many as the writer gets; of whole documents all that the grader chooses from.
        hits = each.hits[:KEPT_AT_MOST] if each.data_set.startswith("xquad") else each.hits
        seen = reader_input(each.text, hits)
        if seen is None:
            rows.append(CandidateList(each.data_set, each.group, np.zeros((0, len(FEATURES))), np.zeros(0, dtype=bool)))
            continue
        quotable = np.array([one.entry.quotable for one in seen.pool])
        own = [(hits[one.segment].segment, one.entry) for one in seen.pool if one.entry.quotable]
        right = np.array([is_right(each, *_around(segment, entry)) for segment, entry in own], dtype=bool)
        shown = [_shown(segment, entry) for segment, entry in own]
        rows.append(
            CandidateList(
                each.data_set,
                each.group,
                seen.found.features[quotable],
                right,
                reader_weight_of(each.data_set),
                tuple(place for place, _ in shown),
                frozenset(place for place, text in dict(shown).items() if is_right(each, place, text)),
            )
        )
    return rows


def _around(segment: Segment, entry: Entry) -> tuple[Place, str]:
    """Return the text of a segment around an entry, AROUND characters or the entry where that is longer."""
    margin = max(0, AROUND - (entry.end - entry.start)) // 2
    start = max(segment.start, entry.start - margin)
    text = segment.text[start - segment.start : entry.end + margin - segment.start]
    return (segment.document_id, start, start + len(text)), text


def _shown(segment: Segment, entry: Entry) -> tuple[Place, str]:
    """Return the passage of a segment that is shown for an entry."""
    entries = entries_of(segment)
    chosen = Passages(entries).of(entries.index(entry))
    start, end = entries[chosen[0]].start, entries[chosen[-1]].end
    return (segment.document_id, start, end), segment.text[start - segment.start : end - segment.start]


def is_right(asked: TrainingQuestion, place: Place, text: str) -> bool:
    """Whether a passage with this text holds what answers."""
    document_id, start, end = place
    if asked.passages:
        return any(document_id == known and quote_hits(text, held) for known, held in asked.passages)
    if asked.evidence:
        return any(
            document_id == span.document_id
            and min(end, span.end) - max(start, span.start) > HELD * (span.end - span.start)
            for span in asked.evidence
        )
    return document_id == asked.gold and (not asked.answers or any(answer in text for answer in asked.answers))


def signal_rows(asked: Sequence[TrainingQuestion], folds: Sequence[Fold]) -> list[Row]:
    """Return each question's signals under the reader that has not seen its group; None where there was no hit.

    Of a search it is told whether one of the passages shown is right, of pages whether they hold the answer.
    """
    rows: list[Row] = []
    for each in asked:
        seen = reader_input(each.text, each.hits)
        if seen is None:
            rows.append((each.data_set, each.group, None, False))
            continue
        scores = seen.scores(folds[fold_of(each.group, len(folds))].weights)
        if each.hits[0].kind == "page":
            rows.append((each.data_set, each.group, seen.page_signals(scores), each.gold is not None))
        else:
            rows.append((each.data_set, each.group, seen.found_signals(scores), _answers(each, seen, scores)))
    return rows


def _answers(asked: TrainingQuestion, seen: ReaderInput, scores: Floats) -> bool:
    if asked.gold is None:
        return False
    order = np.argsort(-scores, kind="stable").tolist()
    reading = RankedSentences(tuple(seen.pool[at] for at in order), tuple(float(scores[at]) for at in order), 1.0)
    shown = [(passage.proof, passage.document_id) for passage in choose_passages([reading], asked.hits)]
    texts = {hit.segment_id: hit.segment for hit in asked.hits}
    return any(
        is_right(
            asked,
            (document_id, proof["start"], proof["end"]),
            texts[proof["segment_id"]].text[
                proof["start"] - texts[proof["segment_id"]].start : proof["end"] - texts[proof["segment_id"]].start
            ],
        )
        for proof, document_id in shown
    )


def fit(gathered: TrainingQuestions) -> dict[str, Any]:
    """Fit the models on everything; return them as shipped, each with its figures on held-out folds."""
    questions = reader_rows(gathered.reading)
    reader_cv, folds = reader_figures(questions, PENALTY["reader"], FOLDS)
    unseen = {name: unseen_figures(questions, name, PENALTY["reader"]) for name in FILES}
    reader = fit_softmax(questions, PENALTY["reader"])
    found = signal_rows(gathered.found, folds)
    names = " ".join((*FEATURES, *FOUND_SIGNALS, *PAGE_SIGNALS))
    return {
        "provenance": {
            "fitted_by": "python -m research.fitting.fit_reader",
            "date": datetime.now(UTC).date().isoformat(),
            "data": "the halves of XQuAD, CLAPnq, manuals and company that docs/evaluation.md names,"
            " research/development, and research/data/manual_questions.jsonl over the manuals that"
            " research/fitting/debian_manuals.py lays out",
            "questions": {
                "reader": len(questions),
                "found": len(gathered.found),
                "page": len(gathered.pages),
            },
            "features": hashlib.sha256(names.encode()).hexdigest()[:12],
            "lambda": PENALTY,
        },
        "reader": {"cv": reader_cv, "unseen": unseen, "weights": _named(FEATURES, reader)},
        "answerable": {
            "found": {
                **_answerable(found, FOUND_SIGNALS),
                "unseen": {name: unseen_answerable(found, name, PENALTY["answerable"]) for name in FILES},
            },
            "page": _answerable(signal_rows(gathered.pages, folds), PAGE_SIGNALS),
        },
    }


def _answerable(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Any]:
    coefficients, intercept = fit_answerable(rows, PENALTY["answerable"])
    return {
        "cv": answerable_figures(rows, PENALTY["answerable"], FOLDS),
        "intercept": round(intercept, 4),
        "weights": _named(names, coefficients),
    }


def _named(names: Sequence[str], values: Floats) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in zip(names, values, strict=True)}


def main() -> None:
    """Fit, report, and with ``--write`` write the weights."""
    parser = argparse.ArgumentParser(description="Fit the extractive family's models.")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds xquad/, clapnq/ and manuals/")
    parser.add_argument("--manuals", type=Path, required=True, help="the folder that debian_manuals has made")
    parser.add_argument("--write", action="store_true", help="write weights.json")
    options = parser.parse_args()
    fitted = fit(asyncio.run(_gathered(options.data, options.manuals)))
    if options.write:
        path = Path(tools.extractive.__file__).with_name("weights.json")
        path.write_text(json.dumps(fitted, indent=2) + "\n", encoding="utf-8")
    json.dump(_figures(fitted), sys.stdout, indent=2)
    sys.stdout.write("\n")


def _figures(fitted: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "reader_cv": fitted["reader"]["cv"],
        "reader_unseen": fitted["reader"]["unseen"],
        "answerable_cv": {name: each["cv"] for name, each in fitted["answerable"].items()},
        "answerable_unseen": fitted["answerable"]["found"]["unseen"],
    }


async def _gathered(folder: Path, manuals: Path) -> TrainingQuestions:
    async with open_library(load_settings()) as library:
        gathered = await gather(library, folder)
        more = await gather_development(library, load_development())
        for name, data in (
            ("manuals", manuals_set(folder / "manuals")),
            ("manuals-debian", manuals_set(manuals)),
            ("company", company_set(folder / "company")),
        ):
            more += await gather_manuals(library, data, name)
    gathered.reading += [asked for asked in more if asked.gold is not None]
    gathered.found += more
    return gathered


if __name__ == "__main__":
    main()
