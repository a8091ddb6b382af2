"""Metrics of answers: whether they contain the gold answer, and whether refusals are right.

Texts are compared with case, width and white space folded.

Answers are measured over the answerable questions with known answers. One that was refused or failed scores 0, like
unanswered questions in SQuAD (Rajpurkar et al. 2016), unless a measure says otherwise.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial

from evals.metrics import Metric
from evals.records import Record
from text.normal_forms import fold_case, without_spaces_in_chinese
from text.scripts import HAN_AND_KANA


def _right(record: Record) -> Sequence[float]:
    return () if record["expected"] == "either" else (float(record["outcome"] == record["expected"]),)


def _right_where(expected: str, record: Record) -> Sequence[float]:
    return _right(record) if record["expected"] == expected else ()


def pairs(records: Sequence[Record]) -> list[Record]:
    """Return the records of questions that were asked both with the evidence in the library and without it."""
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
        means="answerable questions answered, and unanswerable ones refused",
        observe=_right,
    ),
    Metric(
        name="abstention_balanced_accuracy",
        title="Abstention, balanced",
        means="mean of two shares: answerable questions answered, and unanswerable ones refused",
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
        name="paired_balanced_accuracy",
        title="Pairs: balanced accuracy",
        means="the same over questions that were asked both with their evidence in the library and without it",
        observe=_right,
        stratum=_expected,
        strata=_BOTH,
        among=pairs,
    ),
)


_WORD = re.compile(rf"[{HAN_AND_KANA}]|[^\W{HAN_AND_KANA}]+")


def folded(text: str) -> str:
    """Fold case, width (NFKC) and white space; remove spaces next to Chinese and Japanese characters."""
    return without_spaces_in_chinese(" ".join(fold_case(text).split()))


def words(text: str) -> list[str]:
    """Return the folded words of a text without punctuation; each Chinese or Japanese character is a word."""
    return _WORD.findall(folded(text))


def contains(text: str, answers: Sequence[str]) -> bool:
    """Return whether a text contains any of the answers, ignoring case, width and white space."""
    whole = folded(text)
    return any(folded(answer) in whole for answer in answers)


def token_f1(text: str, answers: Sequence[str]) -> float:
    """Return the best F1 between the words of a text and of an answer, repeats counted."""
    return max(_overlap(Counter(words(text)), Counter(words(answer))) for answer in answers)


def _overlap(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _is_known(record: Record) -> bool:
    return record["expected"] == "answered" and bool(record["answers"])


def _answered(record: Record) -> bool:
    return record["outcome"] == "answered"


def _containment(record: Record) -> Sequence[float]:
    if not _is_known(record):
        return ()
    return (float(_answered(record) and contains(record["answer"], record["answers"])),)


def _token_f1(record: Record) -> Sequence[float]:
    if not _is_known(record):
        return ()
    return (token_f1(record["answer"], record["answers"]) if _answered(record) else 0.0,)


ANSWERS = (
    Metric(
        name="answer_containment",
        title="Answer contained",
        means="answerable questions whose answer contains a gold answer; refused ones count 0",
        observe=_containment,
    ),
    Metric(
        name="token_f1",
        title="Token F1",
        means="words that the whole answer shares with the best gold answer; refused questions count 0",
        observe=_token_f1,
    ),
)
