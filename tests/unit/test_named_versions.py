"""A question that names a version or a year is not answered by what is said of others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Hit
from tests.fakes import segment
from tools.extractive.named_versions import is_about_other_versions, is_about_other_years
from tools.extractive.reader import rank_sentences

ASTER = "Version 2 of the Aster client uses port 8300. Version 3 of the Aster client uses port 9300."


@pytest.mark.parametrize(
    "question",
    [
        "Which port does version 4 of the Aster client use?",
        "Which port does the Aster client v4 use?",
        "Which port does release 4.2 of the Aster client use?",
        "Which port does Aster 4.2 use?",
        "Aster 客户端版本4使用哪个端口？",
        "Phiên bản 4 của Aster dùng cổng nào?",
    ],
)
def test_another_version_is_not_answered_for(question: str) -> None:
    assert is_about_other_versions(question, [ASTER])
    assert rank_sentences(question, [Hit(segment("aster", 0, ASTER), 0.9, "search")]).answerable == 0.0


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which port does version 3 use?", ASTER),
        ("Which port does version 3.1 use?", ASTER),
        ("What changed from version 3 to version 4?", ASTER),
        ("Which port does version 4 use?", "It uses port 8300."),
        ("Which port does version 4 use?", "Since version 3 it uses port 9300."),
        ("Which port does version 4 use?", "Version 3 and later use port 9300."),
        ("Which port does version 4 use?", "Versions 2-5 use port 9300."),
        ("Which port does version 4 use?", "Versions 2, 3 and 4 use port 9300."),
        ("Which port does version 4 use?", "Aster 4.1 uses port 9300, version 3 another."),
        ("What does Aster 4.2 need?", "Version 3 needs less than 4.2 does."),
        ("How much is 4.2 kg of it?", ASTER),
        ("Is a 2.5 mm cable enough for Aster 3?", ASTER),
        ("Which of the 4 clients uses port 8300?", ASTER),
        ("What are the 4.5 million euros for?", ASTER),
    ],
)
def test_where_the_version_may_be_meant_nothing_is_refused(question: str, found: str) -> None:
    assert not is_about_other_versions(question, [found])


FARES = "In 2024 a ticket cost 12 euros."


@pytest.mark.parametrize(
    ("question", "answer", "is_other"),
    [
        ("What does a ticket cost in 2027?", FARES, True),
        ("What does a ticket cost in 2027?", "A ticket costs 12 euros.\nMuseum guide 2024", True),
        ("2027年门票多少钱？", "2024年门票12元。", True),
        ("Giá vé năm 2027 là bao nhiêu?", "Năm 2024 giá vé là 12 euro.", True),
        ("What did a ticket cost in 2024?", FARES, False),
        ("What does a ticket cost in 2027?", "A ticket costs 12 euros.", False),
        ("What does a ticket cost in 2027?", "Since 2024 a ticket costs 12 euros.", False),
        ("What did a ticket cost in 2022?", "From 2020 to 2024 a ticket cost 12 euros.", False),
        ("What did a ticket cost in 2022?", "12 euros in 2020, 14 euros in 2024.", False),
        ("What can I buy for 2000 euros?", FARES, False),
        ("What does a ticket cost?", FARES, False),
        ("Is there a fee of 1990 crowns?", FARES, False),
    ],
)
def test_another_year_is_not_answered_for(question: str, answer: str, is_other: bool) -> None:
    assert is_about_other_years(question, answer, [answer]) == is_other


def test_a_year_that_was_found_elsewhere_may_be_meant() -> None:
    assert not is_about_other_years("What does a ticket cost in 2027?", FARES, [FARES, "Prices of 2027: 15 euros."])


TEXTS = st.lists(
    st.sampled_from(["version", "v", "Aster", " ", "2", "4.2", "2024", "in", "and", ",", "年", "版", "\n", "since"])
).map("".join)


@given(TEXTS, TEXTS)
def test_what_was_found_itself_is_never_about_others(question: str, found: str) -> None:
    assert not is_about_other_versions(question, [found, question])
    assert not is_about_other_years(question, found, [found, question])
