"""The observations of each question that the gate keeps, and the figures of a measure over them."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from evals.bootstrap import Interval, Observations, balanced_difference, balanced_interval
from evals.metrics import Metric, has_all
from evals.records import Record
from evals.sets.set_files import rows_of_lines

Observed = Sequence[Sequence[float]]  # the observations of one question, by stratum of a measure
ByQuestion = Mapping[str, Observed]


def observed(metric: Metric, records: Sequence[Record]) -> dict[str, Observed]:
    """Return each question's observations of a measure, ordered by question id."""
    chosen = sorted(records if metric.among is None else metric.among(records), key=lambda record: record["case_id"])
    names = dict.fromkeys(record["case_id"] for record in chosen)
    return dict(zip(names, zip(*metric.parted(chosen), strict=True), strict=True))


def figure_of(metric: Metric, questions: ByQuestion) -> Interval | None:
    """Return the figure with its interval; None if a stratum has no observation."""
    parts = _parts(questions.values())
    return balanced_interval(parts, quantile=metric.quantile) if has_all(parts) else None


def change_of(metric: Metric, before: ByQuestion, after: ByQuestion) -> tuple[Interval, float] | None:
    """Return the change over the shared questions, with its p-value; None if nothing can be compared."""
    shared = [name for name in after if name in before]
    old, new = _parts(before[name] for name in shared), _parts(after[name] for name in shared)
    return balanced_difference(old, new, quantile=metric.quantile) if has_all(old) and has_all(new) else None


def _parts(questions: Iterable[Observed]) -> list[Observations]:
    return list(zip(*questions, strict=True))


FILE = Path(__file__).parent / "gate" / "baseline.jsonl"
_DIGITS = 4

GateBaseline = Mapping[str, Mapping[str, ByQuestion]]  # by run, by measure


class BaselineLine(BaseModel, extra="forbid"):
    """One question's observations in one run: by measure, then by stratum."""

    run: str
    question: str
    observed: dict[str, list[list[float]]]


def load_baseline(file: Path = FILE) -> GateBaseline:
    """Read the baseline. Raises InvalidRequest naming the invalid line."""
    by_run: dict[str, list[BaselineLine]] = defaultdict(list)
    for _, line in rows_of_lines(file, BaselineLine):
        by_run[line.run].append(line)
    return {run: _by_measure(lines) for run, lines in by_run.items()}


def _by_measure(lines: Sequence[BaselineLine]) -> dict[str, ByQuestion]:
    """Return the lines grouped by measure; a question without observations gets the same number of empty strata."""
    strata = {measure: len(parts) for line in lines for measure, parts in line.observed.items()}
    return {
        measure: {line.question: line.observed.get(measure, [[]] * count) for line in lines}
        for measure, count in strata.items()
    }


def write_baseline(baseline: GateBaseline, file: Path = FILE) -> None:
    """Write a baseline."""
    lines: dict[tuple[str, str], dict[str, list[list[float]]]] = defaultdict(dict)
    for run, measures in baseline.items():
        for measure, questions in measures.items():
            for question, parts in questions.items():
                if any(map(len, parts)):
                    lines[run, question][measure] = [[_short(value) for value in part] for part in parts]
    written = (
        json.dumps({"run": run, "question": question, "observed": observed})
        for (run, question), observed in sorted(lines.items())
    )
    file.write_text("\n".join(written) + "\n", encoding="utf-8")


def _short(value: float) -> float:
    rounded = round(value, _DIGITS)
    return int(rounded) if rounded == int(rounded) else rounded
