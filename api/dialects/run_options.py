"""Options of a run: what it reads and searches, who writes the answer, and its budget."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from api.fields import Budget, ModelName, Name, PageIds, SelectedText
from graph.context import Context
from graph.evidence import Identity, SearchMode, WebMode, WhileRunning
from tools.runs.run_request import RunRequest


class SearchOptions(BaseModel):
    """What a run reads, and where it searches."""

    page_ids: PageIds = Field(default=[], description="Documents to read whole.")
    only_selected_pages: bool = Field(default=False, description="Answer from `page_ids` and `selected_text` alone.")
    selected_text: SelectedText | None = Field(
        default=None, description="A passage that the reader marked: read first, and citable."
    )
    search: SearchMode = Field(default="auto", description="`auto` decides whether the question needs the library.")
    web: WebMode = Field(
        default="off",
        description="`fallback`: where the library holds nothing relevant; `also`: beside it; `first`: before it.",
    )
    spaces: Annotated[list[Name], Field(max_length=100)] = Field(
        default=[], description="Ids or slugs of the spaces to search; empty for all."
    )
    top_k: Annotated[int, Field(ge=1, le=30)] = 10
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.3

    def searching(self) -> dict[str, Any]:
        """Return what these options settle of a run's context."""
        return self.model_dump(include={"only_selected_pages", "search", "web", "spaces", "top_k", "min_score"})


class RunOptions(SearchOptions):
    """Who writes the answer, too, and what that may take."""

    model: ModelName = ""
    thinking: bool = Field(default=False, description="Use the model's thinking model.")
    budget: Budget = Budget()

    def context(self, identity: Identity, knobs: Mapping[str, Any]) -> Context:
        """Lay out the context of a run on the identity's behalf; ``knobs`` are the deployment's."""
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
    """The options of chat clients, which send them beside their protocol's own fields and those of their host."""

    on_disconnect: Literal["cancel", "continue"] | None = None
    while_running: WhileRunning | None = None

    def request(
        self,
        question: str,
        identity: Identity,
        knobs: Mapping[str, Any],
        *,
        while_running: WhileRunning = "reject",
        edit: str | None = None,
        regenerate: str | None = None,
    ) -> RunRequest:
        """Lay out the run of a question on the identity's behalf; ``knobs`` are the deployment's.

        ``while_running`` is the protocol's own custom, where the client says nothing of it.
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
