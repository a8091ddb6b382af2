"""The bootstrap: bounds around means, questions drawn whole, and changes between two runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.bootstrap import Interval, Observations, balanced_difference, balanced_interval, interval, mean_interval

SHARES = st.integers(0, 4).map(lambda quarters: quarters / 4)
QUESTIONS = st.lists(st.lists(SHARES, max_size=4), min_size=1, max_size=30).filter(any)


def paired_difference(before: Observations, after: Observations) -> tuple[Interval, float]:
    """The change of a plain mean: of a single stratum."""
    return balanced_difference([before], [after])


@given(QUESTIONS)
def test_an_interval_holds_the_mean_of_all_observations(observations: list[list[float]]) -> None:
    found = interval(observations)
    values = [value for each in observations for value in each]
    assert found.mean == pytest.approx(sum(values) / len(values))
    assert min(values) - 1e-9 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= max(values) + 1e-9
    assert found.n == sum(map(bool, observations))


@given(QUESTIONS, st.integers(0, 5))
def test_the_same_seed_gives_the_same_interval(observations: list[list[float]], seed: int) -> None:
    assert interval(observations, seed=seed) == interval(observations, seed=seed)


def test_another_seed_draws_other_resamples() -> None:
    values = [n / 37 for n in range(37)]
    assert mean_interval(values, seed=1) != mean_interval(values, seed=2)


@given(QUESTIONS)
def test_questions_that_give_nothing_change_nothing(observations: list[list[float]]) -> None:
    assert interval([*observations, [], []]) == interval([each for each in observations if each])


def test_the_bounds_are_those_of_theory() -> None:
    values = [1.0] * 100 + [0.0] * 300  # standard error of the mean: sqrt(0.25 * 0.75 / 400) = 0.0217
    found = mean_interval(values)
    assert found.mean == 0.25
    assert found.low == pytest.approx(0.25 - 1.96 * 0.0217, abs=0.006)
    assert found.high == pytest.approx(0.25 + 1.96 * 0.0217, abs=0.006)


def test_the_observations_of_a_question_are_drawn_together() -> None:
    once = interval([[value] for value in (0.0, 1.0) * 20])
    ten_times = interval([[value] * 10 for value in (0.0, 1.0) * 20])
    apart = interval([[value] for value in (0.0, 1.0) * 200])
    assert ten_times == once  # ten citations of one answer are no ten samples
    assert ten_times.high - ten_times.low > 2 * (apart.high - apart.low)


def test_a_question_counts_by_how_much_it_gives() -> None:
    assert interval([[1.0, 1.0, 1.0], [0.0]]).mean == 0.75


def test_strata_weigh_the_same_whatever_their_size() -> None:
    answerable = [[1.0]] * 9 + [[0.0]] + [[]] * 2
    others: list[list[float]] = [[]] * 10 + [[0.0], [1.0]]
    found = balanced_interval([answerable, others])
    assert found.mean == pytest.approx((0.9 + 0.5) / 2)
    assert found.n == 12


def test_a_question_in_two_strata_is_drawn_whole() -> None:
    right_on_one_side = [[0.0], [1.0]] * 20
    opposite = [[1.0], [0.0]] * 20
    cancelling = balanced_interval([right_on_one_side, opposite])  # every question is right once of twice
    assert (cancelling.low, cancelling.mean, cancelling.high) == (0.5, 0.5, 0.5)


def test_quantiles_are_of_values_observed() -> None:
    values = [[float(n)] for n in range(1, 101)]
    assert interval(values, quantile=0.5).mean == 50.0
    found = interval(values, quantile=0.95)
    assert found.mean == 95.0
    assert 85 <= found.low < 95 < found.high <= 100
    assert interval([[3.0, 1.0], [], [2.0]], quantile=1.0).mean == 3.0


@pytest.mark.parametrize("quantile", [None, 0.5])
@pytest.mark.parametrize("observations", [[], [[]], [[], []]])
def test_nothing_has_no_mean(observations: list[list[float]], quantile: float | None) -> None:
    with pytest.raises(ValueError, match="nothing"):
        interval(observations, quantile=quantile)


def test_an_empty_stratum_has_no_mean() -> None:
    with pytest.raises(ValueError, match="nothing"):
        balanced_interval([[[1.0]], [[]]])


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=30))
def test_a_change_back_is_the_opposite_with_the_same_p_value(both: list[tuple[float, float]]) -> None:
    before, after = [[one] for one, _ in both], [[other] for _, other in both]
    forth, p_forth = paired_difference(before, after)
    back, p_back = paired_difference(after, before)
    assert p_forth == p_back
    assert forth.mean == pytest.approx(-back.mean)
    assert (forth.low, forth.high) == (pytest.approx(-back.high), pytest.approx(-back.low))


@given(QUESTIONS)
def test_a_run_differs_in_nothing_from_itself(observations: list[list[float]]) -> None:
    change, p_value = paired_difference(observations, observations)
    assert (change.mean, change.low, change.high, p_value) == (0.0, 0.0, 0.0, 1.0)


def test_pairing_shows_what_two_intervals_hide() -> None:
    random = np.random.default_rng(7)
    before = [[float(value)] for value in random.random(60)]
    after = [[value + 0.01] for (value,) in before]
    change, p_value = paired_difference(before, after)
    assert change.mean == pytest.approx(0.01)
    assert change.low > 0
    assert p_value == 1 / 1000
    assert interval(after).low < interval(before).high  # apart, nothing is to be seen


def test_chance_alone_is_told_from_a_change() -> None:
    before, after = [[0.0], [1.0]] * 30, [[1.0], [0.0]] * 30
    change, p_value = paired_difference(before, after)
    assert change.low < 0 < change.high
    assert p_value > 0.5


def test_quantiles_and_strata_can_be_compared() -> None:
    before = [[float(n)] for n in range(50)]
    slower = [[2.0 * n] for n in range(50)]
    change, p_value = balanced_difference([before], [slower], quantile=0.5)
    assert change.mean == 24.0
    assert p_value == 1 / 1000
    sparse = balanced_difference([[[1.0, 3.0], [], []]], [[[2.0, 4.0], [], []]], quantile=0.5)[0]
    assert (sparse.low, sparse.mean, sparse.high) == (1.0, 1.0, 1.0)
    half = balanced_difference([before, before], [before, slower])[0].mean
    assert half == pytest.approx(paired_difference(before, slower)[0].mean / 2)


def test_runs_over_other_questions_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="same questions"):
        paired_difference([[1.0]], [[1.0], [0.0]])
