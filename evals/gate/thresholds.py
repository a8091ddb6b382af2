"""The committed thresholds: for each run of the gate its measures, and what the bounds of their intervals must keep."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from pydantic import BaseModel

from evals.bootstrap import Interval


class Threshold(BaseModel, extra="forbid", frozen=True):
    """What a figure and its 95% interval must keep; without any bound the baseline alone holds the measure.

    ``figure`` is the least that the figure itself may be, ``least`` its lower bound, and ``most`` the highest that its
    upper bound may be.
    """

    figure: float | None = None
    least: float | None = None
    most: float | None = None

    def broken(self, found: Interval) -> list[str]:
        """Say in a few words how an interval breaks it; nothing where it does not."""
        faults = []
        if self.figure is not None and found.mean < self.figure:
            faults.append(f"figure below {self.figure:g}")
        if self.least is not None and found.low < self.least:
            faults.append(f"lower bound below {self.least:g}")
        if self.most is not None and found.high > self.most:
            faults.append(f"upper bound above {self.most:g}")
        return faults

    def __str__(self) -> str:
        bounds = (("figure ≥", self.figure), ("low ≥", self.least), ("high ≤", self.most))
        return ", ".join(f"{which} {bound:g}" for which, bound in bounds if bound is not None)


Thresholds = Mapping[str, Mapping[str, Threshold]]  # by run, by measure


def load_thresholds() -> Thresholds:
    """Read ``thresholds.toml``."""
    text = files(__package__).joinpath("thresholds.toml").read_text(encoding="utf-8")
    return {
        run: {name: Threshold.model_validate(kept) for name, kept in measures.items()}
        for run, measures in tomllib.loads(text).items()
    }
