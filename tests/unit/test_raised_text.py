"""Raised and lowered text never becomes part of the number or word before it."""

import pytest

from tools.parsers.raised_text import lowered, raised


@pytest.mark.parametrize(
    ("before", "mark", "after", "line"),
    [
        ("10", "6", "", "10^6"),
        ("10", "−4", "", "10^−4"),
        ("m", "2", "", "m^2"),
        ("(a+b)", "2", "", "(a+b)^2"),
        ("2", "n", "", "2^n"),
        ("10", "n+1", "", "10^(n+1)"),
        ("10", "2^3", "", "10^(2^3)"),
        ("10", "6", "5", "10^6 "),
        ("1024", "3", "", "1024^3"),
        ("rent of 1200", "3", "", "rent of 1200 [3]"),
        ("1,250.00", "2", "", "1,250.00 [2]"),
        ("2019", "1", "", "2019 [1]"),
        ("2019", "-1", "", "2019^-1"),
        ("founded", "1", "", "founded [1]"),
        ("the dam.", "12", "", "the dam. [12]"),
        ("known", "1,2", "", "known [1,2]"),
        ("1998", "1)", "", "1998 1)"),
        ("1200", "[3]", "", "1200 [3]"),
        ("1", "st", "", "1st"),
        ("2", "e", "", "2e"),
        ("price", "*", "", "price*"),
        ("1", "1", "/2", "1 1"),
        ("", "1", "⁄2", "1"),
    ],
)
def test_raised_text_stays_apart(before: str, mark: str, after: str, line: str) -> None:
    assert before + raised(before, mark, after=after) == line


def test_a_note_that_the_file_names_is_one_behind_a_number_too() -> None:
    assert "1200" + raised("1200", "3", is_note=True) == "1200 [3]"


@pytest.mark.parametrize(
    ("before", "mark", "after", "line"),
    [
        ("CO", "2", "", "CO2"),
        ("(OH)", "2", "", "(OH)2"),
        ("10", "2", "", "10_2"),
        ("log", "10", "100", "log_10 "),
        ("x", "i", "", "x_i"),
        ("1/", "2", "", "1/2"),
    ],
)
def test_lowered_text_stays_apart(before: str, mark: str, after: str, line: str) -> None:
    assert before + lowered(before, mark, after=after) == line
