"""Parts of requests that dialects share: the question and the chat history."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from api.dialects.citation_marks import JOINER
from api.fields import CONTROL, Question
from graph.errors import InvalidRequest
from graph.state import TURNS_KEPT, Turn

_QUESTION: TypeAdapter[str] = TypeAdapter(Question)
Role = Literal["user", "assistant", "system"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of a conversation that a client keeps itself."""

    role: Role
    content: str


def last_question(messages: Sequence[ChatMessage]) -> str:
    """Return the last message, which has to be the user's.

    Raises InvalidRequest.
    """
    if not messages or messages[-1].role != "user" or not messages[-1].content.strip():
        raise InvalidRequest("messages: the last one must be the user's, with text.")
    return messages[-1].content


def parse_question(text: str, field: str) -> str:
    """Return the text of a message as a question of at most 10,000 characters.

    Raises InvalidRequest with the name of the field where it is none.
    """
    try:
        return _QUESTION.validate_python(text.replace("\r\n", "\n"))
    except ValidationError as error:
        fault = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise InvalidRequest(f"{field}: {fault}") from None


def without_marks(message: ChatMessage, marks: re.Pattern[str]) -> ChatMessage:
    """Return a message as the server would remember it: without marks, which count the sources of another answer."""
    text = message.content
    if message.role == "assistant":
        text = marks.sub("", text).replace(JOINER, "")
    return replace(message, content=CONTROL.sub(" ", text))


def recent_turns(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """Return the last finished exchanges before the question, as many as a session remembers.

    A question without an answer is left out, and so are system messages: what a run is told is not the client's to say.
    """
    turns: list[Turn] = []
    question = ""
    for message in messages[:-1]:
        if not message.content.strip():
            continue
        if message.role == "user":
            question = message.content
        elif message.role == "assistant" and question:
            turns.append(Turn(question=question, standalone_question=question, answer=message.content))
            question = ""
    return tuple(turns[-TURNS_KEPT:])
