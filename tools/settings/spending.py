"""Prices of models, what their use costs by them, and limits by day, which ``tools/spending`` keeps."""

from collections.abc import Mapping
from datetime import UTC, tzinfo
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator, model_validator

from graph.evidence import Cost, ModelUse
from tools.settings.section import Section

PER = Decimal(1_000_000)  # tokens that a price is for

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

    A model that no price matches has none: its cost is unknown, and never 0.

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
        everywhere = SpendingLimits(workspace=self.workspace, user=self.user, key=self.key, address=self.address)
        own = self.workspaces.get(workspace)
        if own is None:
            return everywhere
        merged = {
            name: getattr(everywhere, name).model_copy(update=getattr(own, name).model_dump(exclude_unset=True))
            for name in SpendingLimits.model_fields
        }
        return SpendingLimits(**merged)

    def price_of(self, model: str) -> ModelPrice | None:
        """Return the first price that matches a model's name, upper and lower case alike."""
        name = model.lower()
        return next((each for each in self.prices if fnmatchcase(name, each.model.lower())), None)

    def cost(self, model: str, use: ModelUse) -> Decimal | None:
        """Return what was used of a model in units of the currency, None where the model has no price."""
        price = self.price_of(model)
        if price is None:
            return None
        cached_price = price.input if price.cached_input is None else price.cached_input
        cached = use["cached_tokens"]
        sums = (
            (use["input_tokens"] - cached) * price.input + cached * cached_price + use["output_tokens"] * price.output
        )
        return sums / PER

    def total_cost(self, models: Mapping[str, ModelUse]) -> Cost | None:
        """Return the cost of what was used of several models; None where none of them has a price."""
        costs = {model: self.cost(model, use) for model, use in models.items()}
        known = [cost for cost in costs.values() if cost is not None]
        if not known or self.currency is None:
            return None
        return Cost(
            amount=plain(sum(known, Decimal(0))),
            currency=self.currency,
            unpriced=sorted(model for model, cost in costs.items() if cost is None),
            estimated=any(use["estimated_calls"] for use in models.values()),
        )

    @property
    def zone(self) -> tzinfo:
        return zone_of(self.time_zone)


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name. UTC needs no tables of the system."""
    return UTC if name == "UTC" else ZoneInfo(name)


def plain(amount: Decimal | int) -> str:
    """Return an amount in plain digits, without an exponent and zeros at its end."""
    text = f"{Decimal(amount):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
