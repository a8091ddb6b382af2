"""Moments as JavaScript clients read and write them."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer


def iso(at: datetime) -> str:
    """Write a moment in ISO 8601, in UTC, with milliseconds and Z."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Moment = Annotated[datetime, PlainSerializer(iso, return_type=str)]
