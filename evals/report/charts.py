"""Charts as inline SVG, and the distributions that a run's page shows with them.

Colours are classes of the stylesheet; each chart has a text description.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.metrics import Figure
from evals.metrics.retrieval_metrics import gold_documents, is_searched, ranked_documents
from evals.records import Record, citations_of
from evals.report.html_markup import Markup, counted, element, shown, table

BAR_WIDTH, BAR_HEIGHT = 240, 20
WIDTH, HEIGHT = 380, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 18, 22, 26
_INNER = WIDTH - _LEFT - _RIGHT
_FLOOR = HEIGHT - _BOTTOM


@dataclass(frozen=True, slots=True)
class Bin:
    """A column of a histogram: its label, a description of its range, and its count."""

    label: str
    of: str
    count: int


def interval_bar(figure: Figure, *, most: float, says: str, baseline: float | None = None) -> Markup:
    """Draw a mean as a bar on a scale from 0 to ``most``, its interval as a whisker, the baseline's mean as a tick."""

    def at(value: float) -> float:
        return round(BAR_WIDTH * min(max(value / most, 0.0), 1.0), 1) if most else 0.0

    low, high, middle = at(figure["low"]), at(figure["high"]), BAR_HEIGHT / 2
    tick = None if baseline is None else at(baseline)
    return _svg(
        BAR_WIDTH,
        BAR_HEIGHT,
        says,
        element("rect", class_="track", x=0, y=4, width=BAR_WIDTH, height=BAR_HEIGHT - 8, rx=3),
        element("rect", class_="bar", x=0, y=4, width=at(figure["mean"]), height=BAR_HEIGHT - 8, rx=3),
        element("line", class_="whisker", x1=low, x2=high, y1=middle, y2=middle),
        *(element("line", class_="whisker", x1=end, x2=end, y1=middle - 4, y2=middle + 4) for end in (low, high)),
        None if tick is None else element("line", class_="baseline", x1=tick, x2=tick, y1=0, y2=BAR_HEIGHT),
        class_="bar-chart",
    )


def difference_bar(low: float, middle: float, high: float, *, most: float, says: str, kind: str) -> Markup:
    """Draw a difference with its interval on a scale from -``most`` to ``most``, around a line at zero."""

    def at(value: float) -> float:
        return round(BAR_WIDTH / 2 * (1 + min(max(value / most, -1.0), 1.0)), 1) if most else BAR_WIDTH / 2

    half = BAR_HEIGHT / 2
    return _svg(
        BAR_WIDTH,
        BAR_HEIGHT,
        says,
        element("line", class_="zero", x1=BAR_WIDTH / 2, x2=BAR_WIDTH / 2, y1=0, y2=BAR_HEIGHT),
        element("line", class_=f"range {kind}", x1=at(low), x2=at(high), y1=half, y2=half),
        element("circle", class_=f"dot {kind}", cx=at(middle), cy=half, r=4.5),
        class_="bar-chart",
    )


