"""ASCII text takes a short way through the reader: it is read just as it is with one other letter behind it."""

from hypothesis import given
from hypothesis import strategies as st

from text.normal_forms import flatten
from text.words import comparable_text, indexed_words
from tools.claims.exact_forms import exact_form

BEYOND = "é"  # which no pattern here looks for
WORDS = (
    *("in 1984", "the 20th century", "20th", "2026", "12", "on Monday", "JUNE", "maybe", "September", "february 3rd"),
    *("because", "due to rain", "do", "does", "Since then", "in order to win", "so that", "snake_case", "don't"),
)
PIECES = st.sampled_from((*WORDS, " ", "  ", "\n", "\t", "\x1c", "_", "-", ".", "'", "\\", "\x00"))
TEXTS = st.lists(PIECES | st.text(st.characters(max_codepoint=127), max_size=6), max_size=12).map("".join)


@given(TEXTS)
def test_a_text_is_flattened_and_split_alike(text: str) -> None:
    flat = flatten(text)
    assert flatten(f"{text} {BEYOND}") == " ".join(["", *flat.split(), BEYOND, ""])
    assert flat == f" {' '.join(flat.split())} "
    alone, behind = comparable_text(text), comparable_text(f"{text} {BEYOND}")
    assert (*alone.terms, BEYOND) == behind.terms
    assert [*indexed_words(text.lower()), BEYOND] == indexed_words(f"{text.lower()} {BEYOND}")
    assert (*exact_form(f"{text} x"), BEYOND) == exact_form(f"{text} x {BEYOND}")
