"""How a question names a place: by what a heading or a paragraph begins with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.place_references import PlaceQuestion, begins, file_names, place_references, sheet_names


def finds(question: str, text: str, *, is_heading: bool = True) -> bool:
    return any(
        begins(own, text, is_heading=is_heading) for each in place_references(question) for own, _ in each.beginnings
    )


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("What does clause 14 say?", "Clause 14 Confidentiality"),
        ("What does Section 3.2 say?", "SECTION 3.2: Oil"),
        ("Điều 5 nói gì?", "Điều 5. Sách"),
        ("Chương 2 nói gì?", "Chương II Giờ giấc"),
        ("Phụ lục 2 là gì?", "PHỤ LỤC 2"),
        ("第三条说什么？", "第3条 离开"),
        ("第12条的罚款", "第十二条 违反"),
        ("附件二里停车怎么收费？", "附件2 停车"),
        ("Was steht in Kapitel 2?", "Kapitel 2 Heben"),
        ("Que dit l'article 8 ?", "Article 8 Déchets"),
        ("Que dit l'annexe B ?", "Annexe B"),
        ("¿Qué dice el capítulo III?", "Capítulo 3"),
        ("第2章には何が？", "第2章 貸出"),
        ("What does § 12 say?", "§ 12 Fees"),
    ],
)
def test_a_place_begins_as_the_question_says(question: str, heading: str) -> None:
    assert finds(question, heading)


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("What does clause 1 say?", "Clause 14 Confidentiality"),
        ("What does section 3 say?", "Section 3.2 Oil"),
        ("What does clause 14 say?", "Chapter 14"),
        ("第三条说什么？", "第十三条 违反"),
        ("Is it paid in 14 days?", "In 14 days"),
        ("What happened on 12 May 2026?", "May 2026"),
        ("What does page 3 say?", "Page 3"),  # pages have numbers of their own
    ],
)
def test_what_begins_otherwise_is_another_place(question: str, heading: str) -> None:
    assert not finds(question, heading)


def test_a_paragraph_parts_its_number_from_what_it_says() -> None:
    assert finds("Điều 5 nói gì?", "Điều 5. Sách được mượn", is_heading=False)
    assert finds("Điều 5 nói gì?", "Điều 5", is_heading=False)
    assert not finds("What does Python 3 print?", "Python 3 prints a line.", is_heading=False)


def test_sheets_and_files_are_read_by_their_names() -> None:
    assert sheet_names("What is on sheet Prices?") == ["Prices"]
    assert sheet_names("What is on the sheet “Stock”?") == ["Stock"]
    assert file_names("What does Club-rules.docx say, and q3_report?") == ["club-rules.docx", "q3_report"]


def test_a_long_question_is_no_long_search() -> None:
    asked = PlaceQuestion.of("clause 14 and a-b-c_d " * 20_000)
    assert max(map(len, (asked.references, asked.files, asked.sheets, asked.dates))) <= 6


@given(st.text("clause 第三条IVX§12.3 ABđều\n", max_size=40))
def test_any_text_is_read_without_fault(text: str) -> None:
    for each in place_references(text):
        assert each.spellings
        for pattern in (*(one for pair in each.beginnings for one in pair), each.numbered):
            begins(pattern, text, is_heading=True)
