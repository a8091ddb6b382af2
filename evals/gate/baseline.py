"""The committed baseline: ``baseline.jsonl``, a line for each question of a run with what it gave of each measure.

A line a question, so that a change of the file shows in review which questions moved, and how.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from evals.datasets.reading import rows_of_lines
from evals.gate.observations import ByQuestion

FILE = Path(__file__).with_name("baseline.jsonl")
_DIGITS = 4

Baseline = Mapping[str, Mapping[str, ByQuestion]]  # by run, by measure


class Line(BaseModel, extra="forbid"):
    """What one question gave in one run: for each measure its observations, stratum by stratum."""

    run: str
    question: str
    observed: dict[str, list[list[float]]]


def load_baseline(file: Path = FILE) -> Baseline:
    """Read the baseline. Raises InvalidRequest naming the line at fault."""
    by_run: dict[str, list[Line]] = defaultdict(list)
    for _, line in rows_of_lines(file, Line):
        by_run[line.run].append(line)
    return {run: _by_measure(lines) for run, lines in by_run.items()}


def _by_measure(lines: Sequence[Line]) -> dict[str, ByQuestion]:
    """Turn lines about; a question that gave nothing of a measure has as many empty strata as the others have."""
    strata = {measure: len(parts) for line in lines for measure, parts in line.observed.items()}
    return {
        measure: {line.question: line.observed.get(measure, [[]] * count) for line in lines}
        for measure, count in strata.items()
    }


def write_baseline(baseline: Baseline, file: Path = FILE) -> None:
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
