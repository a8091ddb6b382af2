"""What is written in several ways has one form, on both sides of a search."""

import pytest

from tests.unit.test_terms import matched
from text.near_words import near_words, nearest
from text.spellings import fold_spelling, spellings_of
from text.terms import LEAST_CHARACTERS, QueryTerms, Respelling, term_of, weigh_question, weigh_segment


def keys(text: str) -> set[str]:
    return {key for each in spellings_of(fold_spelling(text)) for key in each.keys}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("6 May 2026", "2026-05-06"),
        ("6. Mai 2026", "6.5.2026"),
        ("le 14 août 2026", "2026-08-14"),
        ("6 de mayo de 2026", "06.05.2026"),
        ("6 мая 2026 года", "2026/5/6"),
        ("6 พฤษภาคม 2569", "6 May 2026"),
        ("2026년 5월 6일", "2026年5月6日"),
        ("notes-20251001.md", "1 October 2025"),
        ("v3.1", "3.1.0"),
        ("release 10.0.0", "10.0"),
        ("1,200,000", "1 200 000"),
    ],
)
def test_two_spellings_have_one_form(first: str, second: str) -> None:
    asked = {each.key for each in spellings_of(fold_spelling(first))}
    assert asked
    assert asked <= keys(second)


def test_a_version_is_of_the_one_that_it_belongs_to_and_not_the_other_way_round() -> None:
    assert "!3.1" in keys("3.1.4")
    assert "!3.1.4" not in keys("3.1")
    assert keys("3.10") != keys("3.1")


def test_which_number_of_a_date_with_strokes_is_the_month_is_left_open() -> None:
    assert {"@2026-05-06", "@2026-06-05"} <= keys("06/05/2026")
    assert "@2026-06-05" not in keys("06.05.2026") | keys("2026/05/06")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("ROS2", "ROS 2 is a set of libraries"),
        ("ros-2", "We run ROS2"),
        ("nodejs", "It needs Node.js to run"),
        ("annual report", "AnnualReport2025.pdf"),
        ("room 204", "कमरा २०४ room ٢٠٤"),
        ("リンゴ", "りんご"),
        ("القاعة", "القـــاعة"),
        ("software", "soft\u00adware"),
    ],
)
def test_words_are_found_as_they_are_spelt_otherwise(question: str, text: str) -> None:
    assert matched(question, text) > 0


def test_the_words_of_a_date_weigh_little_beside_its_form() -> None:
    asked = weigh_question("6 May 2026")
    assert sorted(asked.expected.tolist())[-2:] == [0.0, 0.5]


def test_single_characters_weigh_nothing_in_a_table_of_them() -> None:
    table = " ".join(f"{letter} {number}" for number, letter in enumerate("abcdefghij")) + " letters"
    assert len(table.split()) > LEAST_CHARACTERS
    assert matched("Which room is c?", table) == 0
    assert matched("letters", table) > 0
    assert len(weigh_segment("Plan B is for floor 4.").ids) > len(weigh_segment("Plan is for floor.").ids)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("sabatical", "sabbatical"),
        ("wieght", "weight"),
        ("kündigungfrist", "kündigungsfrist"),
        ("mantainance", "maintenance"),
        ("الميناء", "ميناء"),
    ],
)
def test_a_mistyped_word_is_near_the_one_that_is_meant(word: str, meant: str) -> None:
    assert nearest(near_words(word, ["berlin", "garage", meant, "maria"])) == [meant]


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("merlin", "berlin"),
        ("garden", "garage"),
        ("marta", "maria"),
        ("employer", "employee"),
        ("employers", "employees"),
        ("trainers", "trainee"),
        ("franchisor", "franchisee"),
        ("interviewee", "interviewer"),
    ],
)
def test_another_word_is_not_near(word: str, other: str) -> None:
    assert near_words(word, [other]) == []


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("definitly", "definitely"),
        ("calender", "calendar"),
        ("vacatoin", "vacation"),
        ("committe", "committee"),
        ("sabbaticl", "sabbatical"),
        ("gesetzlicher", "gesetzlichen"),
        ("организаций", "организации"),
    ],
)
def test_a_letter_may_be_wrong_at_the_end_of_a_word(word: str, other: str) -> None:
    assert nearest(near_words(word, [other])) == [other]


def test_a_library_of_an_earlier_release_is_asked_for_the_words_that_it_has() -> None:
    older = Respelling(is_older=True)
    may, iso = "Who met on 6 May 2026?", "Who met on 2026-05-06?"
    assert weight_of(term_of("may"), weigh_question(may, older)) > weight_of(term_of("may"), weigh_question(may))
    assert set(weigh_question(may).ids) & set(weigh_question(iso).ids) > set(weigh_question(may, older).ids) & set(
        weigh_question(iso, older).ids
    )
    assert set(weigh_question("ひらがな", older).ids).isdisjoint(weigh_question("ひらがな").ids)


def weight_of(term: int, asked: QueryTerms) -> float:
    return float(asked.weights[asked.ids.tolist().index(term)])


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Where is the rover of the Mars 2020 mission now?", "mars"),
        ("Cuộc họp mai 8 giờ ở đâu?", "mai"),
    ],
)
def test_a_month_of_another_language_is_a_word_of_the_question(question: str, word: str) -> None:
    assert weight_of(term_of(word), weigh_question(question)) == 1


@pytest.mark.parametrize(
    ("question", "date"),
    [
        ("Qui est allé à la réunion de mars 2020 ?", "2020-03"),
        ("Wer war bei dem Treffen im Mai 2026?", "2026-05"),
        ("Who was at the meeting of sept 2020?", "2020-09"),
        ("Who was at the meeting of 12 Mai 2026?", "2026-05-12"),
    ],
)
def test_a_month_by_its_name_is_a_date_in_its_language(question: str, date: str) -> None:
    asked = weigh_question(question)
    assert asked.expected[asked.ids == term_of(f"@{date}")].tolist() == [0.5]
