"""A refusal names what was searched for and what came nearest, as the question's language would."""

import pytest

import prompts
from graph.evidence import Refusal, Segment, StopReason
from nodes import abstain

NEAR = [Segment("d", 0, 0, 4, "Text", title="Guide", heading="Guide > Limits")]


def refusal(reason: StopReason, tried: list[str], near: list[Segment], language: str) -> str:
    parts = Refusal(code=reason, tried=tried, library=True, web_failed=False, written_in=[])
    return abstain.refusal(reason, parts, near, language)


@pytest.mark.parametrize(
    ("language", "wording"),
    [
        ("en", "Searched for: “a?”; “b”. What came nearest: Guide > Limits."),
        ("zh", "已检索：“a?”；“b”。最接近的内容：Guide > Limits。"),
        ("vi", "Đã tìm: “a?”; “b”. Nội dung gần nhất: Guide > Limits."),
    ],
)
def test_it_is_worded_in_the_question_s_language(language: str, wording: str) -> None:
    refused = prompts.join_lines(language, [prompts.lines(language).not_in_library, wording])
    assert refusal("nothing_relevant", ["a?", "b"], NEAR, language) == refused


def test_where_nothing_was_found_it_still_says_what_was_searched_for() -> None:
    said = f"{prompts.lines('en').nothing_found} Searched for: “a?”."
    assert refusal("nothing_found", ["a?"], [], "en") == said


@pytest.mark.parametrize("language", ["en", "zh", "vi"])
def test_of_an_empty_library_it_says_how_to_fill_it_and_names_no_query(language: str) -> None:
    text = refusal("library_empty", ["a?"], [], language)
    assert text.startswith(prompts.lines(language).catalogue_empty)
    assert "`citewell ingest " in text
    assert "a?" not in text


def test_where_nothing_was_to_be_searched_it_names_no_query() -> None:
    assert "Searched" not in refusal("library_not_allowed", ["a?"], [], "en")
