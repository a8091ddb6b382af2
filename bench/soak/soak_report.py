"""The report of a soak: docs/soak.md with its tables, and a chart of the memory of each process."""

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bench.figures import percentile
from bench.soak.disturbances import Disturbance
from bench.soak.log_audit import Audit
from bench.soak.samples import MEMORY, READS_FILES, Sample, Series, Trend, trend
from bench.svg_charts import Chart, Line, Point

JUDGED_MINUTES = 20  # a shorter soak tells slopes, and does not fail by them
LASTING_MINUTES = 20  # of a life that is judged: a younger process still fills its caches and starts its threads
BOUNDS = {MEMORY: 12.0, "tasks": 5.0, "open files": 5.0, "threads": 2.0, "pool connections": 3.0}  # an hour
UNBOUND = {"postgres", READS_FILES}  # the one fills its buffers, as it should; the other ends after 500 files
MOST_LISTED = 20
# Lines that say what was done to the deployment, and why each is no fault.
EXPECTED = {
    r"citewell\.runs: the events of # runs can't be stored: The database": "the database was away for 20 s",
    r"citewell\.runs: .*database_(unavailable|busy)": "the database was away for 20 s",
    r"uvicorn\.error: Cancel # running task": "a frozen server was told to stop, and had no time left to drain",
    r"uvicorn\.error: Exception in ASGI application \[CancelledError\]": "a stream that this cut",
}


@dataclass(slots=True)
class Outcome:
    """Everything that a soak found."""

    began: datetime
    minutes: float
    cores: int
    load: Sequence[float]
    disk: str
    injected: bool
    counts: Counter[str]
    refusals: Counter[str]
    seconds: Sequence[float]
    others: Mapping[str, int]
    disturbances: Sequence[Disturbance]
    series: Series
    audit: Audit
    logged: Mapping[str, Counter[str]]
    faults: list[str] = field(default_factory=list)

    def all_faults(self) -> list[str]:
        """Return every broken promise."""
        lines = [f"{name} logged {line}" for name, found in self.logged.items() for line in found if not reason(line)]
        return [
            *self.faults,
            *self.audit.faults,
            *(growing(self.series) if self.minutes >= JUDGED_MINUTES else ()),
            *lines,
        ]


def growing(series: Series) -> list[str]:
    """Return what grew beyond its bound for certain, in lives that are judged: its whole interval lies above."""
    return [
        f"{name}: {measure} grow by {found.slope:.1f} an hour"
        for (name, measure), samples in series.items()
        if (bound := _bound(name, measure, samples)) is not None
        if (found := _trend(samples)) is not None and found.low > bound
    ]


def reason(line: str) -> str:
    """Return why a line of a log is expected; empty if it is not."""
    return next((why for pattern, why in EXPECTED.items() if re.match(pattern, line)), "")


def page(outcome: Outcome) -> str:
    """Return the report in Markdown."""
    faults = outcome.all_faults()
    head = [
        "# The soak",
        "",
        "Two servers and a worker over one PostgreSQL answer questions while things go wrong. Then the database is",
        "compared with what clients read. `python -m bench soak 60` writes this page; [runs](runs.md) says what is",
        "promised. Everything ran on one machine, over loopback.",
        "",
        f"{outcome.began:%Y-%m-%d %H:%M} UTC, {outcome.minutes:.0f} minutes, {outcome.cores} cores. The machine had"
        f" other work: its load was {outcome.load[0]:.1f} at the end, {outcome.load[2]:.1f} over a quarter of an hour.",
        "",
        "## What was found",
        "",
        f"**{len(faults)} broken promise{'s' * (len(faults) > 1)}.**" if faults else "**No broken promise.**",
        "",
        *(f"- {fault}" for fault in faults[:MOST_LISTED]),
        *([""] if faults else []),
    ]
    parts = [_runs(outcome), _disturbances(outcome), _trends(outcome), _logs(outcome)]
    return "\n".join([*head, *(line for part in parts for line in part)]).rstrip() + "\n"


def chart(series: Series) -> Chart:
    """Draw the anonymous memory of each process over time."""
    lines = [
        Line(name, [_point(sample) for sample in samples], dots=False)
        for (name, measure), samples in series.items()
        if measure == MEMORY
    ]
    return Chart("Anonymous memory in the soak", "minutes", "MB", lines, logarithmic=False)


def _point(sample: Sample) -> Point:
    return Point(sample.at / 60, sample.value, sample.value, sample.value)


