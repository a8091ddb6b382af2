"""The question and the chat history of a request, shared by dialects."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from answers.links import JOINER
from api.fields import CONTROL, Question
from graph.errors import InvalidRequest
from graph.rows import TURNS_KEPT, Turn

_QUESTION: TypeAdapter[str] = TypeAdapter(Question)
Role = Literal["user", "assistant", "system"]
# Marks of own answers, as they come back in the history of chats: links anywhere, numbers after a sentence.
MARKS = re.compile(r"\[\[\d+\]\]\([^()\s]*\)|(?<=[.!?:;。!?…\"”»)])(?:\[\d+\])+")

NO_FORM = (
    "answers are text whose sentences carry citations, and can't follow a schema; {instead}, and have another model put"
    " the answer into a form"
)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of a conversation that the client stores itself."""

    role: Role
    content: str


def last_question(messages: Sequence[ChatMessage]) -> str:
    """Return the text of the last message.

    Raises InvalidRequest if it is not the user's or has no text.
    """
    if not messages or messages[-1].role != "user" or not messages[-1].content.strip():
        raise InvalidRequest("messages: the last one must be the user's, with text.")
    return messages[-1].content


def text_of_parts(content: object) -> str:
    """Return a message's content as the client stores it: a string, or the text parts of a list, on separate lines."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def parse_question(text: str, field: str) -> str:
    """Return the text of a message as a question of at most 10,000 characters.

    Raises InvalidRequest that names ``field`` if it is empty, too long or has control characters.
    """
    try:
        return _QUESTION.validate_python(text.replace("\r\n", "\n"))
    except ValidationError as error:
        fault = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise InvalidRequest(f"{field}: {fault}") from None


def refuse_schema(instructions: str, field: str) -> None:
    """Raise InvalidRequest where instructions hold a JSON Schema with a title: the form in which to reply.

    Frameworks put it there for endpoints that have no parameter for it, and read nothing else as a reply.
    """
    start = instructions.find("{")
    try:
        found = json.JSONDecoder().raw_decode(instructions, start)[0] if start >= 0 else None
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict) and isinstance(found.get("properties"), dict) and "title" in found:
        raise InvalidRequest(f"{field}: {NO_FORM.format(instead='ask without one')}.")


def without_marks(message: ChatMessage, marks: re.Pattern[str]) -> ChatMessage:
    """Return a message as the server would store it: an answer has no marks, since they number its own sources."""
    text = message.content
    if message.role == "assistant":
        text = marks.sub("", text).replace(JOINER, "")
    return replace(message, content=CONTROL.sub(" ", text))


def recent_turns(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """Return the last answered exchanges before the question, at most TURNS_KEPT.

    Questions without an answer are left out. So are system messages: a client can't set the instructions of a run.
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
