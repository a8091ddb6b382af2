"""Figures as tiles, as bars with intervals, and by tag, each compared with a baseline."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.calibration import Calibration
from evals.gate_baseline import figure_of, load_baseline
from evals.metrics import Figure, Figures, Metric
from evals.metrics.metric_groups import BY_NAME, GROUPS, KEY_FIGURES
from evals.report.charts import interval_bar
from evals.report.html_markup import Markup, counted, element, folded, joined, shown, signed, table
from evals.run_folder import Configuration, RunFolder
from graph.errors import InvalidRequest
from tools.settings import EXTRACTIVE

GOLDEN, OWN_MANUALS = "golden", "manual_gate"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Means to compare with, by measure, and the name of their run."""

    name: str
    means: Mapping[str, float]


def read_baseline(path: Path) -> Baseline:
    """Read the figures of a run's folder, or of a file that has them under ``all``, like ``metrics.json``.

    Raises InvalidRequest if the path is neither.
    """
    figures = RunFolder(path).metrics() if path.is_dir() else _figures_in(path)
    found = figures.get("all")
    if not isinstance(found, Mapping) or not all(isinstance(figure, Mapping) for figure in found.values()):
        raise InvalidRequest(f"{path}: `all` is not a table of figures; name a run's folder or its metrics.json.")
    return Baseline(name=path.name, means=_means(found))


def committed_baseline(configuration: Configuration) -> Baseline | None:
    """Return the gate's baseline for a run of one of its sets; None if the gate has no such run."""
    run = configuration["options"]["model"]
    if configuration["data"]["name"] == OWN_MANUALS and run == EXTRACTIVE:
        run = "manuals"
    elif configuration["data"]["name"] != GOLDEN:
        return None
    measures = load_baseline().get(run, {})
    figures = {name: figure_of(BY_NAME[name], questions) for name, questions in measures.items() if name in BY_NAME}
    means = {name: figure.mean for name, figure in figures.items() if figure is not None}
    return Baseline(name="the gate's committed figures", means=means) if means else None


