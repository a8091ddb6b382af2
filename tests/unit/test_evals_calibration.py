"""Whether the chance that answers state agrees with how many of them are right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.calibration import calibration_of
from evals.records import Record
from tests.evals_records import FARE, citation, claim, failed, record, refused


def right(chance: float | None, case_id: str = "right") -> Record:
    return record(case_id, answerhood=chance)


def wrong(chance: float | None, case_id: str = "wrong") -> Record:
    return record(case_id, claims=[claim(FARE, citation(FARE, sentences=[1]))], answerhood=chance)


def test_answers_are_counted_in_bins_of_a_tenth() -> None:
    found = calibration_of([right(0.91), right(0.95), wrong(0.93), wrong(0.52), right(1.0)])
    assert found is not None
    assert [(each["low"], each["high"], each["answers"]) for each in found["bins"]] == [(0.5, 0.6, 1), (0.9, 1.0, 4)]
    assert (found["bins"][1]["stated"], found["bins"][1]["right"]) == (0.9475, 0.75)
    assert found["error"] == pytest.approx((0.52 + 4 * (0.9475 - 0.75)) / 5, abs=1e-4)
    assert (found["answers"], found["right"]) == (5, 0.6)


def test_auroc_is_the_chance_that_a_right_answer_states_more() -> None:
    found = calibration_of([right(0.9), right(0.6), wrong(0.7)])
    assert found is not None
    assert found["auroc"] == 0.5
    alone = calibration_of([right(0.9)])
    assert alone is not None
    assert alone["auroc"] is None


def test_an_answer_to_what_has_none_is_wrong() -> None:
    found = calibration_of([record(expected="abstained", evidence=[], answers=[], answerhood=0.8)])
    assert found is not None
    assert found["right"] == 0


def test_what_states_no_chance_or_cannot_be_judged_is_left_out() -> None:
    assert calibration_of([]) is None
    assert calibration_of([right(None), record("old"), refused(answerhood=None), failed()]) is None
    assert calibration_of([record(evidence=[], answerhood=0.9), record(expected="either", answerhood=0.9)]) is None


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_bins_hold_every_answer_and_errors_are_shares(answers: list[tuple[float, bool]]) -> None:
    found = calibration_of([(right if was else wrong)(chance) for chance, was in answers])
    assert found is not None
    assert sum(each["answers"] for each in found["bins"]) == len(answers)
    assert 0 <= found["error"] <= 1
    assert all(each["low"] <= each["stated"] <= each["high"] for each in found["bins"])
