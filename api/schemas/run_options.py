"""How a run is to be done, for chat clients that can send fields of ours beside their protocol's own."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.schemas.fields import Budget, Name, PageIds, SelectedText
from graph.context import Context
from graph.evidence import Identity, SearchMode, WebMode, WhileRunning
from tools.runs import RunRequest


class RunOptions(BaseModel):
    """The options of the native API under the same names; fields that are not named here belong to the host."""

    model_config = ConfigDict(extra="ignore")

    page_ids: PageIds = Field(default=[], description="Documents to read whole.")
    only_selected_pages: bool = Field(default=False, description="Answer from `page_ids` and `selected_text` alone.")
    selected_text: SelectedText | None = Field(default=None, description="A passage that the reader marked; citable.")
    search: SearchMode = "auto"
    web: WebMode = "off"
    spaces: Annotated[list[Name], Field(max_length=100)] = Field(
        default=[], description="Ids or slugs of the spaces to search; empty for all."
    )
    top_k: Annotated[int, Field(ge=1, le=30)] = 10
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.3
    model: Annotated[str, Field(max_length=100)] = Field(
        default="", description="A configured model's name, or `extractive`; empty for the deployment's default."
    )
    thinking: bool = Field(default=False, description="Use the model's thinking model.")
    budget: Budget = Budget()
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
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            search=self.search,
            web=self.web,
            only_selected_pages=self.only_selected_pages,
            spaces=self.spaces,
            top_k=self.top_k,
            min_score=self.min_score,
            model=self.model,
            thinking=self.thinking,
            max_model_calls=self.budget.model_calls,
            max_tokens=self.budget.tokens,
            max_seconds=self.budget.seconds,
            **knobs,
        )
        return RunRequest(
            question,
            context,
            tuple(map(str, self.page_ids)),
            self.selected_text or "",
            while_running=self.while_running or while_running,
            edit=edit,
            regenerate=regenerate,
        )
