"""Fields and options that several wire formats take in their requests."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from graph.context import Context
from graph.events import timestamp
from graph.evidence import AnswerFrom, Effort, Identity, Release, SearchMode, WebMode, WhileRunning
from text.scripts import SURROGATES
from tools.runs.run_request import RunRequest

Timestamp = Annotated[datetime, PlainSerializer(timestamp, return_type=str)]

# A lone surrogate is not a control character, but it can't be encoded as UTF-8.
CONTROL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{SURROGATES}]")


def _printable(value: str) -> str:
    if CONTROL.search(value):
        raise ValueError("control characters are not allowed, except newline and tab")
    if not value.strip():
        raise ValueError("blank text is not allowed")
    return value


Printable = AfterValidator(_printable)
Question = Annotated[str, Field(min_length=1, max_length=10_000), Printable]
# A browser's selection, as its text fields, may break lines as Windows does.
LineEnds = BeforeValidator(lambda value: re.sub(r"\r\n?", "\n", value) if isinstance(value, str) else value)
SelectedText = Annotated[str, Field(min_length=1, max_length=1000), Printable, LineEnds]
Name = Annotated[str, Field(min_length=1, max_length=200), Printable]
Title = Annotated[str, Field(min_length=1, max_length=255), Printable]
ModelName = Annotated[
    str,
    Field(
        max_length=100,
        description="A configured model's name, or `extractive`; empty for the deployment's default.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[str | None, Query(max_length=500)]
PageIds = Annotated[list[UUID], Field(max_length=100)]


def optional(value: UUID | None) -> str | None:
    """Return an id as a canonical string, or None."""
    return None if value is None else str(value)


AnswerFromField = Annotated[
    AnswerFrom | None,
    Field(
        description="Whether a model may answer from its own knowledge: `library` never, `library_then_model` where "
        "nothing answers the question, `model` without looking anything up; unset, as the deployment says."
    ),
]


def knobs_with(
    knobs: Mapping[str, Any], answer_from: AnswerFrom | None, *, default: AnswerFrom = "library"
) -> dict[str, Any]:
    """Return the deployment's settings of a run with where to answer from.

    The request's choice comes first, then the deployment's, then the ``default`` of the wire format.
    """
    return {"answer_from": default, **knobs, **({"answer_from": answer_from} if answer_from else {})}


class Body(BaseModel):
    """Base of requests and replies: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Budget(Body):
    """Caps of one run: model calls (at most 8), seconds, and tokens as the endpoint reports them."""

    model_calls: Annotated[int, Field(ge=0, le=8)] = 8
    seconds: Annotated[float, Field(gt=0, le=600)] = 120.0
    tokens: Annotated[int, Field(ge=1)] | None = None


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
    effort: Effort | None = Field(
        default=None, description="How many steps a model takes; unset, as the deployment says."
    )
    answer_from: AnswerFromField = None
    release: Release | None = Field(
        default=None, description="`checked`: text leaves when code has checked it; `judged`: when a judge has."
    )

    def context(self, identity: Identity, knobs: Mapping[str, Any]) -> Context:
        """Return the context of a run for this identity; ``knobs`` are the deployment's settings."""
        return Context(
            workspace=identity.workspace,
            user=identity.user,
            groups=list(identity.groups),
            model=self.model,
            thinking=self.thinking,
            max_model_calls=self.budget.model_calls,
            max_tokens=self.budget.tokens,
            max_seconds=self.budget.seconds,
            **self.searching(),
            **{**knobs, **self.model_dump(include={"effort", "answer_from", "release"}, exclude_none=True)},
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
