"""id_citations requests."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from api.dialects.run_options import ChatOptions
from api.fields import ModelName, PageIds, Question
from graph.evidence import Identity
from tools.runs.run_request import RunRequest


class NewMessage(BaseModel):
    """A question to a workspace; fields that are not named here are passed over."""

    content: Question
    document_ids: PageIds = Field(default=[], description="Answer from these documents alone; empty for all.")
    model: ModelName = ""
    thinking: bool = Field(default=False, description="Use the model's thinking model.")
    stream: bool = Field(default=False, description="As `Accept: text/event-stream`: tell the answer as it is made.")

    def request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Lay out the run that this asks for; it waits for those before it, as messages of a conversation do."""
        options = ChatOptions(
            page_ids=self.document_ids,
            only_selected_pages=bool(self.document_ids),
            model=self.model,
            thinking=self.thinking,
        )
        return options.request(self.content, identity, knobs, while_running="enqueue")
