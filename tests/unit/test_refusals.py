"""A refusal names what was searched for and what came nearest, as the question's language would."""

import pytest

from graph.evidence import Segment
from nodes.abstain import refusal

NEAR = [Segment("d", 0, 0, 4, "Text", title="Guide", heading="Guide > Limits")]


@pytest.mark.parametrize(
    ("language", "wording"),
    [
        (
            "en",
            "I could not find an answer to this in the library. Searched for: “a?”; “b”. "
            "What came nearest: Guide > Limits.",
        ),
        ("zh", "我在资料库中没有找到这个问题的答案。已检索：“a?”；“b”。最接近的内容：Guide > Limits。"),
        (
            "vi",
            "Tôi không tìm thấy câu trả lời cho câu hỏi này trong thư viện. Đã tìm: “a?”; “b”. "
            "Nội dung gần nhất: Guide > Limits.",
        ),
    ],
)
def test_it_is_worded_in_the_question_s_language(language: str, wording: str) -> None:
    assert refusal("nothing_relevant", ["a?", "b"], NEAR, language) == wording


def test_where_nothing_was_found_it_still_says_what_was_searched_for() -> None:
    assert refusal("nothing_found", ["a?"], [], "en") == (
        "I found nothing about this in the library. Searched for: “a?”."
    )


@pytest.mark.parametrize(
    ("language", "begins"),
    [
        ("en", "Your library holds no documents yet."),
        ("zh", "您的资料库中还没有文档。"),
        ("vi", "Thư viện của bạn chưa có"),
    ],
)
def test_of_an_empty_library_it_says_how_to_fill_it_and_names_no_query(language: str, begins: str) -> None:
    text = refusal("library_empty", ["a?"], [], language)
    assert text.startswith(begins)
    assert "`citewell ingest " in text
    assert "a?" not in text


def test_where_nothing_was_to_be_searched_it_names_no_query() -> None:
    assert "Searched" not in refusal("library_not_allowed", ["a?"], [], "en")
