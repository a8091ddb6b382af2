"""id_citations requests."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from api.dialects.run_options import ChatOptions
from api.fields import ModelName, PageIds, Question
from graph.evidence import Identity
from tools.runs.run_request import RunRequest


class NewMessage(BaseModel):
    """A question to a workspace; unknown fields are ignored."""

    content: Question
    document_ids: PageIds = Field(default=[], description="Answer only from these documents; empty for all.")
    model: ModelName = ""
    thinking: bool = Field(default=False, description="Use the model's thinking model.")
    stream: bool = Field(default=False, description="Stream the answer, like `Accept: text/event-stream`.")

    def to_run_request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Return the requested run, which waits for the runs before it; ``knobs`` are the deployment's settings."""
        options = ChatOptions(
            page_ids=self.document_ids,
            only_selected_pages=bool(self.document_ids),
            model=self.model,
            thinking=self.thinking,
        )
        return options.to_run_request(self.content, identity, knobs, while_running="enqueue")
