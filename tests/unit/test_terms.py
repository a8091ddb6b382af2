"""The terms of the lexical index: the same for every spelling of a word, and weighted as BM25 weights them."""

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.terms import (
    INNER_WEIGHT,
    K1,
    MEAN_LENGTH,
    MOST_WORDS,
    SIDE_WEIGHT,
    TITLE_COUNT,
    UNSPACED_TERM,
    B,
    split_words,
    weigh_question,
    weigh_segment,
)

ANY_TEXT = st.text(max_size=200)
PROSE = st.lists(
    st.sampled_from(["lamp", "Lighthouse", "hải", "đăng", "灯塔的灯", "каждый", "12", "naïve", "หอประภาคาร", "कीपर"]),
    max_size=12,
).map(" ".join)


def terms(text: str) -> set[int]:
    return set(weigh_segment(text).ids.tolist())


def matched(question: str, text: str) -> float:
    """Sum the weights of the question's terms that the text holds."""
    asked, held = weigh_question(question), terms(text)
    return float(sum(w for t, w in zip(asked.ids.tolist(), asked.weights.tolist(), strict=True) if t in held))


@given(ANY_TEXT, ANY_TEXT)
def test_ids_ascend_within_the_term_space(text: str, title: str) -> None:
    vector = weigh_segment(text, title=title)
    assert vector.ids.dtype == np.int32
    assert (np.diff(vector.ids) > 0).all()
    assert all(1 <= term <= UNSPACED_TERM for term in vector.ids.tolist())
    assert ((vector.weights > 0) & (vector.weights < K1 + 1)).all()
    assert len(vector.ids) == len(vector.weights)


@given(ANY_TEXT)
def test_a_question_finds_every_term_that_it_expects_in_itself(text: str) -> None:
    asked, held = weigh_question(text), terms(text)
    assert {t for t, e in zip(asked.ids.tolist(), asked.expected.tolist(), strict=True) if e > 0} <= held
    assert (np.diff(asked.ids) > 0).all()
    assert set(asked.weights.tolist()) <= {1.0, SIDE_WEIGHT, np.float32(INNER_WEIGHT)}


@given(st.one_of(ANY_TEXT, PROSE), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_the_form_of_a_character_does_not_matter(text: str, form: str) -> None:
    assert split_words(unicodedata.normalize(form, text)) == split_words(unicodedata.normalize("NFKC", text))


@given(PROSE)
def test_case_does_not_matter(text: str) -> None:
    assert terms(text.upper()) == terms(text.lower()) == terms(text)


@given(PROSE, PROSE)
def test_more_text_loses_no_word(first: str, second: str) -> None:
    assert set(split_words(first)) <= set(split_words(f"{first} {second}"))
    assert terms(first) <= terms(f"{first} {second}")


def test_weights_are_those_of_bm25() -> None:
    vector = weigh_segment("lamp lamp tower")
    [lamp] = weigh_question("lamp").ids[weigh_question("lamp").expected > 0].tolist()
    norm = K1 * (1 - B + B * 3 / MEAN_LENGTH)
    at = vector.ids.tolist().index(lamp)
    assert vector.weights[at] == pytest.approx(2 * (K1 + 1) / (2 + norm), rel=1e-5)


def test_remembered_words_do_not_grow_with_the_library() -> None:
    def weigh_new_words(first: int) -> int:
        for start in range(first, first + MOST_WORDS, 128):
            weigh_segment(" ".join(f"wört{number} lamp{number}" for number in range(start, start + 128)))
        return sys.getallocatedblocks()

    full = weigh_new_words(0)
    assert weigh_new_words(MOST_WORDS) - full < MOST_WORDS


def test_a_title_counts_among_the_terms_and_in_the_length() -> None:
    with_title = weigh_segment("tower", title="lamp")
    by_hand = weigh_segment("tower " + "lamp " * TITLE_COUNT)
    assert with_title.ids.tolist() == by_hand.ids.tolist()
    np.testing.assert_allclose(with_title.weights, by_hand.weights)
    assert terms("tower lamp") == set(weigh_segment("tower", heading="lamp").ids.tolist())


def test_endings_are_bridged_by_prefixes() -> None:
    assert matched("produced", "production") == SIDE_WEIGHT
    assert matched("tower", "towel") == 0


def test_accents_tell_words_apart_unless_the_question_has_none() -> None:
    assert matched("người", "người ngươi") > matched("người", "ngươi nguoi") == 0
    assert matched("nguoi dan", "người dân") == 2
    assert matched("dao", "đảo") == 1
    assert matched("nguoi dân", "người dan") == 0


def test_adjacent_syllables_count_as_pairs() -> None:
    assert matched("hải đăng", "ngọn hải đăng") > matched("hải đăng", "đăng trên biển hải")


def test_scripts_without_spaces_match_by_bigrams() -> None:
    assert matched("灯塔", "这座灯塔的灯") == 1
    assert matched("塔灯", "这座灯塔的灯") == 0
    assert matched("灯", "灯") == 1
    assert matched("ประภาคาร", "หอประภาคารเก่า") > 5
    # Three bigrams, half of which any match may lack; the word; and its folded copy, which none needs to hold.
    assert sorted(weigh_question("灯塔的灯 lamp").expected.tolist()) == [0.0, 0.5, 0.5, 0.5, 1.0]


def test_vowel_signs_stay_in_their_words() -> None:
    assert split_words("कीपर ने दीपक जलाया") == ["कीपर", "ने", "दीपक", "जलाया"]


@pytest.mark.parametrize("text", ["", "  \n", "?!…", "🙂", "___", "\u0301"])
def test_what_holds_no_word_has_few_terms(text: str) -> None:
    assert len(weigh_segment(text).ids) <= 1
    assert len(weigh_question(text).ids) <= 2


@pytest.mark.parametrize(
    ("text", "unspaced"),
    [
        ("the lamp", False),
        ("ngọn hải đăng", False),
        ("灯塔", True),
        ("the 灯塔 lamp", True),
        ("หอประภาคาร", True),
        ("등대", True),
    ],
)
def test_a_segment_tells_whether_it_is_of_a_script_without_spaces(text: str, unspaced: bool) -> None:
    assert (UNSPACED_TERM in terms(text)) is unspaced
    assert UNSPACED_TERM not in terms("the lamp") | set(weigh_segment("the lamp", title="灯塔").ids.tolist())
    assert UNSPACED_TERM not in weigh_question(text).ids.tolist()


@pytest.mark.parametrize(
    ("question", "asking", "telling"),
    [("灯塔叫什么名字", "什么", "灯塔"), ("灯台はどこですか", "どこ", "灯台"), ("谁建了灯塔", "谁建", "灯塔")],
)
def test_what_asks_weighs_less_than_what_is_asked_about(question: str, asking: str, telling: str) -> None:
    asked = weigh_question(question)
    weights = dict(zip(asked.ids.tolist(), asked.weights.tolist(), strict=True))
    assert weights[weigh_question(telling).ids.tolist()[0]] == 1.0
    [bigram] = terms(asking) - {UNSPACED_TERM}
    assert weights[bigram] == SIDE_WEIGHT
