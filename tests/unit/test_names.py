"""What in a text may be the title of a document, and what may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.retrieval.title_hop import MOST_NAMES, bare_title, find_asked_names, find_names


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("It was written by Ada Lovelace, who lives there.", "Ada Lovelace"),
        ("Ada Lovelace wrote it.", "Ada Lovelace"),
        ("The lamp was made by Vestas.", "Vestas"),
        ("It is Jane Austen's film.", "Jane Austen"),
        ("He controls it with Back Stage.", "Back Stage (software)"),
        ("The seat is Boulder County, Colorado.", "Boulder County, Colorado"),
        ("the practice of Dry cleaning in firms", "Dry cleaning"),
        ("In Roe v. Wade the court held", "Roe v. Wade"),
        ("NASA launched it.", "NASA"),
        ("She played in Mamma Mia! in 2013.", "Mamma Mia!"),
        ("The 1998–99 Ohio Lions men's Rowing Team won.", "1998–99 Ohio Lions men's Rowing Team"),
        ("Go to the page “getting started” first.", "getting started"),
        ("Ngọn Hải đăng Kê Gà được xây năm 1898.", "Hải đăng Kê Gà"),
        ("船长在安菲特里忒号上服役。", "安菲特里忒号"),
        ("请参阅《手册》第三章。", "手册"),
        ("선장은 암피트리테호에서 일한다.", "암피트리테호"),
    ],
)
def test_a_title_that_stands_as_it_is_written_is_named(text: str, title: str) -> None:
    assert find_names(text).hold(title)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Security is everybody's business.", "Security"),
        ("Nobody cares. Security is everybody's business.", "Security"),
        ("the security of the basin", "Security"),
        ("the middle name of the baker", "Middle name"),
        ("John F. Kennedy was there in 1961.", "F"),
        ("It came out in 1961.", "1961"),
        ("Paragraph 120 applies.", "Paragraph 12"),
        ("He met Ann. Arbor Day came.", "Ann. Arbor Day"),
        ("本手册说明如何上油。", "手册"),
        ("any text at all", "(disambiguation)"),
    ],
)
def test_ordinary_words_and_parts_of_words_name_nothing(text: str, title: str) -> None:
    assert not find_names(text).hold(title)


def test_a_question_in_small_letters_names_by_two_words_or_more() -> None:
    names = find_asked_names("who played opposite ada lovelace in aurora?")
    assert names.hold("Ada Lovelace")
    assert not names.hold("Aurora")
    assert not find_asked_names("Who played opposite ada lovelace?").hold("Ada Lovelace")


def test_brackets_are_left_out_of_a_title() -> None:
    assert bare_title("Aurora (film)") == "Aurora"
    assert bare_title("手册（第二版）") == "手册"


@given(st.text(max_size=2000))
def test_no_text_has_names_without_end(text: str) -> None:
    for names in (find_names(text), find_asked_names(text)):
        assert len(names.exact) <= MOST_NAMES
        assert len(names.beginnings) <= MOST_NAMES
        assert not names.hold("")
