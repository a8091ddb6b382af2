"""Cross-validation of the extractive family's models: figures on folds that they were not fitted on."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evals.bootstrap import auc
from evals.cases import best_match
from research.fitting.small_models import CandidateList, Floats, evenly, fit_logistic, fit_softmax
from tools.extractive.quoted_passages import MOST_PAGE_QUOTES, best_set
from tools.extractive.reader import LogisticModel

OPERATING_POINTS = (0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
Row = tuple[str, str, Floats | None, bool]  # data set, group, signals, whether the question is answerable


@dataclass(frozen=True, slots=True)
class Fold:
    """The reader's weights for one fold, fitted on all the others."""

    weights: Floats


def fold_of(group: str, folds: int) -> int:
    """Return a group's fold, which is the same in every data set."""
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % folds


def reader_figures(
    questions: Sequence[CandidateList], penalty: float, folds: int
) -> tuple[dict[str, dict[str, float]], list[Fold]]:
    """Return the fitted folds, and by data set how often the best candidate, or one of the best three, is right."""
    fitted = [
        Fold(fit_softmax([each for each in questions if fold_of(each.group, folds) != fold], penalty))
        for fold in range(folds)
    ]
    names = sorted({each.data_set for each in questions})
    return {
        name: _hit_shares(
            [(each, fitted[fold_of(each.group, folds)].weights) for each in questions if each.data_set == name]
        )
        for name in names
    }, fitted


def unseen_figures(questions: Sequence[CandidateList], data_set: str, penalty: float) -> dict[str, float]:
    """Return the same figures of one data set by a reader that was fitted on all the others."""
    weights = fit_softmax([each for each in questions if each.data_set != data_set], penalty)
    return _hit_shares([(each, weights) for each in questions if each.data_set == data_set])


def _hit_shares(scored: Sequence[tuple[CandidateList, Floats]]) -> dict[str, float]:
    hits: list[tuple[bool, bool]] = []
    for each, weights in scored:
        best = each.right[np.argsort(-(each.features @ weights), kind="stable")[:3]]
        hits.append((bool(best[:1].any()), bool(best.any())))
    return {"n": len(hits), "top1": _mean([a for a, _ in hits]), "top3": _mean([b for _, b in hits])}


def fit_answerable(rows: Sequence[Row], penalty: float) -> tuple[Floats, float]:
    """Fit the logistic model on the questions for which the search found anything."""
    seen = [(name, row, label) for name, _, row, label in rows if row is not None]
    labels = np.array([label for _, _, label in seen])
    weight = evenly(labels, [name for name, _, _ in seen])
    return fit_logistic(np.array([row for _, row, _ in seen]), labels, weight, penalty)


def answerable_figures(rows: Sequence[Row], penalty: float, folds: int) -> dict[str, dict[str, object]]:
    """Return by data set the area under the ROC curve, and the shares kept and refused at each operating point.

    A question for which the search finds nothing is refused at every point.
    """
    row_folds = [fold_of(group, folds) for _, group, _, _ in rows]
    fitted = [
        fit_answerable([row for row, row_fold in zip(rows, row_folds, strict=True) if row_fold != fold], penalty)
        for fold in range(folds)
    ]
    chances = np.array([_chance(row[2], fitted[row_fold]) for row, row_fold in zip(rows, row_folds, strict=True)])
    labels = np.array([label for _, _, _, label in rows])
    names = np.array([name for name, _, _, _ in rows])
    figures: dict[str, dict[str, object]] = {}
    for name in sorted(set(names.tolist())):
        yes, no = chances[(names == name) & labels], chances[(names == name) & ~labels]
        points = {
            str(point): {
                "kept": _mean(yes >= point),
                "refused": _mean(no < point),
                "balanced": round((float((yes >= point).mean()) + float((no < point).mean())) / 2, 4),
            }
            for point in OPERATING_POINTS
        }
        figures[name] = {"answerable": len(yes), "unanswerable": len(no), "auc": auc(yes, no), "at": points}
    return figures


@dataclass(frozen=True, slots=True)
class AnnotatedPage:
    """A page's candidates by membership features, the gold sentences in each, and the annotators' selections."""

    group: str
    rows: Floats
    sentences: tuple[frozenset[int], ...]
    references: tuple[frozenset[int], ...]


def fit_membership(pages: Sequence[AnnotatedPage], penalty: float) -> tuple[Floats, float]:
    """Fit the logistic model of membership in an answer: selection by at least half of the annotators."""
    rows = np.concatenate([page.rows for page in pages])
    labels = np.array(
        [
            2 * sum(bool(held & reference) for reference in page.references) >= len(page.references)
            for page in pages
            for held in page.sentences
        ]
    )
    return fit_logistic(rows, labels, np.ones(len(labels)), penalty)


def membership_figures(pages: Sequence[AnnotatedPage], penalty: float, folds: int) -> dict[str, float]:
    """Return mean precision, recall and F1 against the best reference, and the mean number of quotes."""
    figures: list[tuple[float, float, float, int]] = []
    for fold in range(folds):
        inside = [fold_of(page.group, folds) == fold for page in pages]
        fitted = LogisticModel(
            *fit_membership([page for page, here in zip(pages, inside, strict=True) if not here], penalty)
        )
        for page in (page for page, here in zip(pages, inside, strict=True) if here):
            chosen = best_set(fitted.chance(page.rows).tolist(), MOST_PAGE_QUOTES)
            quoted = frozenset[int]().union(*(page.sentences[i] for i in chosen))
            match = best_match(quoted, page.references)
            figures.append((match.precision, match.recall, match.f1, len(chosen)))
    names = ("precision", "recall", "f1", "quotes_mean")
    means = {name: round(float(value), 4) for name, value in zip(names, np.mean(figures, axis=0), strict=True)}
    return {"n": len(figures), **means}


def _chance(row: Floats | None, fitted: tuple[Floats, float]) -> float:
    return 0.0 if row is None else float(expit(row @ fitted[0] + fitted[1]))


def _mean(values: Sequence[bool] | NDArray[np.bool_]) -> float:
    return round(float(np.mean(values)), 4)
