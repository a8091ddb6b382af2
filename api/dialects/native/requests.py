"""Native requests. Unknown fields are refused, never ignored."""

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, field_validator
from pydantic_core import PydanticCustomError

from api.dialects.run_options import RunOptions
from api.fields import Body, PageIds, Question, Title, optional
from graph.evidence import Identity, WhileRunning
from tools.runs.run_request import RunRequest

WITH_REGENERATE = "leave it out: regenerate asks the same question again"


def _no_question() -> Any:
    return None


class RunQuestion(Body):
    """A question, or the message to edit or regenerate."""

    edit: UUID | None = Field(
        default=None, description="A question of the session that this one replaces, on a new branch."
    )
    regenerate: UUID | None = Field(
        default=None, description="An answer to regenerate: its question is asked again, unchanged."
    )
    question: Question = Field(
        default_factory=_no_question, validate_default=True, description="Required, except with `regenerate`."
    )

    @field_validator("regenerate")
    @classmethod
    def _one_branch(cls, value: UUID | None, info: ValidationInfo) -> UUID | None:
        if value is not None and info.data.get("edit") is not None:
            raise ValueError("send either edit or regenerate")
        return value

    @field_validator("question", mode="wrap")
    @classmethod
    def _required_unless_regenerate(cls, value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> str:
        again = info.data.get("regenerate") is not None
        if value is not None:
            if again:
                raise ValueError(WITH_REGENERATE)
            return str(check(value))
        if not again and "regenerate" in info.data:
            raise PydanticCustomError("missing", "Field required")
        return ""


class NewRun(RunOptions, RunQuestion):
    """A question, and how to answer it."""

    on_disconnect: Literal["cancel", "continue"] = "cancel"
    while_running: WhileRunning = Field(
        default="reject",
        description="If the session is already answering: `reject` with 409, `enqueue` after it, or `interrupt` it.",
    )
    stream: bool = Field(default=True, description="true: Server-Sent Events; false: the finished message as JSON.")

    @field_validator("page_ids", "selected_text")
    @classmethod
    def _not_with_regenerate(cls, value: Any, info: ValidationInfo) -> Any:
        if value and info.data.get("regenerate") is not None:
            raise ValueError(WITH_REGENERATE)
        return value

    def to_run_request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Return the requested run for this identity; ``knobs`` are the deployment's settings."""
        return RunRequest(
            self.question,
            self.context(identity, knobs),
            tuple(map(str, self.page_ids)),
            self.selected_text or "",
            while_running=self.while_running,
            edit=optional(self.edit),
            regenerate=optional(self.regenerate),
        )


class NewSession(Body):
    """The initial fields of a session."""

    title: Title | None = None
    page_id: UUID | None = Field(default=None, description="The host's page on which it was started.")
    page_ids: PageIds = Field(default=[])
    ephemeral: bool = Field(default=False, description="Never listed; deleted after 24 hours.")


class SessionChange(Body):
    """Changes to a session; fields that are left out stay as they are."""

    title: Title | None = None
    page_ids: PageIds | None = None
