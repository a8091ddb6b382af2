"""Which sentences ask, and the labels of turns: by form alone, in any script."""

import sys
import unicodedata

import pytest

from text.shapes import is_question, label_of


@pytest.mark.parametrize(
    "text",
    [
        "How is it left?",
        "如何取消订阅？",
        "متى يفتح المكتب؟",
        "Πότε ανοίγει το γραφείο;",
        "Quel est le délai ?",
        "Really?!",
        "Is it so?[3]",
        "**Is it so?**",
        "> - Is it so?",
        "“Is it so?”",
        "Q: (Is it so?)",
        "Is it **so**?",
        "Do you use C++?",
        "Is it 5 €?",
        "Is it A and/or B ?",
    ],
)
def test_what_ends_in_a_question_mark_asks(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is so.",
        "¿Qué? Nada.",
        "One; two;",
        "It opens with “Who?”",
        "It sends `LIKE ?`",
        "It sends LIKE '?'",
        "The fee is 70 euros (or 85?)",
        "See https://x.example/find?",
        "Ask at /find?",
        "SELECT * WHERE a = ?",
        "The wildcard is *?",
        "It matches none or one: ?",
        "",
    ],
)
def test_a_mark_of_something_else_does_not_ask(text: str) -> None:
    assert not is_question(text)


def test_every_question_mark_of_unicode_asks() -> None:
    for letter in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.category(letter) == "Po" and "QUESTION" in (name := unicodedata.name(letter)):
            # These stand before what they ask, or within its word.
            assert is_question(f"a{letter}") != name.startswith(("INVERTED", "ARMENIAN", "ADLAM INITIAL")), name


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("Q: x", "q"),
        ("Q12. x", "q"),
        ("- **A:** x", "a"),
        ("问：x", "问"),
        ("[10:01] Agent Kim: x", "agent kim"),
        ("https://x.example", ""),
        ("12:30 x", ""),
        ("It is so", ""),
    ],
)
def test_a_short_label_opens_a_turn(line: str, label: str) -> None:
    assert label_of(line) == label
