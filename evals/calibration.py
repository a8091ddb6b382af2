"""Calibration of answerhood: of the answers given with a stated chance of answering the question, how many did.

Only answers that can be told right from wrong are counted: those to questions with known evidence, right where a shown
passage holds it, and those to questions that have no answer, which are wrong. Refusals state no chance.
"""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from typing_extensions import TypedDict

from evals.bootstrap import auc
from evals.metrics.passage_metrics import has_gold, shows_gold
from evals.records import Record

BINS = 10


class ReliabilityBin(TypedDict):
    """The answers whose stated chance is from ``low`` on and below ``high``; the last bin includes 1."""

    low: float
    high: float
    answers: int
    stated: float
    right: float


class Calibration(TypedDict):
    """How stated chances agree with what was right.

    ``error`` is the expected calibration error: the mean distance of the bins' stated chance from their share that was
    right, weighted by their answers (Naeini et al. 2015). ``auroc`` is the chance that a right answer states more than
    a wrong one; None where all were right or all wrong.
    """

    answers: int
    stated: float
    right: float
    error: float
    auroc: float | None
    bins: list[ReliabilityBin]


def calibration_of(records: Sequence[Record]) -> Calibration | None:
    """Compare the stated chances of the answers that can be judged with whether they are right; None without any."""
    judged = [
        (chance, has_gold(record) and shows_gold(record))
        for record in records
        if (chance := record.get("answerhood")) is not None and _can_be_judged(record)
    ]
    if not judged:
        return None
    chances, right = np.array([chance for chance, _ in judged]), np.array([was for _, was in judged])
    bins = _bins(judged)
    error = sum(each["answers"] * abs(each["stated"] - each["right"]) for each in bins) / len(judged)
    return Calibration(
        answers=len(judged),
        stated=round(float(chances.mean()), 4),
        right=round(float(right.mean()), 4),
        error=round(error, 4),
        auroc=auc(chances[right], chances[~right]) if 0 < right.sum() < len(right) else None,
        bins=bins,
    )


def _can_be_judged(record: Record) -> bool:
    return record["outcome"] == "answered" and (record["expected"] == "abstained" or has_gold(record))


def _bins(judged: Sequence[tuple[float, bool]]) -> list[ReliabilityBin]:
    """Return the bins that hold an answer, in order."""
    by_place: dict[int, list[tuple[float, bool]]] = {}
    for chance, was_right in judged:
        by_place.setdefault(min(BINS - 1, int(chance * BINS)), []).append((chance, was_right))
    return [
        ReliabilityBin(
            low=place / BINS,
            high=(place + 1) / BINS,
            answers=len(held),
            stated=round(fmean(chance for chance, _ in held), 4),
            right=round(fmean(was_right for _, was_right in held), 4),
        )
        for place, held in sorted(by_place.items())
    ]
