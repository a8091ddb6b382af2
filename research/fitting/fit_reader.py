"""Fit of the extractive family's models, reported by cross-validation.

``python -m research.fitting.fit_reader --data FOLDER --manuals FOLDER [--write]`` reads XQuAD (en, zh, vi), CLAPnq and
the manuals in the first folder, our development set, and our questions over the manuals that ``debian_manuals`` lays
out in the second. It searches them as a deployment would, and prints figures of held-out folds: XQuAD in folds of whole
articles, an article in its three languages in one fold, CLAPnq in folds of questions, the development set in folds of
documents, the manuals in folds of pages, a page in its languages in one. Beside them stand the figures of all manuals
of one set by a reader that has seen none of them. ``--write`` then fits on everything and writes the weights.

For unanswerable questions, XQuAD's paragraphs are removed from the library one by one, with all their statistics; a
page without the answer is another paragraph of the same article, or the whole article except that paragraph.
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
from answers.entries import entries_of, passage_around
from answers.entry import Entry
from evals.cases import sentence_spans, sentences_in
from evals.gold_passages import quote_hits
from evals.sets.manuals import manuals_set
from graph.evidence import Hit, Segment
from research.development import load_development
from research.fitting.cross_validation import (
    AnnotatedPage,
    Fold,
    Row,
    answerable_figures,
    fit_answerable,
    fit_membership,
    fold_of,
    membership_figures,
    reader_figures,
    unseen_figures,
)
from research.fitting.small_models import CandidateList, Floats, fit_softmax
from research.fitting.training_questions import (
    StoredSpan,
    TrainingQuestion,
    TrainingQuestions,
    gather,
    gather_development,
    gather_manuals,
)
from research.sets.clapnq import CLAPnqQuestion
from tools.extractive.answerability import FOUND_SIGNALS, PAGE_SIGNALS
from tools.extractive.extractive_family import KEPT_AT_MOST
from tools.extractive.quoted_passages import MOST_QUOTED
from tools.extractive.reader import reader_input
from tools.extractive.sentence_features import FEATURES, MEMBERSHIP_FEATURES
from tools.process.library import open_library
from tools.rules.candidate_sentences import CandidateSentence
from tools.settings import load_settings

FOLDS = 6
MANUALS = ("manuals", "manuals-debian")
PENALTY = {"reader": 30.0, "answerable": 3.0, "membership": 10.0}
# XQuAD has six times as many questions and no titles, headings or tables; this weights both about the same.
WEIGHT = {"xquad": 1 / 3, "development": 2.0, "manuals": 3.0}


def reader_rows(asked: Sequence[TrainingQuestion]) -> list[CandidateList]:
    """Return the features of each question's candidates, and which of them are right to quote."""
    rows: list[CandidateList] = []
    for each in asked:
        # XQuAD's paragraphs as many as the writer gets; of whole documents all that the grader chooses from.
        kind = "manuals" if each.passages else "development" if each.evidence else "xquad"
        hits = each.hits[:KEPT_AT_MOST] if kind == "xquad" else each.hits
        seen = reader_input(each.text, hits)
        if seen is None:
            rows.append(CandidateList(each.data_set, each.group, np.zeros((0, len(FEATURES))), np.zeros(0, dtype=bool)))
            continue
        right = np.array([_is_right(each, hits, one) for one in seen.pool])
        kept = right | ~np.array([_overlaps(each.accepted, hits, one) for one in seen.pool])
        kept &= np.array([one.entry.quotable for one in seen.pool])
        rows.append(CandidateList(each.data_set, each.group, seen.found.features[kept], right[kept], WEIGHT[kind]))
    return rows


def _is_right(asked: TrainingQuestion, hits: Sequence[Hit], one: CandidateSentence) -> bool:
    segment = hits[one.segment].segment
    if asked.passages:
        return any(
            document_id == segment.document_id and quote_hits(_quoted(segment, one.entry), text)
            for document_id, text in asked.passages
        )
    if asked.evidence:
        return _overlaps(asked.evidence, hits, one)
    return segment.document_id == asked.gold and any(answer in one.text for answer in asked.answers)


def _quoted(segment: Segment, entry: Entry) -> str:
    """Return what is quoted for an entry."""
    entries = entries_of(segment)
    chosen = passage_around(entries, entries.index(entry), MOST_QUOTED)
    return segment.text[entries[chosen[0]].start - segment.start : entries[chosen[-1]].end - segment.start]


