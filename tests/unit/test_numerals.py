"""Numbers in the forms of lists, by the names that formats have for them."""

import pytest

from tools.parsers.numerals import in_form, letters


@pytest.mark.parametrize(
    ("number", "form", "shown"),
    [
        (4, "", "4"),
        (4, "disc", "4"),
        (4, "a", "d"),
        (28, "lower-alpha", "ab"),
        (28, "upperLetter", "BB"),
        (781, "upperLetter", "781"),
        (0, "lowerLetter", "0"),
        (-1, "lower-roman", "-1"),
        (1994, "upper-roman", "MCMXCIV"),
        (4000, "I", "4000"),
        (9, "i", "ix"),
        (7, "decimalZero", "07"),
        (21, "chineseCounting", "二十一"),
        (10, "japaneseCounting", "十"),
        (100, "taiwaneseCounting", "100"),
    ],
)
def test_a_number_is_shown_in_a_form(number: int, form: str, shown: str) -> None:
    assert in_form(number, form) == shown


def test_columns_go_on_after_z() -> None:
    assert [letters(number) for number in (1, 26, 27, 702, 703)] == ["a", "z", "aa", "zz", "aaa"]
