"""Whether a question is answered where the library has an answer, and refused where it has none.

The paired measures are of the questions asked both with and without the documents that their answer needs: what
makes a question easy to refuse, such as a strange subject, is the same on both sides. A run that failed is wrong
either way.
"""

from collections.abc import Sequence
from functools import partial

from evals.metrics import Metric
from evals.records import Record


def _right(record: Record) -> Sequence[float]:
    return (float(record["outcome"] == record["expected"]),)


def _right_where(expected: str, record: Record) -> Sequence[float]:
    return _right(record) if record["expected"] == expected else ()


def pairs(records: Sequence[Record]) -> list[Record]:
    """Keep the questions that were asked with the evidence in the library and without it."""
    removed = {record["case_id"] for record in records if record["variant"] == "removed"}
    asked = {record["case_id"] for record in records if record["variant"] == "asked"}
    return [record for record in records if record["case_id"] in removed & asked]


def _expected(record: Record) -> str:
    return record["expected"]


_BOTH = ("answered", "abstained")

ABSTENTION = (
    Metric(
        name="abstention_accuracy",
        title="Abstention accuracy",
        means="questions answered where they can be and refused where they can't",
        observe=_right,
    ),
    Metric(
        name="abstention_balanced_accuracy",
        title="Abstention, balanced",
        means="mean of the share answered of what can be, and the share refused of what can't",
        observe=_right,
        stratum=_expected,
        strata=_BOTH,
    ),
    Metric(
        name="answered_when_answerable",
        title="Answered when answerable",
        means="answerable questions that were answered",
        observe=partial(_right_where, "answered"),
    ),
    Metric(
        name="refused_when_not",
        title="Refused when not",
        means="questions without an answer in the library that were refused",
        observe=partial(_right_where, "abstained"),
    ),
    Metric(
        name="paired_answered",
        title="Pairs: answered",
        means="questions answered with their evidence in the library, of those asked without it too",
        observe=partial(_right_where, "answered"),
        among=pairs,
    ),
    Metric(
        name="paired_refused",
        title="Pairs: refused",
        means="the same questions refused without their evidence",
        observe=partial(_right_where, "abstained"),
        among=pairs,
    ),
    Metric(
        name="paired_balanced_accuracy",
        title="Pairs: balanced accuracy",
        means="mean of the two shares of pairs",
        observe=_right,
        stratum=_expected,
        strata=_BOTH,
        among=pairs,
    ),
)
