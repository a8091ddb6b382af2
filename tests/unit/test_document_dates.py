"""Which document is the newest of those that hold copies of a text, and what is told of their dates."""

from dataclasses import replace
from typing import Any

import pytest

from answers.document_dates import age_of, dated_copies
from graph.evidence import Segment


def segment(name: str, title: str, **fields: Any) -> Segment:
    return Segment(name, 0, 0, 5, "Same.", title=title, **fields)


@pytest.mark.parametrize(
    ("own", "other", "dates"),
    [
        ({"metadata": {"Updated": "2026-05-01"}}, {"metadata": {"date": 2025}}, ("2026-05-01", "2025")),
        ({"title": "Plan of 6 May 2026"}, {"title": "2025 plan"}, ("2026-05-06", "2025")),
        ({"title": "Plan 2026-05"}, {"metadata": {"date": "2025"}}, ("2026-05", "2025")),
        ({"updated_at": "2026-05-01T09:00:00Z"}, {"updated_at": "2026-05-02T09:00:00Z"}, ("2026-05-01", "2026-05-02")),
        ({"updated_at": "2026-05-01T09:00:00Z"}, {"updated_at": "2026-05-01T10:00:00Z"}, ("", "")),
        ({"metadata": {"date": "2026"}}, {"metadata": {"date": "2026"}}, ("", "")),
        ({"title": "Plan 20261"}, {}, ("", "")),
    ],
)
def test_dates_are_told_where_they_differ(own: dict[str, Any], other: dict[str, Any], dates: tuple[str, str]) -> None:
    told = dated_copies(
        segment("a", **{"title": "Plan", **own}), [segment("b", **{"title": "Old plan", **other})], "Same."
    )
    assert told is not None
    date, dated_by, [copy] = told
    assert (date, copy["date"]) == dates
    assert bool(dated_by) == bool(copy["dated_by"]) == bool(date)


@pytest.mark.parametrize(
    ("best", "differs"), [("same", [False, False]), ("The\nsame", [True, False]), ("Ours", [True, True])]
)
def test_an_older_document_with_other_words_in_what_answers_differs(best: str, differs: list[bool]) -> None:
    older = [segment("b", "Plan 2025"), replace(segment("c", "Plan 2024"), text="The same, changed.")]
    told = dated_copies(segment("a", "Plan 2026"), older, best)
    assert told is not None
    assert [copy["differs"] for copy in told[2]] == differs


def test_what_was_stored_on_one_day_is_of_one_age() -> None:
    ages = [
        age_of(segment("a", "Plan", updated_at=f"2026-05-0{day}T{hour}:00:00Z"))
        for day, hour in ((1, 10), (1, 11), (2, 9))
    ]
    assert ages[0] == ages[1] < ages[2] < age_of(segment("a", "Plan", metadata={"date": "1999"}))


def test_a_copy_that_nothing_tells_from_another_is_not_told() -> None:
    same = [segment(name, "Plan", metadata={"date": "2026"}) for name in "abc"]
    assert dated_copies(same[0], same[1:], "Same.") is None
    older = [segment(name, "Plan", metadata={"date": "2025"}) for name in "de"]
    told = dated_copies(same[0], [*same[1:], *older], "Same.")
    assert told is not None
    assert [copy["segment_id"] for copy in told[2]] == ["d:0"]
