"""Self-RAG requests: the conversation so far, which the client keeps, and limits on retrieval."""

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
    """A message as the chat keeps it, an answer with its marks."""

    role: Literal["user", "assistant"]
    content: str


class RagChatRequest(BaseModel):
    """A chat whose last message is the question; fields that are not named here are passed over."""

    messages: list[RagChatMessage]
    top_k: Annotated[int, Field(ge=1, le=30)] = 10
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.3
    model: ModelName = ""

    def request(self, identity: Identity, knobs: dict[str, Any]) -> RunRequest:
        """Lay out the run that this asks for, the messages before the question as its history.

        Raises InvalidRequest where the last message is no question.
        """
        said = [ChatMessage(message.role, message.content) for message in self.messages]
        question = parse_question(last_question(said), f"messages.{len(said) - 1}.content")
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            top_k=self.top_k,
            min_score=self.min_score,
            model=self.model,
            **knobs,
        )
        history = recent_turns([without_marks(message, _MARK) for message in said])
        return RunRequest(question, context, history=history)
