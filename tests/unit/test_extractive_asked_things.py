"""What a question names: names and numbers, in three languages."""

import pytest

from tools.extractive.question_analysis import names_in, numbers_in, share_missing


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How long does the Norholm ferry take?", {"norholm"}),
        ("Who is Ann O'Hara's neighbour in Gull Bay?", {"ann", "o hara", "gull", "bay"}),
        ("What does error E42 mean, and may I ignore it?", {"e42"}),
        ('What is the "red lamp" for?', {"red lamp"}),
        ("The lamp is red. Why is it red?", set()),
        ("Lõi lọc của máy Sao Mai M2 giá bao nhiêu?", {"sao", "mai", "m2"}),
        ("A3 和 A5 的滤芯有什么不同？", {"a3", "a5"}),
        ("Ａ３的滤芯多久换一次？", {"a3"}),
        ("请问A3滤芯和A5滤芯一样吗？", {"a3", "a5"}),
        ("“红灯”是什么意思？", {"红灯"}),
        ("how many are there in 2024", set()),
    ],
)
def test_the_names_of_a_question(question: str, names: set[str]) -> None:
    assert names_in(question) == names


def test_numbers_are_listed_as_written_with_digits_of_any_width() -> None:
    assert numbers_in("In ２０２５ it was 1,200.50 euros, or 7%.") == {"2025", "1,200.50", "7"}
    assert numbers_in("none") == frozenset()


@pytest.mark.parametrize(
    ("wanted", "held", "share"),
    [
        (set(), {"2025"}, 0.0),
        ({"2025"}, set(), 1.0),
        ({"2024", "2025"}, {"2025"}, 0.0),
        ({"a3", "a5"}, {"a5"}, 0.0),
        ({"norholm", "a5"}, {"a5"}, 0.5),
        ({"2025", "12"}, {"12"}, 0.5),
    ],
)
def test_of_things_that_look_alike_one_is_enough(wanted: set[str], held: set[str], share: float) -> None:
    assert share_missing(frozenset(wanted), frozenset(held)) == share
