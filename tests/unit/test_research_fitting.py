"""The small models that the extractive family is fitted with, and how small talk is recognised."""

import numpy as np

from research.fitting.cross_validation import auc, fold_of, reader_figures
from research.fitting.small_models import CandidateList, evenly, fit_logistic, fit_softmax
from research.small_talk_measurement import load_lines, run_small_talk


def questions(count: int, seed: int) -> list[CandidateList]:
    """Make questions whose right candidate has the largest first feature; the second is noise."""
    chance = np.random.default_rng(seed)
    rows = [chance.normal(size=(6, 2)) for _ in range(count)]
    places = tuple(("page", at, at + 1) for at in range(6))
    return [
        CandidateList(
            "made",
            f"group-{n % 7}",
            row,
            row[:, 0] == row[:, 0].max(),
            places=places,
            right_places=frozenset({places[int(row[:, 0].argmax())]}),
        )
        for n, row in enumerate(rows)
    ]


def test_the_softmax_learns_which_feature_tells() -> None:
    telling, noise = fit_softmax(questions(200, 1), 1.0)
    assert telling > 10 * abs(noise)
    figures, folds = reader_figures(questions(200, 2), 1.0, 4)
    assert figures["made"]["top1"] > 0.95
    assert len(folds) == 4


def test_the_logistic_model_weighs_small_and_large_data_sets_alike() -> None:
    chance = np.random.default_rng(3)
    rows = np.concatenate([chance.normal(0, 1, (400, 1)), chance.normal(5, 1, (40, 1))])
    labels = np.concatenate([rows[:400, 0] > 0, rows[400:, 0] > 5])
    names = ["large"] * 400 + ["small"] * 40
    weights, intercept = fit_logistic(rows, labels, evenly(labels, names), 1.0)
    assert 1.0 < -intercept / weights[0] < 4.0  # the boundary lies between the two sets' own


def test_a_group_stays_in_its_fold_and_ties_count_half() -> None:
    assert fold_of("Normans", 6) == fold_of("Normans", 6) in range(6)
    assert auc(np.array([0.5, 0.9]), np.array([0.5, 0.1])) == 0.875


def test_the_lines_are_balanced_in_every_language() -> None:
    lines = load_lines()
    for language in ("en", "zh", "vi"):
        counts = [
            sum(line.language == language and line.label == label for line in lines)
            for label in ("question", "small_talk")
        ]
        assert counts[0] == counts[1] >= 33
    assert len(lines) == len({line.text for line in lines}) == 200


async def test_small_talk_is_told_from_questions() -> None:
    report = await run_small_talk()
    assert report["accuracy"] >= 0.97
    assert report["held"]["lines"] + report["tuned"]["lines"] == 200
