"""Options of a run: what it reads and searches, which model writes the answer, and its budget."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from api.fields import Budget, ModelName, Name, PageIds, SelectedText
from graph.context import Context
from graph.evidence import Identity, SearchMode, WebMode, WhileRunning
from tools.runs.run_request import RunRequest


class SearchOptions(BaseModel):
    """The documents that a run reads, and where it searches."""

    page_ids: PageIds = Field(default=[], description="Documents to read in full.")
    only_selected_pages: bool = Field(default=False, description="Answer only from `page_ids` and `selected_text`.")
    selected_text: SelectedText | None = Field(
        default=None, description="A passage that the reader selected: read first, and citable."
    )
    search: SearchMode = Field(default="auto", description="`auto` decides whether the question needs the library.")
    web: WebMode = Field(
        default="off",
        description="`fallback`: if the library has nothing relevant; `also`: in addition to it; `first`: before it.",
    )
    spaces: Annotated[list[Name], Field(max_length=100)] = Field(
        default=[], description="Ids or slugs of the spaces to search; empty for all."
    )
    top_k: Annotated[int, Field(ge=1, le=30)] = 10
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.3

    def searching(self) -> dict[str, Any]:
        """Return the fields of a run's Context that these options set."""
        return self.model_dump(include={"only_selected_pages", "search", "web", "spaces", "top_k", "min_score"})


class RunOptions(SearchOptions):
    """Search options, with the model that writes the answer and its budget."""

    model: ModelName = ""
    thinking: bool = Field(default=False, description="Use the model's thinking model.")
    budget: Budget = Budget()

    def context(self, identity: Identity, knobs: Mapping[str, Any]) -> Context:
        """Return the context of a run for this identity; ``knobs`` are the deployment's settings."""
        return Context(
            workspace=identity.workspace,
            user=identity.user,
            model=self.model,
            thinking=self.thinking,
            max_model_calls=self.budget.model_calls,
            max_tokens=self.budget.tokens,
            max_seconds=self.budget.seconds,
            **self.searching(),
            **knobs,
        )


class ChatOptions(RunOptions):
    """Run options that chat clients send together with their protocol's fields and those of their host."""

    on_disconnect: Literal["cancel", "continue"] | None = None
    while_running: WhileRunning | None = None

    def to_run_request(
        self,
        question: str,
        identity: Identity,
        knobs: Mapping[str, Any],
        *,
        while_running: WhileRunning = "reject",
        edit: str | None = None,
        regenerate: str | None = None,
    ) -> RunRequest:
        """Return the run that answers a question for this identity; ``knobs`` are the deployment's settings.

        ``while_running`` is the protocol's default, used if the client does not set its own.
        """
        return RunRequest(
            question,
            self.context(identity, knobs),
            tuple(map(str, self.page_ids)),
            self.selected_text or "",
            while_running=self.while_running or while_running,
            edit=edit,
            regenerate=regenerate,
        )
