"""Distributions over a run's records: outcomes, quotes an answer, ranks of gold documents, scores and times."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from evals.metrics.retrieval_metrics import gold_documents, is_searched, ranked_documents
from evals.records import Record, citations_of
from evals.report.charts import Bin, binned, even_ticks, histogram
from evals.report.html_markup import Markup, counted, element, shown, table

TIME_BINS = 24
SCORE_BINS = 20
PARTS = 4  # of an axis
RANKS = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4–5": (4, 5), "6–10": (6, 10), "later": (11, 10_000)}
OUTCOMES = ("answered", "abstained", "failed", "cancelled")


def outcomes(records: Sequence[Record]) -> Markup:
    """Show what was expected against what came out."""
    counts: Counter[tuple[str, str]] = Counter((_expected(record), record["outcome"]) for record in records)
    kinds = list(dict.fromkeys(_expected(record) for record in records))
    came = [outcome for outcome in OUTCOMES if any(counts[kind, outcome] for kind in kinds)]
    rows = [[kind, *(f"{counts[kind, outcome]:,}" for outcome in came)] for kind in kinds]
    return table(
        "What was expected, and what came out",
        ["Expected", *came],
        rows,
        class_="outcomes",
        numbers=tuple(range(1, len(came) + 1)),
    )


def _expected(record: Record) -> str:
    if record["variant"] == "removed":
        return "a refusal: the documents were removed"
    return "an answer" if record["expected"] == "answered" else "a refusal: no document has the answer"


def distributions(records: Sequence[Record]) -> Markup:
    """Show a chart of each spread that the records have."""
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
    return _panel("Quotes an answer", says, histogram(bins, title="Quotes an answer", says=says))


def _gold_ranks(records: Sequence[Record]) -> Markup | None:
    """Count the rank of the first gold document, over questions whose evidence a search is to find."""
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
    """Give the next number above whose parts are plain numbers: 1, 2, 2.5 or 5 times a power of ten each."""
    part = value / PARTS
    power = 10.0 ** np.floor(np.log10(part))
    return float(PARTS * power * next(step for step in (1, 2, 2.5, 5, 10) if step * power >= part))


def spending(records: Sequence[Record]) -> Markup | None:
    """Show what each step took of a question on average."""
    ended = [record for record in records if record["spent"]]
    if not ended:
        return None
    nodes = list(dict.fromkeys(node for record in ended for node in record["spent"]))
    rows = [[node.replace("_", " "), *_spent(node, ended)] for node in nodes]
    columns = ["Step", "Runs it was part of", "Time a run", "Model calls", "Tokens"]
    return table("Where the time went", columns, rows, numbers=(1, 2, 3, 4))


def _spent(node: str, records: Sequence[Record]) -> list[str]:
    taken = [record["spent"][node] for record in records if node in record["spent"]]
    return [
        f"{len(taken):,}",
        shown(float(np.mean([each["ms"] for each in taken])), "ms"),
        f"{sum(each['calls'] for each in taken):,}",
        f"{sum(each['tokens'] for each in taken):,}",
    ]
