"""Request and reply fields shared by routes and dialects, with their limits."""

import re
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer

from graph.events import timestamp
from text.scripts import SURROGATES

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
SelectedText = Annotated[str, Field(min_length=1, max_length=1000), Printable]
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


class Body(BaseModel):
    """Base of requests and replies: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Budget(Body):
    """Caps of one run: model calls (at most 8), seconds, and tokens as the endpoint reports them."""

    model_calls: Annotated[int, Field(ge=0, le=8)] = 8
    seconds: Annotated[float, Field(gt=0, le=600)] = 120.0
    tokens: Annotated[int, Field(ge=1)] | None = None
