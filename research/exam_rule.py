"""How often judges of known error rates pass the exam, and with how many requests: docs/adr/0042."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from graph.ports import Judgement
from tools.judges.exam import BATCH
from tools.judges.exam_marking import Answer, Spent, mark

CLAIMS = 48  # of a language
LABELS = [True, False] * (CLAIMS // 2)
NO = Judgement("unsupported")
NOW = datetime.now(UTC)

Probability = Callable[[Random, bool], float | None]
PROBABILITIES: dict[str, Probability] = {
    "none": lambda draw, label: None,
    "telling nothing": lambda draw, label: draw.random(),
    "telling much": lambda draw, label: draw.betavariate(8, 1) if label else draw.betavariate(2, 2),
}


@dataclass(frozen=True, slots=True)
class Rate:
    """The share of judges that pass, the mean number of requests, and the error rate of those that passed.

    That is the rate at which they support a false claim with at least the probability that their exam asks for.
    """

    passed: float
    calls: float
    wrong: float

    def __str__(self) -> str:
        return f"{self.passed:.1%} in {self.calls:.2f}" + (f" ({self.wrong:.3f})" if self.passed else "")


def simulate(wrong: float, right: float, *, probabilities: str = "none", judges: int = 10_000, seed: int = 1) -> Rate:
    """Return how judges fare that support false claims at the rate ``wrong`` and true ones at the rate ``right``."""
    draw, report = Random(seed), PROBABILITIES[probabilities]
    reported = sorted(report(draw, False) or 0.0 for _ in range(10_000))
    passed = calls = 0
    passing = 0.0
    for _ in range(judges):
        answers = [
            Answer("", label, Judgement("supported", report(draw, label)) if draw.random() < rate else NO)
            for label, rate in ((label, right if label else wrong) for label in LABELS)
        ]
        for end in range(BATCH, CLAIMS + 1, BATCH):
            calls += 1
            result = mark("", answers[:end], LABELS, Spent(), taken_at=NOW)
            if result is not None:
                if result.passed:
                    passed += 1
                    passing += wrong * (1 - bisect_left(reported, result.threshold or 0.0) / len(reported))
                break
    return Rate(passed / judges, calls / judges, passing / max(passed, 1))


def table(judges: int = 10_000) -> str:
    """Return the pass rates as a Markdown table."""
    head = ["| false called supported | true called supported |", "|---|---|"]
    for name in PROBABILITIES:
        head[0] += f" probabilities: {name} |"
        head[1] += "---|"
    pairs = [(wrong, 1.0) for wrong in (0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.5)]
    pairs += [(0.0, right) for right in (0.95, 0.9, 0.8, 0.6)] + [(0.02, 0.95), (0.5, 0.5)]
    rows = []
    for wrong, right in pairs:
        cells = " | ".join(str(simulate(wrong, right, probabilities=name, judges=judges)) for name in PROBABILITIES)
        rows.append(f"| {wrong:g} | {right:g} | {cells} |")
    return "\n".join([*head, *rows])
