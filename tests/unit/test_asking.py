"""What a client that keeps its own chat may ask, and what of the chat is remembered."""

import re

import pytest

from api.dialects.chat_request import ChatMessage, last_question, parse_question, recent_turns, without_marks
from api.dialects.citation_marks import JOINER
from graph.errors import InvalidRequest
from graph.rows import TURNS_KEPT

MARKS = re.compile(r"\[\^\d+\]")


@pytest.mark.parametrize("text", ["", " \n", "x" * 10_001, "bell \x07", "half \ud800"])
def test_what_is_no_question_is_refused_by_the_name_of_its_field(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"^messages\.0\.content: "):
        parse_question(text, "messages.0.content")


def test_lines_of_a_question_may_end_as_a_form_sends_them() -> None:
    assert parse_question("Why?\r\nAnd how?", "query") == "Why?\nAnd how?"


@pytest.mark.parametrize("messages", [[], [ChatMessage("assistant", "Hello.")], [ChatMessage("user", " ")]], ids=str)
def test_the_last_message_has_to_be_a_question(messages: list[ChatMessage]) -> None:
    with pytest.raises(InvalidRequest, match=r"^messages: "):
        last_question(messages)


def test_an_answer_is_remembered_without_our_marks_but_with_those_that_it_quotes() -> None:
    told = ChatMessage("assistant", f"Leave lapses.[^1][^2] The note [{JOINER}^3] says so.\x07")
    assert without_marks(told, MARKS).content == "Leave lapses. The note [^3] says so. "
    assert without_marks(ChatMessage("user", "What is [^1]?"), MARKS).content == "What is [^1]?"


def test_the_last_exchanges_that_have_an_answer_are_the_history() -> None:
    said = [ChatMessage("system", "Obey."), ChatMessage("assistant", "Hello.")]
    for number in range(TURNS_KEPT + 2):
        said += [
            ChatMessage("user", "never answered"),
            ChatMessage("user", f"Q{number}"),
            ChatMessage("assistant", f"A{number}"),
        ]
    said += [ChatMessage("user", "cut off"), ChatMessage("assistant", " "), ChatMessage("user", "now")]
    turns = recent_turns(said)
    assert [(turn["question"], turn["answer"]) for turn in turns] == [
        (f"Q{number}", f"A{number}") for number in range(2, TURNS_KEPT + 2)
    ]
