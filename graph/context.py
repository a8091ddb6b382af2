"""Configuration of one run, in JSON-compatible fields that Studio can show and a request can set."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from pydantic import Field

from graph.evidence import AnswerFrom, Effort, Identity, Release, SearchMode, WebMode


@dataclass(frozen=True)
class Context:
    """Settings of one run. The defaults answer from the default workspace with the deployment's default model.

    ``allowed_spaces`` are those that the asker's credentials are restricted to, None for all; ``spaces`` choose among
    these. ``is_shared``: strangers to each other ask as this user, for whom the library is searched and never listed.
    """

    workspace: str = "default"
    user: str = "local"
    groups: list[str] = field(default_factory=list)
    allowed_spaces: list[str] | None = None
    is_shared: bool = False
    search: SearchMode = "auto"
    web: WebMode = "off"
    only_selected_pages: bool = False
    spaces: list[str] = field(default_factory=list)
    top_k: Annotated[int, Field(ge=1, le=30)] = 10
    min_score: Annotated[float, Field(ge=0.0, le=1.0)] = 0.3
    page_tokens: Annotated[int | None, Field(ge=256)] = None
    model: str = ""
    thinking: bool = False
    effort: Effort = "balanced"
    answer_from: AnswerFrom = "library"
    release: Release = "checked"
    max_model_calls: Annotated[int, Field(ge=0, le=8)] = 8
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    max_seconds: Annotated[float | None, Field(gt=0)] = 120.0
    max_rewrites: Annotated[int, Field(ge=0, le=2)] = 1
    max_repairs: Annotated[int, Field(ge=0, le=2)] = 1
    assess_with_model: bool = False

    @classmethod
    def of(cls, identity: Identity, **fields: Any) -> Self:
        """Return the settings of a run that an identity asks for."""
        return cls(workspace=identity.workspace, user=identity.user, groups=list(identity.groups), **fields)

    @property
    def identity(self) -> Identity:
        spaces = None if self.allowed_spaces is None else tuple(self.allowed_spaces)
        return Identity(self.workspace, self.user, tuple(self.groups), spaces, self.is_shared)
