"""Dates in all their forms are one date, and their digits are no numbers of their own."""

from collections.abc import Iterator

import pytest

from research.spelling_pairs import UNSEEN, Pair, load_pairs
from text import dates
from text.dates import dates_of, parts_of_date
from tools.extractive.question_analysis import numbers_asked, numbers_in


@pytest.mark.parametrize(
    "text",
    [
        *("6 May 2026", "May 6, 2026", "the 6th of May 2026", "Wednesday, 6 May 2026, 10:00", "2026-05-06", "6.5.2026"),
        *("06/05/2026", "2026年5月6日", "ngày 6 tháng 5 năm 2026", "ngày 6/5/2026"),
    ],
)
def test_a_date_is_the_same_in_all_its_forms(text: str) -> None:
    assert [date for date, _, _ in dates_of(text)] == ["2026-05-06"]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on 16 October and from May 2026", ["10-16", "2026-05"]),
        ("07/19/2025", ["2025-07-19"]),
        ("5月6日", ["05-06"]),
        ("may 7 people attend, or 12 march on?", ["05-07", "03-12"]),
        ("version 3.11.2 of 45 rooms at 12:30", []),
        ("31.31.2025", []),
    ],
)
def test_what_is_not_told_of_a_date_is_left_out(text: str, dates: list[str]) -> None:
    assert sorted(date for date, _, _ in dates_of(text)) == sorted(dates)


def test_a_whole_date_answers_for_its_parts() -> None:
    assert parts_of_date("2026-05-06") == {"2026-05-06", "05-06", "2026-05", "2026"}
    assert parts_of_date("05-06") == {"05-06"}


def test_the_digits_of_a_date_are_no_number() -> None:
    assert numbers_asked("Who was in room 20 on 6 May 2026?") == {"20", "2026-05-06"}
    assert "20" not in numbers_in("Minutes of 20 May 2026")
    assert numbers_asked("When did 2026 begin?") <= numbers_in("It began on 2026-01-01.")
    assert numbers_asked("on 16 October") <= numbers_in("Thursday 16 October 2025, six sockets")


@pytest.fixture
def without_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    derived = [each for each in vars(dates).values() if hasattr(each, "cache_clear") and each is not dates.months]
    monkeypatch.setattr(dates, "months", dict)
    for each in derived:
        each.cache_clear()
    yield
    for each in derived:
        each.cache_clear()


def agreed() -> float:
    """Return the share of pairs by another author whose question and answer have a date in common."""
    pairs = [each for each in load_pairs(UNSEEN) if each.kind == "date"]
    return sum(map(_agree, pairs)) / len(pairs)


def _agree(pair: Pair) -> bool:
    asked, told = [
        {part for date, _, _ in dates_of(text) for part in parts_of_date(date)}
        for text in (pair.question, " ".join(pair.documents[0]))
    ]
    return not asked.isdisjoint(told)


def test_the_names_of_months_gain_what_a_list_of_words_has_to(request: pytest.FixtureRequest) -> None:
    by_names = agreed()
    request.getfixturevalue("without_names")
    assert by_names - agreed() >= 0.03
