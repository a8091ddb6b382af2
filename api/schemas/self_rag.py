"""What the Self-RAG chat is asked with: the conversation so far, which its client keeps, and limits on retrieval."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from api.asking import Said, history_of, last_question
from api.dialects.markers import JOINER
from api.schemas.fields import CONTROL
from graph.context import Context
from graph.errors import InvalidRequest
from graph.evidence import Identity
from graph.state import TURNS_KEPT
from tools.runs import RunRequest

LONGEST_QUESTION = 10_000
MARK = re.compile(r"\[ref:\d+\]")


class ChatMessage(BaseModel):
    """A message as the chat keeps it, an answer with its marks."""

    role: Literal["user", "assistant"]
    content: str


class RagChatRequest(BaseModel):
    """A chat whose last message is the question; fields that are not named here are passed over."""

    messages: list[ChatMessage]
    top_k: Annotated[int, Field(ge=1, le=30)] = 10
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.3
    model: Annotated[str, Field(max_length=100)] = Field(
        default="", description="A configured model's name, or `extractive`; empty for the deployment's default."
    )

    def request(self, identity: Identity, knobs: dict[str, Any]) -> RunRequest:
        """Lay out the run that this asks for, the messages before the question as its history.

        Raises InvalidRequest where the last message is no question.
        """
        said = [Said(message.role, message.content) for message in self.messages]
        question = _question(last_question(said))
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            top_k=self.top_k,
            min_score=self.min_score,
            model=self.model,
            **knobs,
        )
        before = [_remembered(message) for message in said[:-1] if message.content.strip()]
        return RunRequest(question, context, history=history_of([*before, said[-1]])[-TURNS_KEPT:])


def _question(text: str) -> str:
    if len(text) > LONGEST_QUESTION:
        raise InvalidRequest(f"messages: the last one is longer than {LONGEST_QUESTION} characters.")
    if CONTROL.search(text):
        raise InvalidRequest("messages: the last one holds control characters other than newline and tab.")
    return text


def _remembered(message: Said) -> Said:
    """Give a message as the server would remember it: without marks, which count the sources of another answer."""
    text = message.content
    if message.role == "assistant":
        text = MARK.sub("", text).replace(JOINER, "")
    return Said(message.role, CONTROL.sub(" ", text))
