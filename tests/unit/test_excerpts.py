"""Excerpts of sources: at most 500 characters, of a cited one around what is quoted."""

from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from answers.citations import EXCERPT_CHARACTERS, excerpt_around, excerpt_of_quote
from graph.evidence import Citation

BEFORE, AFTER = "Much else is said here. " * 40, "And much more is said there. " * 40
QUOTE = "Every employee gets 25 days\nof annual leave a year."


def citation(text: str, quote: str, highlight: str | None = None) -> Citation:
    start = 1000 + text.index(quote)
    made: dict[str, Any] = {"start": start, "end": start + len(quote), "quote": quote}
    if highlight is not None:
        at = start + quote.index(highlight)
        made["highlight"] = {"start": at, "end": at + len(highlight)}
    return cast(Citation, made)


def test_a_cited_source_shows_its_quote_with_text_on_both_sides() -> None:
    text = BEFORE + QUOTE + " " + AFTER
    shown = excerpt_of_quote(citation(text, QUOTE), text, 1000)
    assert " ".join(QUOTE.split()) in shown
    assert shown.startswith("...")
    assert shown.endswith("...")
    assert 400 < len(shown) <= EXCERPT_CHARACTERS
    assert abs(shown.index("Every") - (len(shown) - shown.index("a year."))) < 60


def test_what_stands_at_an_end_of_the_segment_is_cut_on_one_side_alone() -> None:
    first = excerpt_of_quote(citation(QUOTE + " " + AFTER, QUOTE), QUOTE + " " + AFTER, 1000)
    assert first.startswith("Every employee")
    assert first.endswith("...")
    last = excerpt_of_quote(citation(BEFORE + QUOTE, QUOTE), BEFORE + QUOTE, 1000)
    assert last.startswith("...")
    assert last.endswith("a year.")


def test_of_a_long_passage_the_excerpt_shows_the_highlight() -> None:
    passage = BEFORE + QUOTE + " " + AFTER
    shown = excerpt_of_quote(citation(passage, passage, QUOTE), passage, 1000)
    assert " ".join(QUOTE.split()) in shown
    assert len(shown) <= EXCERPT_CHARACTERS


@given(st.text("ab 滤，\n", max_size=90), st.integers(0, 90), st.integers(0, 90), st.integers(12, 60))
def test_an_excerpt_is_never_longer_than_it_may_be(text: str, start: int, length: int, limit: int) -> None:
    start = min(start, len(text))
    shown = excerpt_around(text, start, min(start + length, len(text)), limit)
    assert len(shown) <= limit
    flat = " ".join(text.split())
    assert shown.removeprefix("...").removesuffix("...") in flat
    assert (shown == flat) == (len(flat) <= limit)
