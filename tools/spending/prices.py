"""The price of what was used of a model, exactly, by the table of the settings."""

from collections.abc import Mapping
from decimal import Decimal
from fnmatch import fnmatchcase

from graph.evidence import Cost, ModelUse
from tools.settings import ModelPrice, SpendingSettings

PER = Decimal(1_000_000)  # tokens that a price is for


class Prices:
    """The deployment's table of prices. A model that no row matches has none: its cost is unknown, and never 0."""

    def __init__(self, settings: SpendingSettings) -> None:
        self._table = settings.prices
        self.currency = settings.currency

    def price_of(self, model: str) -> ModelPrice | None:
        """Return the first row that matches a model's name, upper and lower case alike."""
        name = model.lower()
        return next((each for each in self._table if fnmatchcase(name, each.model.lower())), None)

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

    def total(self, models: Mapping[str, ModelUse]) -> Cost | None:
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


def plain(amount: Decimal | int) -> str:
    """Return an amount in plain digits, without an exponent and zeros at its end."""
    text = f"{Decimal(amount):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
