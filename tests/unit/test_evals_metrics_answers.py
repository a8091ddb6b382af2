"""Gold answers in what was answered, in three scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import figures
from evals.metrics.answer_metrics import ANSWERS, contains, folded, token_f1, words
from evals.records import Record
from tests.evals_records import bare

TEXT = st.text(alphabet="abC 1é，。北京市\n", max_size=20)


def means(*records: Record) -> dict[str, float]:
    return {name: figure["mean"] for name, figure in figures(records, ANSWERS).items()}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It is the Cedar  Bridge.", "cedar bridge"),
        ("Nó nằm ở Hà Nội.", "ha\u0300 no\u0323\u0302i"),  # composed and decomposed letters
        ("它在 北 京 市。", "北京"),
        ("共有１２座桥。", "12 座"),
        ("finished in\n1911", "in 1911"),
    ],
)
def test_case_width_and_space_are_folded(text: str, answer: str) -> None:
    assert contains(text, [answer])
    assert contains(text, ["nowhere", answer])


def test_other_strings_are_not_contained() -> None:
    assert not contains("It is the Cedar Bridge.", ["Cedar Lane", "cedarbridge"])
    assert not contains("它在北京。", ["京北"])


def test_words_are_runs_of_letters_and_each_cjk_character() -> None:
    assert words("The Cedar-Bridge, 1911: 北京 桥!") == ["the", "cedar", "bridge", "1911", "北", "京", "桥"]
    assert words("Hà Nội") == ["hà", "nội"]


@pytest.mark.parametrize(
    ("text", "answers", "f1"),
    [
        ("in 1911", ["in 1911"], 1.0),
        ("it was finished in 1911", ["1911"], 1 / 3),  # 1 of 5, 1 of 1
        ("the the cat", ["the cat"], 0.8),  # a repeated word counts once for each of the other's
        ("no word", ["else", "word"], 2 / 3),
        ("北京市", ["北京"], 0.8),
        ("", ["else"], 0.0),
        ("...", ["!"], 0.0),
    ],
)
def test_token_f1_by_hand(text: str, answers: list[str], f1: float) -> None:
    assert token_f1(text, answers) == pytest.approx(f1)


@given(TEXT, TEXT)
def test_folding_settles_and_f1_is_symmetric(one: str, other: str) -> None:
    assert folded(folded(one)) == folded(one)
    assert token_f1(one, [other]) == token_f1(other, [one])
    assert 0 <= token_f1(one, [other]) <= 1
    assert contains(f"{one}。{other}", [one])
    if words(one):
        assert token_f1(one, [one]) == 1.0


def test_refused_and_failed_questions_are_misses() -> None:
    right = bare("q1", answers=["1911"], answer="In 1911.")
    wrong = bare("q2", answers=["1911"], answer="Long ago.")
    refused = bare("q3", answers=["1911"], answer="No 1911 was found.", outcome="abstained")
    failed = bare("q4", answers=["1911"], outcome="failed")
    removed = bare("q1", answers=["1911"], answer="In 1911.", variant="removed", expected="abstained")
    unknown = bare("q5", answer="In 1911.")
    found = means(right, wrong, refused, failed, removed, unknown)
    assert found["answer_containment"] == 0.25
    assert found["token_f1"] == round(2 / 3 / 4, 4)
