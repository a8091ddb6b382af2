"""Request and reply fields that routes and dialects share, with their limits."""

import re
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer

from graph.events import timestamp
from text.scripts import SURROGATES

Timestamp = Annotated[datetime, PlainSerializer(timestamp, return_type=str)]

# Half a surrogate pair is none of them, but nothing can be made of it either: it has no bytes.
CONTROL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{SURROGATES}]")


def _printable(value: str) -> str:
    if CONTROL.search(value):
        raise ValueError("control characters are not allowed, but for newline and tab")
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
    """Spell an id the one way that the rest of the service knows, or leave it out."""
    return None if value is None else str(value)


class Body(BaseModel):
    """What every request and response keeps to: the named fields and no other."""

    model_config = ConfigDict(extra="forbid")


class Budget(Body):
    """Caps of one run: model calls, of which 8 is the most, seconds, and tokens as the endpoint reports them."""

    model_calls: Annotated[int, Field(ge=0, le=8)] = 8
    seconds: Annotated[float, Field(gt=0, le=600)] = 120.0
    tokens: Annotated[int, Field(ge=1)] | None = None
