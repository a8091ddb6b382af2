"""Figures as tiles, as bars with their intervals, and by the values of tags."""

from collections.abc import Iterable, Mapping, Sequence

from evals.metrics import Figure, Figures, Metric
from evals.metrics.metric_groups import BY_NAME, GROUPS, KEY_FIGURES
from evals.report.charts import interval_bar
from evals.report.html_markup import Markup, counted, element, folded, joined, shown, table
from evals.report.report_baseline import Baseline


def tiles(figures: Figures, baseline: Baseline | None) -> Markup:
    """Show the figures that matter most, those of them that the run has."""
    chosen = [(BY_NAME[name], figures[name]) for name in KEY_FIGURES if name in figures]
    return element("ul", *(_tile(metric, figure, baseline) for metric, figure in chosen), class_="tiles")


def _tile(metric: Metric, figure: Figure, baseline: Baseline | None) -> Markup:
    return element(
        "li",
        element("div", metric.title, class_="name"),
        element("div", shown(figure["mean"], metric.unit), class_="value"),
        element("div", _interval(metric, figure), class_="range"),
        _beside(metric, baseline),
        class_="tile",
        title=metric.means,
    )


def _beside(metric: Metric, baseline: Baseline | None) -> Markup | None:
    if baseline is None or metric.name not in baseline.means:
        return None
    return element("div", f"baseline {shown(baseline.means[metric.name], metric.unit)}", class_="range")


def measures(figures: Figures, baseline: Baseline | None) -> list[Markup]:
    """Show every measure of the run as a bar, a table for each group."""
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


def by_tags(groups: Mapping[str, Mapping[str, Figures]]) -> list[Markup]:
    """Show the key figures by each value of a tag, all others folded away."""
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
