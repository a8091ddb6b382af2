"""The content words of a question."""

import pytest

from tools.rules.question_terms import content_words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Who attended the meeting on 6 May 2026?", ["attended", "meeting", "6", "May", "2026"]),
        ("What changed in May 2025?", ["changed", "May", "2025"]),
        ("May I bring 2 dogs?", ["bring", "2", "dogs"]),
        ("How may I pay 5 euros?", ["pay", "5", "euros"]),
    ],
)
def test_a_month_is_a_content_word_though_it_is_written_as_a_verb(question: str, words: list[str]) -> None:
    assert content_words(question) == words
