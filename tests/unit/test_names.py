"""What in a text may be the title of a document, and what may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.retrieval.names import MOST_NAMES, bare_title, find_asked_names, find_names


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("It was written by Adriana Trigiani, who lives there.", "Adriana Trigiani"),
        ("Adriana Trigiani wrote it.", "Adriana Trigiani"),
        ("The lamp was made by Viglen.", "Viglen"),
        ("It is Tim Burton's film.", "Tim Burton"),
        ("He controls it with Front Row.", "Front Row (software)"),
        ("The seat is Sullivan County, New Hampshire.", "Sullivan County, New Hampshire"),
        ("the practice of Management consulting in firms", "Management consulting"),
        ("In Rostker v. Goldberg the court held", "Rostker v. Goldberg"),
        ("NASA launched it.", "NASA"),
        ("She played in Teen Titans Go! in 2013.", "Teen Titans Go!"),
        ("The 2011–12 VCU Rams men's Basketball Team won.", "2011–12 VCU Rams men's Basketball Team"),
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
        ("the middle name of the actress", "Middle name"),
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
    names = find_asked_names("who played opposite sela ward in nola?")
    assert names.hold("Sela Ward")
    assert not names.hold("Nola")
    assert not find_asked_names("Who played opposite sela ward?").hold("Sela Ward")


def test_brackets_are_left_out_of_a_title() -> None:
    assert bare_title("Nola (film)") == "Nola"
    assert bare_title("手册（第二版）") == "手册"


@given(st.text(max_size=2000))
def test_no_text_has_names_without_end(text: str) -> None:
    for names in (find_names(text), find_asked_names(text)):
        assert len(names.exact) <= MOST_NAMES
        assert len(names.beginnings) <= MOST_NAMES
        assert not names.hold("")