def _means(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    return {name: float(figure["mean"]) for name, figure in figures.items() if "mean" in figure}


def _figures_in(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{path} is neither a run's folder nor a file of figures.") from error
    if not isinstance(found, Mapping):
        raise InvalidRequest(f"{path} is not a file of figures: it holds no object.")
    return found


def tiles(figures: Figures, baseline: Baseline | None) -> Markup:
    """Show the key figures that the run has."""
    chosen = [(BY_NAME[name], figures[name]) for name in KEY_FIGURES if name in figures]
    return element("ul", *(_tile(metric, figure, baseline) for metric, figure in chosen), class_="tiles")


def _tile(metric: Metric, figure: Figure, baseline: Baseline | None) -> Markup:
    return element(
        "li",
        element("div", metric.title, class_="name"),
        element("div", shown(figure["mean"], metric.unit), class_="value"),
        element("div", _interval(metric, figure), class_="range"),
        _baseline_note(metric, baseline),
        class_="tile",
        title=metric.means,
    )


def _baseline_note(metric: Metric, baseline: Baseline | None) -> Markup | None:
    if baseline is None or metric.name not in baseline.means:
        return None
    return element("div", f"baseline {shown(baseline.means[metric.name], metric.unit)}", class_="range")


def measures(figures: Figures, baseline: Baseline | None) -> list[Markup]:
    """Show every measure of the run as a bar, one table per group."""
    tables = []
    for title, metrics in GROUPS.items():
        taken = [metric for metric in metrics if metric.name in figures]
        if taken:
            tables.append(_group(title, taken, figures, baseline))
    return tables


def _group(title: str, metrics: Sequence[Metric], figures: Figures, baseline: Baseline | None) -> Markup:
    means = {} if baseline is None else baseline.means
    most = {
        unit: max((max(figures[m.name]["high"], means.get(m.name, 0.0)) for m in metrics if m.unit == unit), default=0)
        for unit in ("count", "ms")
    }
    columns = ["Measure", "Mean and interval", "Mean", "95% interval", "Questions"]
    rows = []
    for metric in metrics:
        figure, old = figures[metric.name], means.get(metric.name)
        says = f"{metric.title}: {shown(figure['mean'], metric.unit)}, 95% interval {_interval(metric, figure)}" + (
            "" if old is None else f"; baseline {shown(old, metric.unit)}"
        )
        row = [
            _named(metric),
            interval_bar(figure, most=most.get(metric.unit, 1.0), says=says, baseline=old),
            shown(figure["mean"], metric.unit),
            _interval(metric, figure),
            f"{figure['n']:,}",
        ]
        rows.append(row if baseline is None else [*row, "" if old is None else shown(old, metric.unit)])
    if baseline is not None:
        columns.append("Baseline")
    return table(title, columns, rows, class_="measures", numbers=tuple(range(2, len(columns))))


def _named(metric: Metric) -> Markup:
    return element("span", metric.title, element("small", metric.means), class_="measure")


def _interval(metric: Metric, figure: Figure) -> str:
    return f"{shown(figure['low'], metric.unit)} – {shown(figure['high'], metric.unit)}"


def reliability(found: Calibration) -> Markup:
    """Show how the stated chances of answers agree with what was right, bin by bin."""
    auroc = "–" if found["auroc"] is None else shown(found["auroc"], "share")
    says = (
        f"{counted(found['answers'], 'answer')} of known truth, {shown(found['right'], 'share')} of them right, stated "
        f"{shown(found['stated'], 'share')} on average. Expected calibration error {shown(found['error'], 'share')}, "
        f"AUROC {auroc}."
    )
    rows = [
        [
            f"{each['low']:.1f} – {each['high']:.1f}",
            f"{each['answers']:,}",
            shown(each["stated"], "share"),
            shown(each["right"], "share"),
            signed(each["right"] - each["stated"], "share"),
        ]
        for each in found["bins"]
    ]
    columns = ["Stated chance", "Answers", "Stated, mean", "Right", "Right less stated"]
    return joined([element("p", says), table("Answerhood against right answers", columns, rows, numbers=(1, 2, 3, 4))])


def ragas_scores(report: Mapping[str, Any]) -> Markup:
    """Show the mean of each of ragas' metrics, and how many questions were scored, failed and were left out."""
    rows = [
        [
            name,
            *(
                ["–", ""]
                if (figure := metric["figure"]) is None
                else [
                    shown(figure["mean"], "share"),
                    f"{shown(figure['low'], 'share')} – {shown(figure['high'], 'share')}",
                ]
            ),
            f"{len(metric['scores']):,}",
            f"{len(metric['failed']):,}",
            f"{sum(metric['left_out'].values()):,}",
        ]
        for name, metric in report["metrics"].items()
    ]
    judge = report["judge"] or "none"
    caption = f"ragas {report['ragas']}, judge: {judge}"
    columns = ["Metric", "Mean", "95% interval", "Scored", "Failed", "Left out"]
    return table(caption, columns, rows, numbers=(1, 2, 3, 4, 5))


def by_tags(groups: Mapping[str, Mapping[str, Figures]]) -> list[Markup]:
    """Show the key figures by the values of each tag, the other figures folded."""
    return [_by_tag(tag, values) for tag, values in groups.items()]


def _by_tag(tag: str, values: Mapping[str, Figures]) -> Markup:
    taken = [metric for metric in BY_NAME.values() if any(metric.name in figures for figures in values.values())]
    key = [metric for metric in taken if metric.name in KEY_FIGURES]
    rest = [metric for metric in taken if metric.name not in KEY_FIGURES]
    return joined(
        [
            _matrix(f"By {tag}", key, values),
            folded(f"More by {tag}", _matrix(f"Other measures by {tag}", rest, values), class_="more")
            if rest
            else None,
        ]
    )


def _matrix(caption: str, metrics: Iterable[Metric], values: Mapping[str, Figures]) -> Markup:
    rows = [
        [metric.title, *(_cell(metric, figures.get(metric.name)) for figures in values.values())] for metric in metrics
    ]
    return table(caption, ["Measure", *values], rows, numbers=tuple(range(1, len(values) + 1)))


def _cell(metric: Metric, figure: Figure | None) -> str:
    if figure is None:
        return "–"
    says = f"95% interval {_interval(metric, figure)}, {counted(figure['n'], 'question')}"
    return element(
        "span",
        shown(figure["mean"], metric.unit),
        element("small", _interval(metric, figure)),
        title=says,
        class_="cell",
    )
