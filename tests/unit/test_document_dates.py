"""Which document is the newest of those that hold copies of a text, and what is told of their dates."""

from typing import Any

import pytest

from answers.document_dates import dated_copies
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
    told = dated_copies(segment("a", **{"title": "Plan", **own}), [segment("b", **{"title": "Old plan", **other})])
    assert told is not None
    date, dated_by, [copy] = told
    assert (date, copy["date"]) == dates
    assert bool(dated_by) == bool(copy["dated_by"]) == bool(date)


def test_a_copy_that_nothing_tells_from_another_is_not_told() -> None:
    same = [segment(name, "Plan", metadata={"date": "2026"}) for name in "abc"]
    assert dated_copies(same[0], same[1:]) is None
    older = [segment(name, "Plan", metadata={"date": "2025"}) for name in "de"]
    told = dated_copies(same[0], [*same[1:], *older])
    assert told is not None
    assert [copy["segment_id"] for copy in told[2]] == ["d:0"]
