"""Titles of editions of one document are told from those of different things, and ordered by age."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.editions import are_editions, by_edition, day_of_edition, names_an_edition, states_edition


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Pool rules old", "Pool rules new"),
        ("Museum guide 2024", "Museum guide 2025"),
        ("Contract (draft)", "Contract (final)"),
        ("Handbook v1", "Handbook v2"),
        ("Handbook, version 9", "Handbook, version 10"),
        ("Relay 2.0 manual", "Relay 2.10 manual"),
        ("Safety sheet, 2nd edition", "Safety sheet, 3rd edition"),
        ("Price list, November 2024", "Price list, March 2025"),
        ("Price list 2024-03", "Price list 2024-11"),
        ("price_list_2024", "price_list_2025"),
        ("Hausordnung alt", "Hausordnung neu"),
        ("Nội quy hồ bơi cũ", "Nội quy hồ bơi mới"),
        ("借阅规则 旧版", "借阅规则 新版"),
    ],
)
def test_editions_are_ordered(older: str, newer: str) -> None:
    assert are_editions(older, newer)
    assert are_editions(newer, older)
    assert by_edition([older, newer]) == [1, 0]
    assert by_edition([newer, older]) == [0, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rules of building 4", "Rules of building 5"),
        ("Askvik ferry line", "Norholm ferry line"),
        ("Chapter 1: Ropes", "Chapter 2: Ropes"),
        ("Annual report 2023", "Annual report 2024"),
        ("Minutes, March 2024", "Minutes, May 2024"),
        ("New pool rules", "Indoor pool rules"),
        ("Museum guide 2024", "Museum guide v2"),
        ("清澜 A3 净水器", "清澜 A5 净水器"),
        ("Museum guide", "Museum guide"),
        ("Museum guide", "Museum guide 2025"),
        ("2024", "2025"),
        ("Relay 2.0 manual", "Relay 2 manual"),
    ],
)
def test_other_titles_are_no_editions(one: str, other: str) -> None:
    assert not are_editions(one, other)
    assert by_edition([one, other]) is None


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What port does Relay use?", False),
        ("What port does Relay 2.0 use?", True),
        ("What port does Relay 3 use?", True),
        ("What port does version 3 of Relay use?", True),
        ("What port do 3 relays use?", False),
        ("Which port is new?", False),
    ],
)
def test_a_question_names_an_edition(question: str, named: bool) -> None:
    assert names_an_edition(question, "Relay 2.0 manual", "Relay 3.0 manual") == named


def test_what_is_asked_of_the_old_rules_is_not_asked_of_the_new_ones() -> None:
    assert names_an_edition("When did the old pool open?", "Pool rules old", "Pool rules new")
    assert not names_an_edition("What are the current pool rules?", "Pool rules old", "Pool rules new")


@pytest.mark.parametrize(
    ("title", "day"),
    [
        ("Museum guide 2024", "2024"),
        ("Price list, March 2025", "2025-03"),
        ("Notice of 2024-03-05", "2024-03-05"),
        ("Notice of 2024-13-05", ""),
        ("Plan 9", ""),
    ],
)
def test_the_date_of_an_edition(title: str, day: str) -> None:
    assert day_of_edition(title) == day


WORDS = st.sampled_from(["rules", "old", "new", "2024", "2025-01", "v1", "2.0", "version", "3", "may", "2nd", "报告"])
TITLES = st.lists(WORDS, max_size=5).map(" ".join)


@given(st.lists(TITLES, min_size=2, max_size=4))
def test_the_order_holds_whichever_came_first(titles: list[str]) -> None:
    order = by_edition(titles)
    if order is None:
        return
    assert sorted(order) == list(range(len(titles)))
    other = by_edition(titles[::-1])
    assert other is not None
    assert [titles[at] for at in order] == [titles[::-1][at] for at in other]


@given(TITLES, TITLES)
def test_being_editions_is_mutual(one: str, other: str) -> None:
    assert are_editions(one, other) == are_editions(other, one)


def test_full_width_digits_within_chinese_name_an_edition() -> None:
    assert names_an_edition(
        "按照２０２４年的规定，最早能提前几天预约？", "入园须知（2025 年版）", "入园须知（2024 年版）"
    )


@pytest.mark.parametrize(
    ("said", "says", "only_that"),
    [("31 December 2024", "31 December 2025", True), ("3 days", "7 days", False), ("2025", "2024", False)],
)
def test_values_that_only_tell_which_edition_it_is(said: str, says: str, only_that: bool) -> None:
    assert states_edition("Museum guide 2024", "Museum guide 2025", said, says) == only_that
    assert not states_edition("Guide to the pool", "Guide to the gym", said, says)