def histogram(
    bins: Sequence[Bin],
    *,
    title: str,
    says: str,
    ticks: Mapping[str, float] | None = None,
    marks: Mapping[str, float] | None = None,
) -> Markup:
    """Draw counts as columns.

    ``ticks`` are texts under the axis and ``marks`` named lines, each at a position from 0, the left end, to 1, the
    right end.
    """
    tallest = max((each.count for each in bins), default=0) or 1
    step = _INNER / max(len(bins), 1)
    columns = [_column(each, _LEFT + place * step, step, tallest) for place, each in enumerate(bins)]
    return _svg(
        WIDTH,
        HEIGHT,
        says,
        element("text", str(tallest), class_="axis end", x=_LEFT - 6, y=_TOP + 4),
        element("line", class_="grid", x1=_LEFT, x2=WIDTH - _RIGHT, y1=_TOP, y2=_TOP),
        *(part for column in columns for part in column),
        element("line", class_="axis-line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=_FLOOR, y2=_FLOOR),
        *(_tick(text, _LEFT + place * _INNER) for text, place in (ticks or {}).items()),
        *(part for name, place in (marks or {}).items() for part in _mark(name, _LEFT + place * _INNER)),
        title=title,
        class_="histogram",
    )


def _column(each: Bin, left: float, step: float, tallest: int) -> list[Markup]:
    height = (_FLOOR - _TOP) * each.count / tallest
    gap = min(3.0, step / 6)
    bar = element(
        "g",
        element("title", f"{each.of}: {each.count}"),
        element(
            "rect",
            class_="bar",
            x=round(left + gap, 1),
            y=round(_FLOOR - height, 1),
            width=round(step - 2 * gap, 1),
            height=round(height, 1),
            rx=2,
        ),
    )
    return [bar, _tick(each.label, left + step / 2)]


def _tick(text: str, x: float) -> Markup:
    return element("text", text, class_="axis middle", x=round(x, 1), y=_FLOOR + 16)


def _mark(name: str, x: float) -> list[Markup]:
    side = "end" if x > WIDTH / 2 else "start"
    shift = -4 if side == "end" else 4
    return [
        element("line", class_="mark", x1=round(x, 1), x2=round(x, 1), y1=_TOP - 10, y2=_FLOOR),
        element("text", name, class_=f"mark-name {side}", x=round(x + shift, 1), y=_TOP - 8),
    ]


def binned(values: Sequence[float], count: int, *, high: float) -> list[Bin]:
    """Count values in ``count`` equal bins of [0, high]; larger values count in the last bin."""
    counts, edges = np.histogram(np.clip(values, 0.0, high), bins=count, range=(0.0, high))
    return [
        Bin(label="", of=f"{edges[place]:g} to {edges[place + 1]:g}", count=int(number))
        for place, number in enumerate(counts)
    ]


def even_ticks(high: float, count: int) -> dict[str, float]:
    """Return the labels of ``count`` equal parts of [0, high], with the position of each."""
    return {f"{high * place / count:g}": place / count for place in range(count + 1)}


def _svg(width: int, height: int, says: str, *parts: Markup | None, class_: str, title: str | None = None) -> Markup:
    return element(
        "svg",
        element("title", title or says),
        element("desc", says) if title else None,
        *parts,
        class_=class_,
        viewBox=f"0 0 {width} {height}",
        role="img",
    )


TIME_BINS = 24
SCORE_BINS = 20
PARTS = 4  # of an axis
RANKS = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4–5": (4, 5), "6–10": (6, 10), "later": (11, 10_000)}
OUTCOMES = ("answered", "abstained", "failed", "cancelled")
_EXPECTED = {
    "answered": "an answer",
    "abstained": "a refusal: no document has the answer",
    "either": "a refusal, or an answer with what governs it",
}


def outcomes(records: Sequence[Record]) -> Markup:
    """Show a table of expected and actual outcomes."""
    counts: Counter[tuple[str, str]] = Counter((_expected(record), record["outcome"]) for record in records)
    kinds = list(dict.fromkeys(_expected(record) for record in records))
    present = [outcome for outcome in OUTCOMES if any(counts[kind, outcome] for kind in kinds)]
    rows = [[kind, *(f"{counts[kind, outcome]:,}" for outcome in present)] for kind in kinds]
    return table(
        "Expected and actual outcomes",
        ["Expected", *present],
        rows,
        class_="outcomes",
        numbers=tuple(range(1, len(present) + 1)),
    )


def _expected(record: Record) -> str:
    if record["variant"] == "removed":
        return "a refusal: the documents were removed"
    return _EXPECTED[record["expected"]]


def distributions(records: Sequence[Record]) -> Markup:
    """Show a chart of each distribution for which the records have values."""
    charts = (
        _quotes(records),
        _gold_ranks(records),
        *_best_scores(records),
        _whole_times(records),
        _first_text_times(records),
    )
    return element("div", *charts, class_="panels")


def _panel(title: str, text: str, chart: Markup) -> Markup:
    return element("div", element("h3", title), element("p", text), chart, class_="panel")


def _quotes(records: Sequence[Record]) -> Markup | None:
    counts = Counter(len(citations_of(record)) for record in records if record["outcome"] == "answered")
    if not counts:
        return None
    bins = [Bin(str(number), counted(number, "quote"), counts[number]) for number in range(max(counts) + 1)]
    says = f"Answers by their number of quotes, from {min(counts)} to {max(counts)}."
    return _panel("Quotes per answer", says, histogram(bins, title="Quotes per answer", says=says))


def _gold_ranks(records: Sequence[Record]) -> Markup | None:
    """Show the ranks of the first gold document, over questions whose evidence a search should find."""
    ranks = [_first_gold_rank(record) for record in records if is_searched(record)]
    if not ranks:
        return None
    bins = [
        Bin(label, f"rank {label}", sum(1 for rank in ranks if rank is not None and first <= rank <= last))
        for label, (first, last) in RANKS.items()
    ]
    absent = ranks.count(None)
    says = f"Rank of the first gold document; not retrieved at all for {absent} of {counted(len(ranks), 'question')}."
    chart = histogram(
        [*bins, Bin("absent", "not retrieved", absent)], title="Rank of the first gold document", says=says
    )
    return _panel("Where the gold document ranks", says, chart)


def _first_gold_rank(record: Record) -> int | None:
    gold = frozenset[str]().union(*gold_documents(record))
    return next((rank for rank, name in enumerate(ranked_documents(record["retrieved"]), 1) if name in gold), None)


def _best_scores(records: Sequence[Record]) -> list[Markup]:
    panels = []
    for expected, title in (("answered", "Best score, answerable"), ("abstained", "Best score, not answerable")):
        scores = [r["retrieved"][0]["score"] for r in records if r["expected"] == expected and r["retrieved"]]
        if scores:
            says = f"Score of the best segment, {counted(len(scores), 'question')}, median {np.median(scores):.2f}."
            chart = histogram(
                binned(scores, SCORE_BINS, high=1.0), title=title, says=says, ticks=even_ticks(1.0, PARTS)
            )
            panels.append(_panel(title, says, chart))
    return panels


def _whole_times(records: Sequence[Record]) -> Markup | None:
    times = [record["ms"] for record in records if record["outcome"] in {"answered", "abstained"}]
    return _times("Time", times, "Whole runs")


def _first_text_times(records: Sequence[Record]) -> Markup | None:
    times = [record["first_text_ms"] for record in records if record["first_text_ms"] is not None]
    return _times("Time to first text", times, "Until the first text of an answer")


def _times(title: str, times: Sequence[float], of: str) -> Markup | None:
    if not times:
        return None
    middle, late = (float(np.quantile(times, share)) for share in (0.5, 0.95))
    highest = _round_up(max(float(np.quantile(times, 0.99)), 1.0))
    says = (
        f"{of}, in milliseconds: half within {shown(middle, 'ms')}, 95 of 100 within {shown(late, 'ms')}, the longest "
        f"{shown(max(times), 'ms')}" + (", beyond the scale." if max(times) > highest else ".")
    )
    marks = {"p50": middle / highest, "p95": late / highest} if late > middle * 1.2 else {"p50, p95": late / highest}
    bins, ticks = binned(times, TIME_BINS, high=highest), even_ticks(highest, PARTS)
    return _panel(title, says, histogram(bins, title=title, says=says, ticks=ticks, marks=marks))


def _round_up(value: float) -> float:
    """Return the next larger number whose parts are round: 1, 2, 2.5 or 5 times a power of ten each."""
    part = value / PARTS
    power = 10.0 ** np.floor(np.log10(part))
    return float(PARTS * power * next(step for step in (1, 2, 2.5, 5, 10) if step * power >= part))


def spending(records: Sequence[Record]) -> Markup | None:
    """Show the average time, calls and tokens of each step."""
    ended = [record for record in records if record["spent"]]
    if not ended:
        return None
    nodes = list(dict.fromkeys(node for record in ended for node in record["spent"]))
    rows = [[node.replace("_", " "), *_usage(node, ended)] for node in nodes]
    columns = ["Step", "Runs with it", "Time per run", "Model calls", "Tokens"]
    return table("Where the time went", columns, rows, numbers=(1, 2, 3, 4))


def _usage(node: str, records: Sequence[Record]) -> list[str]:
    taken = [record["spent"][node] for record in records if node in record["spent"]]
    return [
        f"{len(taken):,}",
        shown(float(np.mean([each["ms"] for each in taken])), "ms"),
        f"{sum(each['calls'] for each in taken):,}",
        f"{sum(each['tokens'] for each in taken):,}",
    ]