def _overlaps(spans: frozenset[StoredSpan], hits: Sequence[Hit], one: CandidateSentence) -> bool:
    """Whether a candidate overlaps any span by more than half of the shorter of the two."""
    segment = hits[one.segment].segment
    start, end = segment.start + one.start, segment.start + one.end
    return any(
        span.document_id == segment.document_id
        and 2 * (min(end, span.end) - max(start, span.start)) > min(span.end - span.start, end - start)
        for span in spans
    )


def signal_rows(asked: Sequence[TrainingQuestion], folds: Sequence[Fold]) -> list[Row]:
    """Return each question's signals under the reader that has not seen its group; None where there was no hit."""
    rows: list[Row] = []
    for each in asked:
        seen = reader_input(each.text, each.hits)
        row: Floats | None = None
        if seen is not None:
            scores = seen.found.features @ folds[fold_of(each.group, len(folds))].weights
            pages = each.hits[0].kind == "page"
            row = seen.page_signals(scores) if pages else seen.found_signals(scores)
        rows.append((each.data_set, each.group, row, each.gold is not None))
    return rows


def membership_rows(passages: Sequence[tuple[TrainingQuestion, CLAPnqQuestion]], reader: Floats) -> list[AnnotatedPage]:
    """Return the sentence features of each annotated passage, and which sentences the annotators selected."""
    rows: list[AnnotatedPage] = []
    for question, annotated in passages:
        seen = reader_input(question.text, question.hits)
        if annotated.references and seen is not None:
            spans = sentence_spans("".join(hit.segment.text for hit in question.hits), annotated.sentences)
            starts = [question.hits[one.segment].segment.start for one in seen.pool]
            held = tuple(
                sentences_in(start + one.start, start + one.end, spans)
                for start, one in zip(starts, seen.pool, strict=True)
            )
            features = seen.membership(seen.found.features @ reader)
            rows.append(AnnotatedPage(question.group, features, held, annotated.references))
    return rows


def fit(gathered: TrainingQuestions) -> dict[str, Any]:
    """Fit the models on everything; return them as shipped, each with its figures on held-out folds."""
    questions = reader_rows(gathered.reading)
    reader_cv, folds = reader_figures(questions, PENALTY["reader"], FOLDS)
    unseen = {name: unseen_figures(questions, name, PENALTY["reader"]) for name in MANUALS}
    reader = fit_softmax(questions, PENALTY["reader"])
    answerable = {
        name: _answerable(signal_rows(asked, folds), signals)
        for name, asked, signals in (
            ("found", gathered.found, FOUND_SIGNALS),
            ("page", gathered.pages, PAGE_SIGNALS),
        )
    }
    marked = membership_rows(gathered.passages, reader)
    coefficients, intercept = fit_membership(marked, PENALTY["membership"])
    names = " ".join((*FEATURES, *FOUND_SIGNALS, *PAGE_SIGNALS, *MEMBERSHIP_FEATURES))
    return {
        "provenance": {
            "fitted_by": "python -m research.fitting.fit_reader",
            "date": datetime.now(UTC).date().isoformat(),
            "data": "the halves of XQuAD, CLAPnq and manuals that docs/evaluation.md names, research/development, and"
            " research/data/manual_questions.jsonl over the manuals that research/fitting/debian_manuals.py lays out",
            "questions": {
                "reader": len(questions),
                "found": len(gathered.found),
                "page": len(gathered.pages),
                "membership": len(marked),
            },
            "features": hashlib.sha256(names.encode()).hexdigest()[:12],
            "lambda": PENALTY,
        },
        "reader": {"cv": reader_cv, "unseen": unseen, "weights": _named(FEATURES, reader)},
        "answerable": answerable,
        "membership": {
            "cv": membership_figures(marked, PENALTY["membership"], FOLDS),
            "intercept": round(intercept, 4),
            "weights": _named(MEMBERSHIP_FEATURES, coefficients),
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
        "membership_cv": fitted["membership"]["cv"],
    }


async def _gathered(folder: Path, manuals: Path) -> TrainingQuestions:
    async with open_library(load_settings()) as library:
        gathered = await gather(library, folder)
        more = await gather_development(library, load_development())
        for name, place in (("manuals", folder / "manuals"), ("manuals-debian", manuals)):
            more += await gather_manuals(library, manuals_set(place), name)
    gathered.reading += [asked for asked in more if asked.gold is not None]
    gathered.found += more
    return gathered


if __name__ == "__main__":
    main()
