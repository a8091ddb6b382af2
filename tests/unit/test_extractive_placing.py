"""A sentence is read in its place: what stands around it, and what it adds to that."""

import numpy as np
import pytest

from graph.evidence import Hit, Segment
from tools.extractive.context_features import CONTEXT_FEATURES, SentenceContext, find_contexts
from tools.extractive.reader import rank_sentences, reader_input
from tools.extractive.similarity import cover_beyond
from tools.rules.candidate_sentences import candidate_sentences

TIMETABLE = """The boat takes 55 minutes.

# Fares

| passenger | one way |
|---|---|
| adult | 13 euros |

Dogs travel free of charge.

| pass | price |
|---|---|
| week | 40 euros |
"""


def segment(text: str, document: str = "d", index: int = 0, title: str = "", heading: str = "") -> Segment:
    return Segment(document, index, 0, len(text), text, title=title, heading=heading)


def around(*segments: Segment) -> dict[str, SentenceContext]:
    pool = candidate_sentences(segments)
    found = find_contexts(segments, pool)
    return {candidate.text: found.contexts[place] for candidate, place in zip(pool, found.of_candidate, strict=True)}


def column(name: str, question: str, *segments: Segment) -> list[float]:
    seen = reader_input(question, [Hit(each, 0.8, "search") for each in segments])
    assert seen is not None
    return [float(value) for value in seen.found.column(name)]


def first(question: str, *segments: Segment) -> str:
    return rank_sentences(question, [Hit(each, 0.8, "search") for each in segments]).candidates[0].text


def test_a_sentence_stands_below_its_title_heading_and_header_row() -> None:
    found = around(segment(TIMETABLE, title="Norholm line", heading="Timetable"))
    assert found["The boat takes 55 minutes."] == ("Norholm line", "Timetable", "")
    assert found["Dogs travel free of charge."] == ("Norholm line", "# Fares", "")
    rows = {text: place.header for text, place in found.items() if "|" in text}
    assert rows == {
        "| passenger | one way |": "",
        "| adult | 13 euros |": "| passenger | one way |",
        "| pass | price |": "",
        "| week | 40 euros |": "| pass | price |",
    }
    assert found["| adult | 13 euros |"].text == "Norholm line # Fares | passenger | one way |"


def test_a_segment_begins_below_its_own_heading_and_no_table() -> None:
    found = around(
        segment("# Fares\n\n| adult | 13 euros |", heading="Timetable"),
        segment("| dog | free |", index=1, heading="Pets"),
    )
    assert found["| dog | free |"] == ("", "Pets", "")


def test_places_that_are_the_same_are_kept_once() -> None:
    segments = [segment("It is red. It is old. It is tall.", title="The lighthouse")]
    found = find_contexts(segments, candidate_sentences(segments))
    assert found.contexts == (SentenceContext("The lighthouse", "", ""),)
    assert found.of_candidate.tolist() == [0, 0, 0]


def test_cover_beyond_counts_only_what_is_not_told_already() -> None:
    weight = np.array([1.0, 2.0, 3.0])
    held = np.array([[True, True, False], [True, False, False], [False, False, True]])
    told = np.array([[True, False, True], [False, False, True], [False, False, True]])
    assert cover_beyond(weight, held, told).tolist() == pytest.approx([2 / 5, 1 / 6, 0.0])


def test_every_placed_feature_is_within_its_bounds() -> None:
    question = "How much is the adult fare of the Norholm line in 2025?"
    for name in CONTEXT_FEATURES:
        low = -1.0 if name.startswith("likeness") else 0.0
        assert all(low <= value <= 1.0 for value in column(name, question, segment(TIMETABLE, title="Norholm line")))


def test_the_title_says_which_of_two_alike_sentences_is_meant() -> None:
    norholm = segment("The crossing takes 55 minutes.", "a", title="The Norholm ferry")
    askvik = segment("The crossing takes 20 minutes.", "b", title="The Askvik ferry")
    assert first("How long does the Norholm ferry take?", askvik, norholm) == "The crossing takes 55 minutes."
    assert first("How long does the Askvik ferry take?", norholm, askvik) == "The crossing takes 20 minutes."


def test_the_header_row_says_what_a_row_is_about() -> None:
    table = "passenger | one way | return\nadult | 13 euros | 22 euros\nchild | 6 euros | 10 euros"
    assert first("How much does a child pay for a return?", segment(table)) == "child | 6 euros | 10 euros"


def test_a_number_is_missing_where_neither_sentence_nor_surroundings_hold_it() -> None:
    texts = [
        segment("Entry is 4 euros.", "a", title="Rules 2024"),
        segment("Entry is 5 euros.", "b", title="Rules 2025"),
        segment("In 2025 entry is 5 euros.", "c"),
    ]
    assert column("numbers_missing", "How much is entry in 2025?", *texts) == [1.0, 0.0, 0.0]
    assert column("numbers_missing", "How much is entry?", *texts) == [0.0, 0.0, 0.0]


def test_a_name_may_stand_anywhere_in_what_was_read_of_the_document() -> None:
    texts = [
        segment("The harbour is deep. It was dug by hand.", "a"),
        segment("Gull Island is small.", "a", index=1),
        segment("The harbour is shallow.", "b"),
    ]
    assert column("names_missing", "How deep is the harbour of Gull Island?", *texts) == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("ngon hai dang duoc xay nam nao", "Ngọn hải đăng được xây vào năm 1898."),
        ("den quay mot vong trong bao lau", "Đèn quay một vòng trong mười hai giây."),
    ],
)
def test_a_question_without_accents_finds_sentences_with_them(question: str, answer: str) -> None:
    text = "Đảo rất đẹp. Ngọn hải đăng được xây vào năm 1898. Đèn quay một vòng trong mười hai giây. Du khách thích nó."
    assert first(question, segment(text)) == answer


def test_a_question_with_accents_is_held_to_them() -> None:
    covers = column("small_grams", "Giá của bàn là bao nhiêu?", segment("Giá bàn ở đây. Gia ban o day."))
    assert covers[0] > covers[1]
