"""What the lists of words gain on lines whose author had not seen them: a list that is dropped loses its points."""

import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tools.rules import library_questions, small_talk_rules
from tools.rules.library_questions import library_question, library_words
from tools.rules.small_talk_rules import Phrases, small_talk, small_talk_phrases

LINES = Path(__file__).parents[1] / "fixtures" / "unseen_lines.toml"
LANGUAGES = ("en", "vi", "zh")
LANGUAGES_OF_WORDS = ("en", "zh", "vi")  # in the order of their tables
NOTHING = re.compile("(?!)")
FEWEST_POINTS = 3  # of a hundred, that a list has to gain in each language


@cache
def lines(kind: str, language: str) -> list[str]:
    """Return the lines of a kind: ``library``, ``orders``, ``mentions``, ``talk`` or ``contents``."""
    parts = tomllib.loads(LINES.read_text("utf-8"))[kind].values()
    return [line for part in parts for line in part[language]["lines"].split("\n") if line]


def share(told: Callable[[str], object], kind: str, language: str) -> float:
    """Return how many of a hundred lines are told."""
    small_talk.cache_clear()
    of = lines(kind, language)
    return 100 * sum(told(line) is not None for line in of) / len(of)


@pytest.mark.parametrize(("language", "least"), [("en", 65), ("vi", 65), ("zh", 58)])
def test_questions_about_the_library_are_told_by_their_words(
    language: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert share(library_question, "library", language) >= least
    at = list(LANGUAGES_OF_WORDS).index(language)
    rest = tuple(words for place, words in enumerate(library_words()) if place != at)
    monkeypatch.setattr(library_questions, "library_words", lambda: rest)
    assert share(library_question, "library", language) <= least - FEWEST_POINTS


@pytest.mark.parametrize(
    ("kind", "asks", "language", "least"),
    [
        ("orders", "edit", "en", 80),
        ("orders", "edit", "vi", 95),
        ("orders", "edit", "zh", 90),
        *(("mentions", "mention", language, 80) for language in LANGUAGES),
    ],
)
def test_orders_and_what_documents_mention_are_told_by_their_patterns(
    kind: str, asks: str, language: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(line: str) -> object:
        found = library_question(line)
        return found if found is not None and found["asks"] == asks else None

    assert share(told, kind, language) >= least
    at = list(LANGUAGES_OF_WORDS).index(language)
    whole = library_words()
    untold: dict[str, Any] = {asks: ()}
    without = tuple(replace(words, **untold) if place == at else words for place, words in enumerate(whole))
    monkeypatch.setattr(library_questions, "library_words", lambda: without)
    assert share(told, kind, language) <= least - FEWEST_POINTS


@pytest.mark.parametrize(("language", "least"), [("en", 90), ("vi", 79), ("zh", 80)])
def test_small_talk_is_told_by_each_kind_of_its_phrases(
    language: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = small_talk_phrases()
    whole = share(small_talk, "talk", language)
    assert whole >= least
    for place, (kind, _) in enumerate(full[language].patterns):
        left = list(full[language].patterns)
        left[place] = (kind, NOTHING)
        without = {**full, language: Phrases(tuple(left))}
        monkeypatch.setattr(small_talk_rules, "small_talk_phrases", lambda without=without: without)
        assert share(small_talk, "talk", language) <= whole - FEWEST_POINTS, kind


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_for_the_contents_are_neither(language: str) -> None:
    assert share(library_question, "contents", language) == share(small_talk, "contents", language) == 0
