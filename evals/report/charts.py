"""Charts as inline SVG. Colours are classes of the stylesheet; each chart says in words what it shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.metrics import Figure
from evals.report.html_markup import Markup, element

BAR_WIDTH, BAR_HEIGHT = 240, 20
WIDTH, HEIGHT = 380, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 18, 22, 26
_INNER = WIDTH - _LEFT - _RIGHT
_FLOOR = HEIGHT - _BOTTOM


@dataclass(frozen=True, slots=True)
class Bin:
    """A column of a histogram: what stands under it, what it is of, and how much."""

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

    ``ticks`` are texts under the axis and ``marks`` named lines, each at a place from 0, the left end, to 1, the right.
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
    """Count values into so many equal bins of [0, high]; what is beyond falls into the last."""
    counts, edges = np.histogram(np.clip(values, 0.0, high), bins=count, range=(0.0, high))
    return [
        Bin(label="", of=f"{edges[place]:g} to {edges[place + 1]:g}", count=int(number))
        for place, number in enumerate(counts)
    ]


def even_ticks(high: float, count: int) -> dict[str, float]:
    """Name the ends of so many equal parts of [0, high], with the place of each."""
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
