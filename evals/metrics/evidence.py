"""Citations against the gold evidence, sentence by sentence: no judge has a say in it.

What an answer cites is the set of sentences that its quotes hold; a quote that holds none counts as a sentence that is
in no evidence. Precision is the share of it that any alternative set of evidence, or what is accepted besides, has;
recall the share of that alternative which it holds most of; F1 their harmonic mean. An answer that cites nothing has 0
of all three, since it proves nothing. They are means over the answerable questions that were answered, as measures of
citations are usually given (ALCE, Gao et al. 2023); ``citation_f1_all`` counts those that were not as 0.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evals.metrics import Metric
from evals.records import GoldSentence, Record, citations_of

_Place = tuple[str, int, int]  # of a quote that holds no sentence: document, start, end
_Named = tuple[str, int]  # a sentence: document, index


class Match(NamedTuple):
    """How a set of cited sentences matches the gold evidence; shares in [0, 1]."""

    precision: float
    recall: float
    f1: float


def match(record: Record) -> Match:
    """Match the finished answer's citations with the record's evidence, of which there must be some."""
    cited, strangers = _cited(record)
    alternatives = [_named(chosen) for chosen in record["evidence"]]
    welcome = _named(record["accepted"]).union(*alternatives)
    count = len(cited) + len(strangers)
    precision = len(cited & welcome) / count if count else 0.0
    recall = max(len(cited & each) / len(each) for each in alternatives)
    both = precision + recall
    return Match(precision, recall, 2 * precision * recall / both if both else 0.0)


def _cited(record: Record) -> tuple[set[_Named], set[_Place]]:
    """Give the sentences cited, and the places of quotes that hold no sentence."""
    citations = citations_of(record)
    return (
        {(each["document"], index) for each in citations for index in each["sentences"]},
        {(each["document"], each["start"], each["end"]) for each in citations if not each["sentences"]},
    )


def _named(sentences: Iterable[GoldSentence]) -> frozenset[_Named]:
    return frozenset((each["document"], each["index"]) for each in sentences)


def has_evidence(record: Record) -> bool:
    """Tell whether the question can be answered and its evidence is known."""
    return record["expected"] == "answered" and bool(record["evidence"])


def _matched(record: Record) -> Match | None:
    return match(record) if has_evidence(record) and record["outcome"] == "answered" else None


def _precision(record: Record) -> Sequence[float]:
    found = _matched(record)
    return () if found is None else (found.precision,)


def _recall(record: Record) -> Sequence[float]:
    found = _matched(record)
    return () if found is None else (found.recall,)


def _f1(record: Record) -> Sequence[float]:
    found = _matched(record)
    return () if found is None else (found.f1,)


def _f1_of_all(record: Record) -> Sequence[float]:
    return (_f1(record) or (0.0,)) if has_evidence(record) else ()


EVIDENCE = (
    Metric(
        name="citation_precision",
        title="Citation precision",
        means="cited sentences that are gold evidence, over answered questions; 0 where nothing is cited",
        observe=_precision,
    ),
    Metric(
        name="citation_recall",
        title="Citation recall",
        means="gold sentences that are cited, of the best alternative, over answered questions",
        observe=_recall,
    ),
    Metric(
        name="citation_f1",
        title="Citation F1",
        means="harmonic mean of citation precision and recall, over answered questions",
        observe=_f1,
    ),
    Metric(
        name="citation_f1_all",
        title="Citation F1, refusals as 0",
        means="the same over all answerable questions, those refused or failed counted as 0",
        observe=_f1_of_all,
    ),
)
