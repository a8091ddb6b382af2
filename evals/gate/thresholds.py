"""The committed thresholds: for each run of the gate its measures, and what the bounds of their intervals must keep."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from pydantic import BaseModel


class Threshold(BaseModel, extra="forbid", frozen=True):
    """What a 95% interval must keep: a least lower bound, a highest upper bound, or nothing but the baseline."""

    least: float | None = None
    most: float | None = None

    def broken(self, low: float, high: float) -> str:
        """Say in a few words how an interval breaks it; "" where it does not."""
        if self.least is not None and low < self.least:
            return f"lower bound below {self.least:g}"
        if self.most is not None and high > self.most:
            return f"upper bound above {self.most:g}"
        return ""

    def __str__(self) -> str:
        if self.least is not None:
            return f"≥ {self.least:g}"
        return "" if self.most is None else f"≤ {self.most:g}"


Thresholds = Mapping[str, Mapping[str, Threshold]]  # by run, by measure


def load_thresholds() -> Thresholds:
    """Read ``thresholds.toml``."""
    text = files(__package__).joinpath("thresholds.toml").read_text(encoding="utf-8")
    return {
        run: {name: Threshold.model_validate(kept) for name, kept in measures.items()}
        for run, measures in tomllib.loads(text).items()
    }
