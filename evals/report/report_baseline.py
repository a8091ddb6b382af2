"""The baseline figures of a report: another run's, those of a file, or the gate's."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.gate.gate_baseline import figure_of, load_baseline
from evals.metrics.metric_groups import BY_NAME
from evals.run_folder import Configuration, RunFolder
from graph.errors import InvalidRequest

GATED = "golden"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Means to compare with, by the names of measures, and what they are of."""

    name: str
    means: Mapping[str, float]


def read_baseline(path: Path) -> Baseline:
    """Read the figures of a run's folder, or of a file that has them under ``all`` as ``metrics.json`` does.

    Raises InvalidRequest where neither is there.
    """
    figures = RunFolder(path).metrics() if path.is_dir() else _figures_in(path)
    found = figures.get("all")
    if not isinstance(found, Mapping) or not all(isinstance(figure, Mapping) for figure in found.values()):
        raise InvalidRequest(f"{path}: `all` is no table of figures; name a run's folder or its metrics.json.")
    return Baseline(name=path.name, means=_means(found))


def committed_baseline(configuration: Configuration) -> Baseline | None:
    """Give the figures that the gate holds a run of the golden set to; None where the run is not one that it makes."""
    if configuration["data"]["name"] != GATED:
        return None
    measures = load_baseline().get(configuration["options"]["model"], {})
    figures = {name: figure_of(BY_NAME[name], questions) for name, questions in measures.items() if name in BY_NAME}
    means = {name: figure.mean for name, figure in figures.items() if figure is not None}
    return Baseline(name="the gate's committed figures", means=means) if means else None


def _means(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    return {name: float(figure["mean"]) for name, figure in figures.items() if "mean" in figure}


def _figures_in(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{path} is no run's folder and no file of figures.") from error
    if not isinstance(found, Mapping):
        raise InvalidRequest(f"{path} is no file of figures: it holds no object.")
    return found
