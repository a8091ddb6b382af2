"""Docs chatbot requests. Fields that are not known here are ignored."""

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
    """What every request and response keeps to."""

    model_config = ConfigDict(extra="ignore")


class DocsQuery(DocsBody):
    """A question of a page's reader, about the documentation or about what is marked on the page."""

    query: Annotated[str, Field(min_length=1, max_length=1000), Printable]
    selected_text: SelectedText | None = None
    session_id: UUID4 | None = Field(default=None, description="Left out of the first message, which makes a session.")
    top_k: Annotated[int, Field(ge=1, le=30)] = CHUNKS_FOUND
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(default=THRESHOLD, description="The least relevance.")

    def request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Lay out the run that this asks for."""
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            top_k=self.top_k,
            min_score=self.threshold,
            **knobs,
        )
        return RunRequest(self.query, context, selected_text=self.selected_text or "")
