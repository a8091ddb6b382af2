"""Self-RAG requests: the conversation, which the client stores, and limits on retrieval."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from api.dialects.chat_request import ChatMessage, last_question, parse_question, recent_turns, without_marks
from api.fields import ModelName
from graph.context import Context
from graph.evidence import Identity
from tools.runs.run_request import RunRequest

_MARK = re.compile(r"\[ref:\d+\]")


class RagChatMessage(BaseModel):
    """A message as the chat stores it, an answer with its marks."""

    role: Literal["user", "assistant"]
    content: str


class RagChatRequest(BaseModel):
    """A chat whose last message is the question; unknown fields are ignored."""

    messages: list[RagChatMessage]
    top_k: Annotated[int, Field(ge=1, le=30)] = 10
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.3
    model: ModelName = ""

    def to_run_request(self, identity: Identity, knobs: dict[str, Any]) -> RunRequest:
        """Return the requested run, with the messages before the question as its history.

        Raises InvalidRequest if the last message is not a question.
        """
        messages = [ChatMessage(message.role, message.content) for message in self.messages]
        question = parse_question(last_question(messages), f"messages.{len(messages) - 1}.content")
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            top_k=self.top_k,
            min_score=self.min_score,
            model=self.model,
            **knobs,
        )
        history = recent_turns([without_marks(message, _MARK) for message in messages])
        return RunRequest(question, context, history=history)