def _table(head: Sequence[str], rows: Iterator[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{'|'.join(['---', *['--:'] * (len(head) - 1)])}|", *lines, ""]


def _runs(outcome: Outcome) -> Iterator[str]:
    audit = outcome.audit
    rows: dict[str, object] = {
        "runs in the ledger": f"{audit.runs:,}",
        "of them ended, by outcome": ", ".join(f"{count:,} {name}" for name, count in audit.outcomes.most_common()),
        "events in the log, numbers without a gap": f"{audit.events:,}",
        "runs whose events clients read to the end, each compared with the log": f"{audit.compared:,}",
        "of these, the end alone, since a document in them had been deleted": audit.withheld,
        "runs that no client read to the end": audit.unread,
        "runs by attempts": ", ".join(f"{count:,} in {number}" for number, count in sorted(audit.attempts.items())),
        "runs per second": f"{audit.runs / outcome.minutes / 60:.1f}",
        "seconds of a run as its client saw it, p50, p95, most": _seconds(outcome.seconds),
        **{name: f"{count:,}" for name, count in sorted(outcome.counts.items()) if not name.startswith("ended")},
        **outcome.others,
    }
    yield from ["## Runs", ""]
    yield from _table(["what", "how many"], iter(rows.items()))
    yield from ["Requests that were refused or had no reply, each sent again:", ""]
    yield from _table(["request", "times"], iter(outcome.refusals.most_common()))


def _seconds(seconds: Sequence[float]) -> str:
    if not seconds:
        return "none"
    return f"{statistics.median(seconds):.2f}, {percentile(seconds, 0.95):.1f}, {max(seconds):.1f}"


def _disturbances(outcome: Outcome) -> Iterator[str]:
    yield from ["## What went wrong, on purpose", ""]
    yield f"The database's disk was {_DISKS[outcome.disk]}."
    if outcome.injected:
        yield "Slow syncs and stepped clocks are those of single processes, by a library that is preloaded into them:"
        yield "the machine's clock and disk stay as they are, and the monotonic clock is never stepped."
    else:
        yield "There was no C compiler, so no slow disk and no stepped clock."
    yield ""
    by_name: dict[str, list[Disturbance]] = {}
    for each in outcome.disturbances:
        by_name.setdefault(each.name, []).append(each)
    rows = (
        (
            name,
            len(each),
            f"{statistics.mean(one.took for one in each):.0f}",
            _refused(each),
            _minutes(each),
            each[-1].note,
        )
        for name, each in sorted(by_name.items())
    )
    head = ["what", "times", "seconds each", "requests refused", "minutes at which it began", "the last time"]
    yield "Requests that were refused or had no reply are counted until the next thing went wrong."
    yield ""
    yield from _table(head, rows)


_DISKS = {
    "ext4": "a small ext4 file system of its own, which was filled to the last byte",
    "tmpfs": "a small file system in memory, which was filled to the last byte",
    "folder": "a folder among others, which was not filled: this user may mount nothing",
}


def _refused(each: Sequence[Disturbance]) -> int:
    return sum(one.refused for one in each)


def _minutes(each: Sequence[Disturbance]) -> str:
    return ", ".join(f"{one.began / 60:.0f}" for one in each)


def _trends(outcome: Outcome) -> Iterator[str]:
    yield from ["## What grows", "", "![Anonymous memory in the soak](soak.svg)", ""]
    yield "A line fitted through each process's samples, taken every five seconds, behind a warm-up of each of its"
    yield "lives (a minute, or a fifth of it); each life has a level of its own, all have one slope. The interval is of"
    yield "95 %, from means of half minutes. A slope whose whole interval is above its bound fails the soak."
    yield f"Lives of {LASTING_MINUTES} minutes and more are judged:"
    yield "younger processes still fill caches and start threads. Of memory the anonymous part is judged:"
    yield "resident memory has pages of mapped files too, which the system takes back when others need memory."
    if outcome.minutes < JUDGED_MINUTES:
        yield f"This one was shorter than {JUDGED_MINUTES} minutes: its slopes are told and not judged."
    yield ""
    rows = (
        (f"{name}: {measure}", *_told(_trend(samples), _bound(name, measure, samples)))
        for (name, measure), samples in sorted(outcome.series.items())
    )
    yield from _table(["process", "level", "an hour adds", "interval", "bound", "verdict"], rows)


def _trend(samples: Sequence[Sample]) -> Trend | None:
    """Fit the lives that are judged; all of them, where none is."""
    return trend(_lasting(samples) or samples)


def _bound(name: str, measure: str, samples: Sequence[Sample]) -> float | None:
    if name in UNBOUND or not _lasting(samples):
        return None
    return BOUNDS.get(measure)


def _lasting(samples: Sequence[Sample]) -> list[Sample]:
    seen: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        seen[sample.life].append(sample)
    return [each for life in seen.values() if life[-1].at - life[0].at >= LASTING_MINUTES * 60 for each in life]


def _told(found: Trend | None, bound: float | None) -> tuple[str, str, str, str, str]:
    if found is None:
        return "", "", "", f"{bound:g}" if bound else "", "too short to tell"
    values = f"{found.level:.1f}", f"{found.slope:+.1f}", f"{found.low:+.1f} to {found.high:+.1f}"
    if bound is None:
        return *values, "", "told only"
    verdict = "grows" if found.low > bound else "flat" if found.high <= bound else "undecided"
    return *values, f"{bound:g}", verdict


def _logs(outcome: Outcome) -> Iterator[str]:
    yield from ["## Lines of the logs at level ERROR", "", "By message, with numbers and ids as `#`.", ""]
    rows = (
        (f"{name}: {line}", count, reason(line) or "not expected")
        for name, lines in outcome.logged.items()
        for line, count in lines.most_common()
    )
    yield from _table(["line", "times", "why"], rows)
