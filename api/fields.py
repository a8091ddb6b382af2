"""Fields and options that several wire formats take in their requests."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin
from uuid import UUID

from fastapi import Query
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    ValidationInfo,
    field_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function

from graph.context import Context
from graph.events import timestamp
from graph.evidence import AnswerFrom, Effort, Identity, Release, SearchMode, WebMode, WhileRunning
from graph.rows import Turn
from text.scripts import SURROGATES
from tools.sessions.run_request import RunRequest

Timestamp = Annotated[datetime, PlainSerializer(timestamp, return_type=str)]

# A lone surrogate is not a control character, but it can't be encoded as UTF-8.
CONTROL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{SURROGATES}]")


_CONTROL_CLASS = r"\u0000-\u0008\u000b-\u001f\u007f-\u009f"
_SPACE_CLASS = r"\u0009\u000a\u0020\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
PRINTABLE = f"^[^{_CONTROL_CLASS}]*[^{_CONTROL_CLASS}{_SPACE_CLASS}][^{_CONTROL_CLASS}]*$"


def _printable(value: str) -> str:
    if CONTROL.search(value):
        raise ValueError("control characters are not allowed, except newline and tab")
    if not value.strip():
        raise ValueError("blank text is not allowed")
    return value


class _Printable:
    """Text that has something to read and no control characters, which the schema tells by a pattern."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(_printable, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "pattern": PRINTABLE}


Printable = _Printable()
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
SelectedIds = Annotated[list[UUID], Field(max_length=1000)]
CollectionIds = Annotated[list[UUID], Field(max_length=100)]


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


class ExactTypes(BaseModel):
    """Base of requests that take no number for a flag, no flag for a number and no text for either, as JSON has it."""

    reads_text: ClassVar[bool] = False  # whether it is also read from a query string, where all is text

    @field_validator("*", mode="before")
    @classmethod
    def _exact(cls, value: Any, info: ValidationInfo) -> Any:
        kinds = _scalars(cls, info.field_name or "")
        if value is None or not kinds or (isinstance(value, str) and cls.reads_text):
            return value
        if kinds == {bool} and not isinstance(value, bool):
            raise ValueError("must be true or false")
        if bool not in kinds and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise ValueError("must be a number")
        return value


@cache
def _scalars(model: type[BaseModel], field: str) -> frozenset[Any]:
    """Return which of bool, int and float a field takes; none if it takes anything else but null."""
    return _members(model.model_fields[field].annotation) - {NoneType}


def _members(annotation: Any) -> frozenset[Any]:
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        parts = [_members(each) for each in get_args(annotation)]
        return frozenset(kind for part in parts for kind in part) if all(parts) else frozenset()
    return frozenset({annotation}) if annotation in (bool, int, float, NoneType) else frozenset()


class Body(ExactTypes):
    """Base of requests and replies: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Budget(Body):
    """Caps of one run: model calls (at most 8), seconds, and tokens as the endpoint reports them."""

    model_calls: Annotated[int, Field(ge=0, le=8)] = 8
    seconds: Annotated[float, Field(gt=0, le=600)] = 120.0
    tokens: Annotated[int, Field(ge=1)] | None = None


class SearchOptions(ExactTypes):
    """The documents that a run reads, and where it searches."""

    page_ids: SelectedIds = Field(
        default=[], description="Documents to read in full; more than 100 are searched instead."
    )
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
        return Context.of(
            identity,
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
        history: tuple[Turn, ...] | None = None,
    ) -> RunRequest:
        """Return the run that answers a question for this identity; ``knobs`` are the deployment's settings.

        ``while_running`` is the protocol's default, used if the client does not set its own. ``history`` replaces what
        the session remembers.
        """
        return RunRequest(
            question,
            self.context(identity, knobs),
            tuple(map(str, self.page_ids)),
            self.selected_text or "",
            while_running=self.while_running or while_running,
            edit=edit,
            regenerate=regenerate,
            history=history,
        )
