"""The committed baseline, ``baseline.jsonl``: what each question gave of each gated measure, for paired comparison.

A line a question, so that a change of the file shows in review which questions moved, and how.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from evals.bootstrap import Interval, Observations, balanced_difference, balanced_interval
from evals.metrics import Metric, has_all
from evals.records import Record
from evals.sets.set_files import rows_of_lines

Observed = Sequence[Sequence[float]]  # of one question: what it gave in each stratum of a measure
ByQuestion = Mapping[str, Observed]


def observed(metric: Metric, records: Sequence[Record]) -> dict[str, Observed]:
    """Give what each question gave of a measure, in the order of their ids."""
    chosen = sorted(records if metric.among is None else metric.among(records), key=lambda record: record["case_id"])
    names = dict.fromkeys(record["case_id"] for record in chosen)
    return dict(zip(names, zip(*metric.parted(chosen), strict=True), strict=True))


def figure_of(metric: Metric, questions: ByQuestion) -> Interval | None:
    """Take the figure with its interval; None where a stratum has no observation."""
    parts = _parts(questions.values())
    return balanced_interval(parts, quantile=metric.quantile) if has_all(parts) else None


def change_of(metric: Metric, before: ByQuestion, after: ByQuestion) -> tuple[Interval, float] | None:
    """Give the change over the questions that both have, with its p-value; None where nothing can be compared."""
    shared = [name for name in after if name in before]
    old, new = _parts(before[name] for name in shared), _parts(after[name] for name in shared)
    return balanced_difference(old, new, quantile=metric.quantile) if has_all(old) and has_all(new) else None


def _parts(questions: Iterable[Observed]) -> list[Observations]:
    return list(zip(*questions, strict=True))


FILE = Path(__file__).with_name("baseline.jsonl")
_DIGITS = 4

GateBaseline = Mapping[str, Mapping[str, ByQuestion]]  # by run, by measure


class BaselineLine(BaseModel, extra="forbid"):
    """What one question gave in one run: for each measure its observations, stratum by stratum."""

    run: str
    question: str
    observed: dict[str, list[list[float]]]


def load_baseline(file: Path = FILE) -> GateBaseline:
    """Read the baseline. Raises InvalidRequest naming the line at fault."""
    by_run: dict[str, list[BaselineLine]] = defaultdict(list)
    for _, line in rows_of_lines(file, BaselineLine):
        by_run[line.run].append(line)
    return {run: _by_measure(lines) for run, lines in by_run.items()}


def _by_measure(lines: Sequence[BaselineLine]) -> dict[str, ByQuestion]:
    """Turn lines about; a question that gave nothing of a measure has as many empty strata as the others have."""
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
