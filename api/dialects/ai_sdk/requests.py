"""Requests of the AI SDK's ``DefaultChatTransport``, with our options next to its fields."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.dialects.chat_request import parse_question
from api.dialects.run_options import ChatOptions
from api.fields import Name
from graph.errors import InvalidRequest

MOST_MESSAGES = 10_000
ClientFeature = Literal["text-citations", "reset-step"]


class UIMessage(BaseModel):
    """A message as the client stores it. Only text parts are read; the text of answers is already stored here."""

    model_config = ConfigDict(extra="ignore")

    id: Annotated[str, Field(max_length=200)] = ""
    role: Literal["system", "user", "assistant"]
    parts: list[dict[str, Any]] = []

    @property
    def text(self) -> str:
        """The message's text parts, on separate lines."""
        texts = [part.get("text") for part in self.parts if part.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))


class UIChatRequest(ChatOptions):
    """A chat's next question, which is its last message; the session has those before it."""

    id: Name = Field(description="The chat's id, chosen by the client: the external id of a session.")
    messages: list[UIMessage] = Field(default=[], max_length=MOST_MESSAGES)
    message: UIMessage | None = Field(default=None, description="The last message, instead of `messages`.")
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: Annotated[str | None, Field(max_length=200)] = Field(
        default=None, alias="messageId", description="The answer to regenerate, or the question that was edited."
    )
    accepts: Annotated[list[ClientFeature], Field(max_length=10)] = Field(
        default=[], description="Features that the client understands and some releases do not."
    )

    @property
    def sent_messages(self) -> list[UIMessage]:
        """The messages that the client sent, with the question at the end."""
        return [self.message] if self.message is not None else self.messages

    def question(self) -> str:
        """Return the text of the last message.

        Raises InvalidRequest if it is not a question of the user.
        """
        if not self.sent_messages:
            raise InvalidRequest("messages: send the chat's messages, or the last one as message.")
        last = self.sent_messages[-1]
        name = "message" if self.message is not None else f"messages.{len(self.messages) - 1}"
        if last.role != "user":
            raise InvalidRequest(f"{name}: the last message must be the user's.")
        return parse_question(last.text, f"{name}.parts")
