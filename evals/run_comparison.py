"""Comparison of two runs over the questions that both asked: configurations, measures and questions.

A measure's change is bootstrapped in pairs, question by question. Dozens of measures are compared at once, so their
p-values are corrected for the rate of false discoveries (Benjamini and Hochberg 1995), which is valid for positively
dependent measures (Benjamini and Yekutieli 2001). A correction of the familywise rate, such as Holm's, would
find nothing with so many measures and a smallest p-value of 1/1000. Intervals are of one measure each, uncorrected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evals.bootstrap import Interval, false_discovery_adjusted
from evals.error_analysis import errors_of, is_right
from evals.metrics import Figure, Metric, Unit, as_figure
from evals.metrics.cost_metrics import COST
from evals.metrics.metric_groups import METRICS
from evals.records import Record, Variant, citations_of, record_key
from evals.run_folder import RunFolder, differences
from graph.errors import InvalidRequest

SIGNIFICANT = 0.05

Judgement = Literal["better", "worse", "changed", "no significant change"]
Turn = Literal["right to wrong", "wrong to right", "other outcome", "other citations"]


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A measure of both runs over the shared questions, and the change from the first to the second.

    ``p_value`` is two-sided, for this measure alone; ``adjusted`` is corrected for all measures compared. A measure
    for which neither direction is better is ``changed`` if its change is significant.
    """

    name: str
    title: str
    unit: Unit
    before: Figure
    after: Figure
    difference: Figure
    p_value: float
    adjusted: float
    judgement: Judgement

    @property
    def moved(self) -> bool:
        """Whether any question changed it: False if the change is zero in every resample."""
        return any(self.difference[end] for end in ("mean", "low", "high"))


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """A question with a different outcome. ``why`` lists the errors of the second run's record, if any."""

    case_id: str
    variant: Variant
    question: str
    turn: Turn
    before: str
    after: str
    why: list[str]


@dataclass(frozen=True)
class Comparison:
    """The differences of two runs. ``only_before`` and ``only_after`` name the questions of only one run.

    ``otherwise`` names questions of both runs whose words or evidence differ; they are not compared.
    """

    before: str
    after: str
    configuration: list[str]
    shared: int
    only_before: list[str]
    only_after: list[str]
    otherwise: list[str]
    metrics: list[MetricChange]
    questions: list[QuestionChange]

    @property
    def turned_wrong(self) -> int:
        """How many questions turned from right to wrong."""
        return sum(change.turn == "right to wrong" for change in self.questions)

    @property
    def worse(self) -> list[str]:
        """The measures that got significantly worse, but for those of time and cost, which the machine decides too."""
        cost = {metric.name for metric in COST}
        return [change.name for change in self.metrics if change.judgement == "worse" and change.name not in cost]

    @property
    def lengths(self) -> tuple[float, float] | None:
        """The mean characters shown in both runs, which every other change is read beside; None without answers."""
        found = next((change for change in self.metrics if change.name == "characters_shown"), None)
        return None if found is None else (found.before["mean"], found.after["mean"])


@dataclass(frozen=True)
class Pairs:
    """The records of both runs for the same questions, in the same order."""

    before: list[Record]
    after: list[Record]


def compare_runs(before: RunFolder, after: RunFolder) -> Comparison:
    """Compare the runs of two folders. Raises InvalidRequest if one holds no run, or they share no question."""
    configuration = differences(before.configuration(), after.configuration())
    return compare(before.records(), after.records(), names=(before.name, after.name), configuration=configuration)


def compare(
    before: Sequence[Record], after: Sequence[Record], *, names: tuple[str, str], configuration: list[str]
) -> Comparison:
    """Compare the records of two runs. Raises InvalidRequest if they share no question."""
    old = {record_key(record): record for record in before}
    new = {record_key(record): record for record in after}
    both = sorted(old.keys() & new.keys())
    shared = [key for key in both if _identity(old[key]) == _identity(new[key])]
    if not shared:
        raise InvalidRequest(f"{names[0]} and {names[1]} have no question in common, so there is nothing to compare.")
    pairs = Pairs([old[key] for key in shared], [new[key] for key in shared])
    return Comparison(
        before=names[0],
        after=names[1],
        configuration=configuration,
        shared=len(shared),
        only_before=_named(old.keys() - new.keys()),
        only_after=_named(new.keys() - old.keys()),
        otherwise=_named(set(both) - set(shared)),
        metrics=metric_changes(pairs, METRICS),
        questions=question_changes(pairs),
    )


def _identity(record: Record) -> tuple[object, ...]:
    """Return what identifies a question: its words, its earlier questions, its pages, and what is right."""
    return record["question"], record["before"], record["pages"], record["expected"], record["evidence"]


def _named(keys: set[tuple[str, Variant]]) -> list[str]:
    return sorted(case_id if variant == "asked" else f"{case_id} ({variant})" for case_id, variant in keys)


def metric_changes(pairs: Pairs, metrics: Sequence[Metric]) -> list[MetricChange]:
    """Compare each measure that applies to both runs, in the order of ``metrics``."""
    taken = [
        (metric, old, new, change)
        for metric in metrics
        if (old := metric.measured(pairs.before)) is not None
        and (new := metric.measured(pairs.after)) is not None
        and (change := metric.change(pairs.before, pairs.after)) is not None
    ]
    adjusted = false_discovery_adjusted([p_value for _, _, _, (_, p_value) in taken])
    return [
        MetricChange(
            name=metric.name,
            title=metric.title,
            unit=metric.unit,
            before=as_figure(old),
            after=as_figure(new),
            difference=as_figure(difference),
            p_value=p_value,
            adjusted=corrected,
            judgement=_judged(metric, difference, corrected),
        )
        for (metric, old, new, (difference, p_value)), corrected in zip(taken, adjusted, strict=True)
    ]


def _judged(metric: Metric, difference: Interval, adjusted: float) -> Judgement:
    if adjusted >= SIGNIFICANT or not difference.mean:
        return "no significant change"
    if metric.better == "neither":
        return "changed"
    return "better" if (difference.mean > 0) == (metric.better == "higher") else "worse"


def question_changes(pairs: Pairs) -> list[QuestionChange]:
    """Return the questions with a different outcome: first those that turned wrong, then those that turned right."""
    order: tuple[Turn, ...] = ("right to wrong", "wrong to right", "other outcome", "other citations")
    found = [
        QuestionChange(
            case_id=new["case_id"],
            variant=new["variant"],
            question=new["question"],
            turn=turn,
            before=_outcome(old),
            after=_outcome(new),
            why=[mistake.why for mistake in errors_of(new)],
        )
        for old, new in zip(pairs.before, pairs.after, strict=True)
        if (turn := _turn(old, new)) is not None
    ]
    return sorted(found, key=lambda change: order.index(change.turn))


def _turn(old: Record, new: Record) -> Turn | None:
    was, now = is_right(old), is_right(new)
    if was != now:
        return "right to wrong" if was else "wrong to right"
    if old["outcome"] != new["outcome"]:
        return "other outcome"
    return "other citations" if _cited(old) != _cited(new) else None


def _cited(record: Record) -> list[tuple[str, int, int]]:
    """Return the quoted spans in order; they can be the same even if segments are cut differently."""
    return [(citation["document"], citation["start"], citation["end"]) for citation in citations_of(record)]


def _outcome(record: Record) -> str:
    """Describe a question's outcome in a few words."""
    if record["outcome"] != "answered":
        return record["outcome"]
    count = len(citations_of(record))
    return f"answered, {count} passage{'' if count == 1 else 's'}"
