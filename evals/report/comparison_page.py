"""The comparison of two runs as a page, styled like a run's report."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.metrics.metric_groups import GROUPS
from evals.report.charts import difference_bar
from evals.report.html_markup import (
    Markup,
    counted,
    document,
    element,
    folded,
    joined,
    navigation,
    section,
    shown,
    signed,
    table,
)
from evals.run_comparison import SIGNIFICANT, Comparison, MetricChange, QuestionChange, Turn

TITLES: Mapping[Turn, str] = {
    "right to wrong": "Turned wrong",
    "wrong to right": "Turned right",
    "other outcome": "Other outcome, neither better nor worse",
    "other citations": "Other citations",
}
OPEN_AT_FIRST = 20


def write_comparison(file: Path, comparison: Comparison) -> None:
    """Write a comparison's page."""
    file.write_text(comparison_page(comparison), encoding="utf-8")


def comparison_page(comparison: Comparison) -> str:
    """Return a comparison as one self-contained HTML page."""
    title = f"{comparison.before} and {comparison.after}"
    links = {"changes": "Measures", "questions": "Questions", "settings": "Configurations"}
    header = element(
        "header", element("h1", title), element("p", _summary(comparison), class_="meta"), navigation(links)
    )
    lead = (
        "Dots are changes from the first run to the second, lines their 95% intervals by paired bootstrap. A change is "
        f"significant if its p-value, corrected for the {len(comparison.metrics)} measures compared, is "
        f"under {SIGNIFICANT:.2f}."
    )
    body = element(
        "main",
        section("Measures", *_measures(comparison), id_="changes", lead=lead),
        section("Questions", *_questions(comparison), id_="questions"),
        section("Configurations", _configurations(comparison), id_="settings"),
    )
    return document(f"{title}: comparison", header, body)


def _summary(comparison: Comparison) -> str:
    counts = {way: sum(1 for c in comparison.metrics if c.judgement == way) for way in ("better", "worse")}
    return (
        f"{counted(comparison.shared, 'question')} compared. {counted(counts['better'], 'measure')} better, "
        f"{counts['worse']:,} worse, the others without a significant change or without a better direction."
        f"{_lengths(comparison)}"
    )


def _lengths(comparison: Comparison) -> str:
    lengths = comparison.lengths
    return "" if lengths is None else f" Characters shown: {lengths[0]:.0f}, then {lengths[1]:.0f}."


def _measures(comparison: Comparison) -> list[Markup]:
    moved = {change.name: change for change in comparison.metrics if change.moved}
    groups = {title: [moved[m.name] for m in metrics if m.name in moved] for title, metrics in GROUPS.items()}
    tables = [_group(title, changes, comparison) for title, changes in groups.items() if changes]
    still = [change.title for change in comparison.metrics if not change.moved]
    if still:
        tables.append(element("p", f"No change at all in: {'; '.join(still)}.", class_="lead after"))
    return tables


def _group(title: str, changes: Sequence[MetricChange], comparison: Comparison) -> Markup:
    most = {
        unit: max((abs(c.difference[end]) for c in changes if c.unit == unit for end in ("low", "high")), default=0.0)
        for unit in ("share", "count", "ms")
    }
    columns = ["Measure", "Change and interval", comparison.before, comparison.after, "Change", "p", "Judgement"]
    rows = [[_measure(c), _bar(c, most[c.unit]), *_figures(c), _judgement(c)] for c in changes]
    return table(title, columns, rows, class_="changes", numbers=(2, 3, 4, 5))


def _measure(change: MetricChange) -> Markup:
    return element("span", change.title, class_="measure")


def _bar(change: MetricChange, most: float) -> Markup:
    low, high = (signed(change.difference[end], change.unit) for end in ("low", "high"))
    says = f"{change.title}: {signed(change.difference['mean'], change.unit)}, 95% interval {low} to {high}"
    difference = change.difference
    return difference_bar(
        difference["low"], difference["mean"], difference["high"], most=most, says=says, kind=_way(change) or "same"
    )


def _figures(change: MetricChange) -> list[str]:
    return [
        shown(change.before["mean"], change.unit),
        shown(change.after["mean"], change.unit),
        signed(change.difference["mean"], change.unit),
        f"{change.adjusted:.3f}",
    ]


def _judgement(change: MetricChange) -> Markup:
    return element("span", change.judgement, class_=_way(change) or "meta")


def _way(change: MetricChange) -> str | None:
    return change.judgement if change.judgement in {"better", "worse"} else None


def _questions(comparison: Comparison) -> list[Markup]:
    by_turn: dict[Turn, list[QuestionChange]] = defaultdict(list)
    for change in comparison.questions:
        by_turn[change.turn].append(change)
    shown_groups = [_turned(TITLES[turn], changes, comparison) for turn, changes in by_turn.items()]
    alone = {
        f"Only in {comparison.before}": comparison.only_before,
        f"Only in {comparison.after}": comparison.only_after,
        "Asked with other words or evidence, so not compared": comparison.otherwise,
    }
    lists = [
        folded(f"{title} ({len(names):,})", element("p", ", ".join(names)), class_="more")
        for title, names in alone.items()
        if names
    ]
    return [*(shown_groups or [element("p", "No question had a different outcome.")]), *lists]


def _turned(title: str, changes: Sequence[QuestionChange], comparison: Comparison) -> Markup:
    columns = ["Question", comparison.before, comparison.after, "What is wrong now"]
    rows = [[_question(each), each.before, each.after, " ".join(each.why) or "–"] for each in changes]
    first = table(f"{title} ({len(rows):,})", columns, rows[:OPEN_AT_FIRST], class_="questions")
    rest = rows[OPEN_AT_FIRST:]
    if not rest:
        return first
    more = table(f"{title}, the others", columns, rest, class_="questions")
    return joined([first, folded(f"{counted(len(rest), 'more question')}", more, class_="more")])


def _question(change: QuestionChange) -> Markup:
    variant = f"{change.case_id}, its documents removed" if change.variant == "removed" else change.case_id
    return element("span", change.question, element("small", variant), class_="measure")


def _configurations(comparison: Comparison) -> Markup:
    if not comparison.configuration:
        return element("p", "Both runs had the same configuration.")
    return element("ul", *(element("li", element("code", line)) for line in comparison.configuration))
