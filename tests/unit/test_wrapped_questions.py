"""Prompts of frameworks, as they send them, and messages that people write in several paragraphs."""

import pytest

from graph.usage import Meter
from tools.rules.question_rules import RulePreparer
from tools.rules.wrapped_questions import asked_part

ASKED = "What is the notice period?"
CREW = (
    f"\nCurrent Task: {ASKED}\n\nThis is the expected criteria for your final answer: One sentence\n"
    "you MUST return the actual complete content as the final answer, not a summary.\n\nProvide your complete response:"
)
DSPY = (
    f"[[ ## question ## ]]\n{ASKED}\n\nRespond with the corresponding output fields, starting with the field "
    "`[[ ## answer ## ]]`, and then ending with the marker for `[[ ## completed ## ]]`."
)


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        (DSPY, ASKED),
        (CREW, f"Current Task: {ASKED}"),
        (f"Use the tools to answer.\n\n{ASKED}\n\nAnswer in one sentence.", ASKED),
        (f"{ASKED}\n\nReturn the correct JSON response within a ```json codeblock. not the JSON_SCHEMA", ASKED),
        (f"## Context\n\nNotice is three months.\n\n## Question\n{ASKED}\n\n## Answer", ASKED),
        ("任务：\n\n年假有多少天？\n\n用一句话回答。", "年假有多少天？"),
        ("Trả lời theo tài liệu.\n\nThời hạn báo trước\nlà bao lâu?\n\nMột câu.", "Thời hạn báo trước là bao lâu?"),
    ],
)
def test_the_block_that_asks_is_the_question(prompt: str, asked: str) -> None:
    assert asked_part(prompt) == asked


@pytest.mark.parametrize(
    "prompt",
    [
        ASKED,
        "What is the notice period? Who may shorten it?",
        "How many days of leave are there?\n\nAnd what is the notice period?",
        "I use the X200 printer in Berlin.\n\nHow do I reset it?",
        "List the notice periods.\n\nOne line each.",
        "",
    ],
)
def test_what_has_no_one_question_of_its_own_is_left_whole(prompt: str) -> None:
    assert asked_part(prompt) == prompt


@pytest.mark.parametrize("prompt", [DSPY, CREW])
async def test_the_question_is_what_is_asked_and_the_whole_is_searched_for_beside_it(prompt: str) -> None:
    prepared = await RulePreparer().prepare(prompt, [], search="auto", has_pages=False, meter=Meter())
    assert prepared.standalone_question == " ".join(asked_part(prompt).split())
    assert prepared.search_queries == {"en": (prompt.strip(),)}
    assert prepared.beyond_quotes is None


async def test_a_question_in_a_text_that_is_to_be_summed_up_is_not_what_is_asked() -> None:
    prompt = "Summarise this mail.\n\nHi team, may the meeting about budgets be moved to Friday?\n\nBest, Ann"
    prepared = await RulePreparer().prepare(prompt, [], search="auto", has_pages=False, meter=Meter())
    assert prepared.standalone_question.startswith("Summarise this mail.")
    assert prepared.beyond_quotes is not None
