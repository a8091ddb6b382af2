"""Prices of models and limits by day, which ``tools/spending`` keeps."""

from datetime import UTC, tzinfo
from decimal import Decimal
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator, model_validator

from tools.settings.section import Section

Price = Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=6)]


class ModelPrice(Section):
    """What a million tokens of a model cost; ``cached_input`` is for those that its endpoint had in its prompt cache.

    ``model`` is the name that its endpoint knows it by; ``*`` in it stands for any characters.
    """

    model: Annotated[str, Field(min_length=1, max_length=200)]
    input: Price
    cached_input: Price | None = None
    output: Price


class DailyLimits(Section):
    """The most that may be used in a day: runs, tokens of models, and money in ``spending.currency``; null for any."""

    runs: Annotated[int | None, Field(ge=0)] = None
    tokens: Annotated[int | None, Field(ge=0)] = None
    cost: Annotated[Decimal | None, Field(ge=0)] = None

    def __str__(self) -> str:
        """Return the limits as the JSON object that sets them."""
        return self.model_dump_json(exclude_none=True)


class SpendingLimits(Section):
    """Limits by day for a whole workspace, and for each user, API key and client address in it."""

    workspace: DailyLimits = DailyLimits.unset()
    user: DailyLimits = DailyLimits.unset()
    key: DailyLimits = DailyLimits.unset()
    address: DailyLimits = DailyLimits.unset()


class SpendingSettings(SpendingLimits):
    """Prices of models, and limits by day. Of several prices that match a model, the first counts.

    ``workspaces`` holds limits by the name of a workspace; what is set there replaces the deployment's limit. A day
    begins at midnight in ``time_zone``.
    """

    currency: Annotated[str | None, Field(pattern=r"^[A-Z]{3}$")] = None
    prices: list[ModelPrice] = []
    workspaces: dict[str, SpendingLimits] = {}
    time_zone: str = "UTC"

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            zone_of(value)
        except (ValueError, OSError, ZoneInfoNotFoundError):
            raise ValueError("must be a time zone such as UTC or Europe/Berlin") from None
        return value

    @model_validator(mode="after")
    def _complete(self) -> "SpendingSettings":
        if self.prices and self.currency is None:
            raise ValueError("spending.currency is required with spending.prices, such as USD")
        limits = [self, *self.workspaces.values()]
        if not self.prices and any(
            each.cost is not None for of in limits for each in (of.workspace, of.user, of.key, of.address)
        ):
            raise ValueError("a limit of cost needs spending.prices: without them no cost is known")
        return self

    def limits_of(self, workspace: str) -> SpendingLimits:
        """Return the limits that hold in a workspace."""
        everywhere = SpendingLimits(workspace=self.workspace, user=self.user, key=self.key, address=self.address)
        own = self.workspaces.get(workspace)
        if own is None:
            return everywhere
        merged = {
            name: getattr(everywhere, name).model_copy(update=getattr(own, name).model_dump(exclude_unset=True))
            for name in SpendingLimits.model_fields
        }
        return SpendingLimits(**merged)

    @property
    def zone(self) -> tzinfo:
        """The time zone in which days begin."""
        return zone_of(self.time_zone)


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name. UTC needs no tables of the system."""
    return UTC if name == "UTC" else ZoneInfo(name)
