"""Charts in SVG: series of points with their spread and a line, on linear or logarithmic axes.

A file names no font, holds no script and follows the reader's light or dark scheme, so that it can stand in a manual.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 560, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 32, 34, 64
LEGEND_STEP = 16
COLOURS = (("#0b62c4", "#6cb0ff"), ("#b3471b", "#ff9f6e"), ("#1c7c3f", "#5fd08a"), ("#7b3fb5", "#c99bff"))
_STYLE = """
text { font: 12px sans-serif; fill: #1f2328 } .title { font-weight: bold } .back { fill: #ffffff }
.axis { stroke: #6e7781; fill: none } .grid { stroke: #d8dee4 } .line { fill: none; stroke-width: 1.5 }
.spread { stroke-width: 1.5 }
"""
_DARK = """
text { fill: #e6edf3 } .back { fill: #0d1117 } .axis { stroke: #8b949e } .grid { stroke: #30363d }
"""


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a size, with the least and the greatest that were measured."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one series. ``fitted`` gives the line through them; without it the points themselves are joined."""

    name: str
    points: Sequence[Point]
    fitted: Callable[[float], float] | None = None
    dots: bool = True


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of lines over one pair of axes, both logarithmic or both linear from zero."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    logarithmic: bool = True

    def svg(self) -> str:
        """Draw it."""
        across = _Axis.over([point.x for line in self.lines for point in line.points], self.logarithmic)
        spread = [value for line in self.lines for point in line.points for value in (point.low, point.high)]
        spread += [line.fitted(point.x) for line in self.lines if line.fitted is not None for point in line.points]
        up = _Axis.over(spread, self.logarithmic)
        height = HEIGHT + LEGEND_STEP * len(self.lines)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            f"<title>{escape(self.title)}</title><style>{_STYLE}{_colours(0)}",
            f"@media (prefers-color-scheme: dark) {{{_DARK}{_colours(1)}}}</style>",
            f'<rect class="back" width="{WIDTH}" height="{height}"/>',
            f'<text class="title" x="{LEFT}" y="20">{escape(self.title)}</text>',
            *_frame(across, up, self.x, self.y),
        ]
        for place, line in enumerate(self.lines):
            parts += _drawn(line, place % len(COLOURS), across, up)
            at = HEIGHT - 8 + LEGEND_STEP * place
            parts.append(f'<circle class="c{place % len(COLOURS)}f" cx="{LEFT + 5}" cy="{at - 4}" r="4"/>')
            parts.append(f'<text x="{LEFT + 16}" y="{at}">{escape(line.name)}</text>')
        return "\n".join([*parts, "</svg>", ""])


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    logarithmic: bool

    @classmethod
    def over(cls, values: Sequence[float], logarithmic: bool) -> "_Axis":
        if not logarithmic:
            return cls(0, max([*values, 1e-9]) * 1.05, False)
        positive = [value for value in values if value > 0] or [1.0]
        low, high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
        return cls(low, max(high, low + 1), True)

    def share(self, value: float) -> float:
        """Return where a value stands, from 0 to 1."""
        at = math.log10(max(value, 10.0**self.low)) if self.logarithmic else value
        return (at - self.low) / (self.high - self.low)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield places with their labels."""
        if self.logarithmic:
            for power in range(int(self.low), int(self.high) + 1):
                yield 10.0**power, _number(10.0**power)
            return
        step = 10 ** math.floor(math.log10(self.high / 2))
        step *= next(factor for factor in (1, 2, 5, 10) if self.high / (step * factor) <= 6)
        for place in range(int(self.high / step) + 1):
            yield place * step, _number(place * step)


def _number(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    return f"{value:,.0f}" if value >= 1 or value == 0 else f"{value:g}"


def _colours(scheme: int) -> str:
    return "".join(
        f".c{place} {{ stroke: {pair[scheme]} }} .c{place}f {{ fill: {pair[scheme]} }} "
        for place, pair in enumerate(COLOURS)
    )


def _x(axis: _Axis, value: float) -> float:
    return round(LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT), 1)


def _y(axis: _Axis, value: float) -> float:
    return round(HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM), 1)


def _frame(across: _Axis, up: _Axis, x: str, y: str) -> Iterator[str]:
    bottom = HEIGHT - BOTTOM
    for value, label in across.ticks():
        at = _x(across, value)
        yield f'<path class="grid" d="M{at} {TOP}V{bottom}"/>'
        yield f'<text x="{at}" y="{bottom + 16}" text-anchor="middle">{label}</text>'
    for value, label in up.ticks():
        at = _y(up, value)
        yield f'<path class="grid" d="M{LEFT} {at}H{WIDTH - RIGHT}"/>'
        yield f'<text x="{LEFT - 6}" y="{at + 4}" text-anchor="end">{label}</text>'
    yield f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}"/>'
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{bottom + 34}" text-anchor="middle">{escape(x)}</text>'
    middle = (TOP + bottom) / 2
    yield f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">{escape(y)}</text>'


def _drawn(line: Line, colour: int, across: _Axis, up: _Axis) -> Iterator[str]:
    points = sorted(line.points, key=lambda point: point.x)
    curve = [(point.x, point.y if line.fitted is None else line.fitted(point.x)) for point in points]
    path = " ".join(f"{_x(across, x)},{_y(up, y)}" for x, y in curve)
    yield f'<polyline class="line c{colour}" points="{path}"/>'
    for point in points if line.dots else ():
        at = _x(across, point.x)
        yield f'<path class="spread c{colour}" d="M{at} {_y(up, point.low)}V{_y(up, point.high)}"/>'
        yield f'<circle class="c{colour}f" cx="{at}" cy="{_y(up, point.y)}" r="3.5"/>'
