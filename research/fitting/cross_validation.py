"""Cross-validation of the extractive family's models: figures on folds that they were not fitted on."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evals.bootstrap import auc
from research.fitting.small_models import CandidateList, Floats, Place, fit_logistic, fit_softmax

OPERATING_POINTS = (0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
SHOWN = 3  # passages
BINS = 10
Row = tuple[str, str, Floats | None, bool]  # data set, group, signals, whether one of the passages shown answers


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
    """Return the fitted folds, and by data set how often the first passage, or one of the first three, is right."""
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
    hits = [first_right(each, each.features @ weights) for each, weights in scored]
    return {"n": len(hits), "top1": _mean([at < 1 for at in hits]), "top3": _mean([at < SHOWN for at in hits])}


def first_right(asked: CandidateList, scores: Floats) -> int:
    """Return the place of the first right one among the passages in the reader's order; SHOWN where there is none."""
    told: list[Place] = []
    for index in np.argsort(-scores, kind="stable").tolist():
        document, start, end = asked.places[index]
        if any(each[0] == document and each[1] < end and start < each[2] for each in told):
            continue
        if asked.places[index] in asked.right_places:
            return len(told)
        told.append(asked.places[index])
        if len(told) == SHOWN:
            break
    return SHOWN


def fit_answerable(rows: Sequence[Row], penalty: float) -> tuple[Floats, float]:
    """Fit the logistic model on the questions for which the search found anything.

    Answers and others weigh as they are, since the model tells a chance and not only an order.
    """
    seen = [(name, row, label) for name, _, row, label in rows if row is not None]
    weight = np.array([weight_of(name) for name, _, _ in seen])
    return fit_logistic(np.array([row for _, row, _ in seen]), np.array([label for *_, label in seen]), weight, penalty)


def reader_weight_of(data_set: str) -> float:
    """Return what a question weighs in the reader's fit, where one of XQuAD's counts for one."""
    return 1.0 if data_set.startswith("xquad") else weight_of(data_set)


def weight_of(data_set: str) -> float:
    """Return what a question weighs: there are six times as many about prose without titles, headings or tables."""
    if data_set.startswith("development"):
        return 2.0
    return 1 / 3 if data_set.startswith(("xquad", "clapnq", "page", "article")) else 3.0


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
        here = names == name
        figures[name] = {
            "right": len(yes),
            "wrong": len(no),
            "auc": auc(yes, no),
            "error": calibration_error(chances[here], labels[here]),
            "at": points,
        }
    return figures


def unseen_answerable(rows: Sequence[Row], data_set: str, penalty: float) -> dict[str, float]:
    """Return how well one data set's answers are told from what is none by a model fitted on all the others."""
    fitted = fit_answerable([row for row in rows if row[0] != data_set], penalty)
    seen = [row for row in rows if row[0] == data_set]
    chances, labels = np.array([_chance(row[2], fitted) for row in seen]), np.array([label for *_, label in seen])
    return {"n": len(seen), "auc": auc(chances[labels], chances[~labels]), "error": calibration_error(chances, labels)}


def calibration_error(chances: Floats, labels: NDArray[np.bool_]) -> float:
    """Return the expected calibration error in ten bins of equal width."""
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    gaps = [abs(float((chances - labels)[bins == each].sum())) for each in range(BINS)]
    return round(sum(gaps) / len(chances), 4)


def _chance(row: Floats | None, fitted: tuple[Floats, float]) -> float:
    return 0.0 if row is None else float(expit(row @ fitted[0] + fitted[1]))


def _mean(values: Sequence[bool] | NDArray[np.bool_]) -> float:
    return round(float(np.mean(values)), 4)
