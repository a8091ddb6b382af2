"""Pages that a question names, in several languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.page_references import page_labels, page_references, without_page_references


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("What does page 3 say about leave?", [(3, 3)]),
        ("What does Page 3's table say?", [(3, 3)]),
        ("see p. 3, and pp. 4-6", [(3, 3), (4, 6)]),
        ("p.12?", [(12, 12)]),
        ("what stands on pages 3–5", [(3, 5)]),
        ("what stands on pages 5-3", [(3, 5)]),
        ("from page 3 to page 5", [(3, 5)]),
        ("pages 3 through 5", [(3, 5)]),
        ("pages 3, 5 and 7", [(3, 3), (5, 5), (7, 7)]),
        ("pages 1,2,3", [(1, 1), (2, 2), (3, 3)]),
        ("page three", [(3, 3)]),
        ("pages two to four", [(2, 4)]),
        ("page twenty-one", [(21, 21)]),
        ("the third page, and the 12th page", [(3, 3), (12, 12)]),
        ("page number 7, page no. 8 and page #9", [(7, 7), (8, 8), (9, 9)]),
        ("compare page 9 with page 2", [(9, 9), (2, 2)]),
        ("第3页说了什么？", [(3, 3)]),
        ("第三页和第五页", [(3, 3), (5, 5)]),
        ("第3-5页", [(3, 5)]),
        ("第三至五页", [(3, 5)]),
        ("第三页到第五页讲什么", [(3, 5)]),
        ("第二十一页", [(21, 21)]),
        ("第十二頁", [(12, 12)]),
        ("第一百零五页", [(105, 105)]),
        ("第１２页", [(12, 12)]),
        ("第3、5页", [(3, 3), (5, 5)]),
        ("trang 3 nói gì?", [(3, 3)]),
        ("Trang ba nói gì?", [(3, 3)]),
        ("các trang 3-5", [(3, 5)]),
        ("từ trang 3 đến trang 5", [(3, 5)]),
        ("trang 3 và 5", [(3, 3), (5, 5)]),
        ("trang hai mươi mốt", [(21, 21)]),
        ("trang mười lăm", [(15, 15)]),
        ("trang thứ tư, trang số 7", [(4, 4), (7, 7)]),
        ("trang đầu tiên", [(1, 1)]),
        ("Was steht auf Seite 4?", [(4, 4)]),
        ("¿Qué dice la página 12?", [(12, 12)]),
        ("３ページ", [(3, 3)]),
        ("page sıx and page fİve", [(6, 6), (5, 5)]),
        ("page ſeven, and the ſixth page", [(7, 7), (6, 6)]),
        ("TRANG HAI MƯƠI MỐT", [(21, 21)]),
        ("Trang Đầu Tiên", [(1, 1)]),
        ("3페이지", [(3, 3)]),
    ],
)
def test_pages_are_read(question: str, pages: list[tuple[int, int]]) -> None:
    assert [(found.start, found.stop - 1) for found in page_references(question)] == pages


@pytest.mark.parametrize(
    "question",
    [
        "Summarise this page.",
        "How many pages are there?",
        "Is it 3 pages long?",
        "a web page with 3 tables",
        "page 3.5",
        "page 0",
        "a page of one of the two",
        "pagination 3",
        "P3 of the car park",
        "共3页",
        "这一页讲什么",
        "trang web 3 cột",
        "trang năm 2020",
        "trang trại 3",
        "",
    ],
)
def test_what_only_looks_like_one_is_none(question: str) -> None:
    assert page_references(question) == ()


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What does page 3 say about leave?", "What does say about leave?"),
        ("Summarise pages three to four.", "Summarise ."),
        ("第三页说了什么？", "说了什么？"),
        ("Các trang 3-5 nói gì?", "nói gì?"),
        ("How many pages are there?", "How many pages are there?"),
    ],
)
def test_what_is_asked_of_the_pages_is_left(question: str, rest: str) -> None:
    assert without_page_references(question) == rest


@given(
    st.text("page trng第页三十0123456789-, .đếnto", max_size=40)
    | st.lists(st.sampled_from(["page ", "trang ", "ſıx", "sİx", "ſixth ", "the ", "haİ "]), max_size=6).map("".join)
)
def test_any_text_is_read_without_fault(text: str) -> None:
    assert all(0 < pages.start < pages.stop for pages in page_references(text))


@given(st.integers(1, 9999))
def test_any_number_is_read_in_each_language(number: int) -> None:
    for question in (f"on page {number}?", f"第{number}页", f"ở trang {number}."):
        assert page_references(question) == (range(number, number + 1),)


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("What does page iv say?", {"iv"}),
        ("Compare page A-3 with page B2.", {"a-3", "b2"}),
        ("Trang IV nói gì?", {"iv"}),
        ("第ii页说了什么？", {"ii"}),
        ("Is it on the page I read?", set()),
        ("Que dit la page l'an dernier ?", set()),
        ("Is it on page c?", set()),
        ("What is on page 4, and on page villa?", set()),
        ("第IV章说了什么？", set()),
    ],
)
def test_pages_are_read_by_their_labels(question: str, labels: set[str]) -> None:
    assert page_labels(question) == labels
    left = without_page_references(question).casefold()
    assert not any(label in left for label in labels - {"b2"})


@pytest.mark.parametrize("question", ["Describe the landing page v2.", "Wie breit ist eine Seite A4?"])
def test_what_may_be_no_label_stays_in_the_question(question: str) -> None:
    assert without_page_references(question) == question
