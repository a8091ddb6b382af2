"""AG-UI requests: RunAgentInput, with our options in its ``forwardedProps``."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.dialects.chat_request import parse_question
from api.dialects.run_options import ChatOptions
from api.fields import Name
from graph.errors import InvalidRequest

MOST_MESSAGES = 10_000
FOLLOWS_A_QUESTION = ("system", "developer", "activity", "reasoning")


def _object(value: object) -> object:
    return {} if value is None else value


class AgentMessage(BaseModel):
    """A message as the client stores it: text, or parts, of which only text is read."""

    model_config = ConfigDict(extra="ignore")

    id: Annotated[str, Field(max_length=200)] = ""
    role: str
    content: Any = None

    @property
    def text(self) -> str:
        """The message's text, with its parts on separate lines."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else []
        texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))


class RunAgentInput(BaseModel):
    """One run of the agent. The client's tools are never called; its context is not passed to the model."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)

    thread_id: Name = Field(description="The external id of a session.")
    run_id: Name = Field(description="The client's own id of the run, used in the events.")
    messages: Annotated[list[AgentMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    state: Any = None
    forwarded_props: Annotated[ChatOptions, BeforeValidator(_object)] = ChatOptions()

    @property
    def question_index(self) -> int:
        """The index of the question in ``messages``: the last one whose role is not in FOLLOWS_A_QUESTION.

        Raises InvalidRequest if it is not the user's.
        """
        for index in reversed(range(len(self.messages))):
            if self.messages[index].role not in FOLLOWS_A_QUESTION:
                if self.messages[index].role == "user":
                    return index
                break
        raise InvalidRequest("messages: the last one must be the user's.")

    def question(self) -> str:
        """Return the text of the last message.

        Raises InvalidRequest if it is not a question of the user.
        """
        index = self.question_index
        return parse_question(self.messages[index].text, f"messages.{index}.content")

    def answers_above(self) -> list[str]:
        """Return the ids of the answers above the question."""
        return [message.id for message in self.messages[: self.question_index] if message.role == "assistant"]
