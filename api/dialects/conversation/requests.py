"""Conversation requests, as a query string or as JSON."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from api.fields import CONTROL, Question

ConversationId = Annotated[str, StringConstraints(max_length=500)]


class ConversationQuestion(BaseModel):
    """A question, and the conversation that it belongs to; unknown fields are ignored."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    query: Question
    conversation_id: ConversationId | None = Field(
        default=None,
        alias="conversationId",
        description="The host's own id, in any format; without one a conversation is created.",
    )
    progress: bool = Field(default=False, description="Send `progress` and `source_preview` too.")
    thinking: bool = Field(default=False, description="Use the model's thinking model, and send `thinking` too.")

    @field_validator("conversation_id")
    @classmethod
    def _storable(cls, value: str | None) -> str | None:
        if value and CONTROL.search(value):
            raise ValueError("control characters are not allowed")
        return value or None
