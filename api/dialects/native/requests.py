"""Native requests. A field that this version does not have is refused, never ignored."""

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, field_validator
from pydantic_core import PydanticCustomError

from api.dialects.run_options import RunOptions
from api.fields import Body, PageIds, Question, Title, optional
from graph.evidence import Identity, WhileRunning
from tools.runs.run_request import RunRequest

ASKED_AGAIN = "leave it out: with regenerate, a question is asked again as it was"


def _left_out() -> Any:
    return None


class RunQuestion(Body):
    """A question, or what is asked again."""

    edit: UUID | None = Field(
        default=None, description="A question of the session that this one replaces, on a branch of its own."
    )
    regenerate: UUID | None = Field(
        default=None, description="An answer to be given anew: its question is asked again, as it was."
    )
    question: Question = Field(
        default_factory=_left_out, validate_default=True, description="Required, except with `regenerate`."
    )

    @field_validator("regenerate")
    @classmethod
    def _one_branch(cls, value: UUID | None, info: ValidationInfo) -> UUID | None:
        if value is not None and info.data.get("edit") is not None:
            raise ValueError("send either edit or regenerate")
        return value

    @field_validator("question", mode="wrap")
    @classmethod
    def _asked(cls, value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> str:
        again = info.data.get("regenerate") is not None
        if value is not None:
            if again:
                raise ValueError(ASKED_AGAIN)
            return str(check(value))
        if not again and "regenerate" in info.data:
            raise PydanticCustomError("missing", "Field required")
        return ""


class NewRun(RunOptions, RunQuestion):
    """One question, and how it is to be answered."""

    on_disconnect: Literal["cancel", "continue"] = "cancel"
    while_running: WhileRunning = Field(
        default="reject",
        description="Where the session is answering: `reject` with 409, `enqueue` behind it, or `interrupt` it.",
    )
    stream: bool = Field(default=True, description="true: Server-Sent Events; false: the finished message as JSON.")

    @field_validator("page_ids", "selected_text")
    @classmethod
    def _its_own(cls, value: Any, info: ValidationInfo) -> Any:
        if value and info.data.get("regenerate") is not None:
            raise ValueError(ASKED_AGAIN)
        return value

    def request(self, identity: Identity, knobs: Mapping[str, Any]) -> RunRequest:
        """Lay out the run that this asks for, on the identity's behalf; ``knobs`` are the deployment's."""
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
    """What a session starts with."""

    title: Title | None = None
    page_id: UUID | None = Field(default=None, description="The page of the host that it is begun on.")
    page_ids: PageIds = Field(default=[])
    ephemeral: bool = Field(default=False, description="Never listed; deleted after 24 hours.")


class SessionChange(Body):
    """What of a session is to be another; what is left out stays."""

    title: Title | None = None
    page_ids: PageIds | None = None
