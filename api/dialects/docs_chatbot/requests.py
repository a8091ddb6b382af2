"""Docs chatbot requests. Unknown fields are ignored."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import UUID4, BaseModel, ConfigDict, Field

from api.fields import Printable, SelectedText
from graph.context import Context
from graph.evidence import Identity
from tools.runs.run_request import RunRequest

CHUNKS_FOUND = 5
THRESHOLD = 0.7


class DocsBody(BaseModel):
    """Base of requests and replies: unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")


class DocsQuery(DocsBody):
    """A question about the documentation, or about the text selected on the page."""

    query: Annotated[str, Field(min_length=1, max_length=1000), Printable]
    selected_text: SelectedText | None = None
    session_id: UUID4 | None = Field(default=None, description="Omitted in the first message, which creates a session.")
    top_k: Annotated[int, Field(ge=1, le=30)] = CHUNKS_FOUND
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(default=THRESHOLD, description="The least relevance.")

    def to_run_request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Return the requested run; ``knobs`` are the deployment's settings."""
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            top_k=self.top_k,
            min_score=self.threshold,
            **knobs,
        )
        return RunRequest(self.query, context, selected_text=self.selected_text or "")
