"""Metrics of citations: whether they are exact slices of offered segments and match the gold evidence; verdicts.

A citation names a segment, as ``[SEG=id]`` does: it is right if the segment holds evidence. What is shown of the
segment is measured in ``passage_metrics``, whether it bears the sentence in ``faithfulness_metrics``.

Precision is the share of the cited segments that hold a sentence of any alternative set of evidence or an accepted one;
recall is the share of the best covered alternative's sentences that are cited; F1 is their harmonic mean. An answer
that cites nothing scores 0 in all three, since it proves nothing. They are means over the answerable questions that
were answered; ``..._f1_all`` counts the unanswered ones as 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from evals.metrics import Better, Metric
from evals.records import (
    ClaimRecord,
    GoldSentence,
    Record,
    all_citations,
    citations_of,
    claims_by_writer,
    first_claims_by_writer,
)
from graph.evidence import Verdict


def _exact(record: Record) -> Sequence[float]:
    return [float(citation["exact"]) for citation in all_citations(record)]


def _valid(record: Record) -> Sequence[float]:
    return [float(citation["offered"]) for citation in all_citations(record)]


def _invented(record: Record) -> Sequence[float]:
    if not _has_written(record):
        return ()
    return (float(sum(section["unknown_ids"] for section in record["written"])),)


def _has_written(record: Record) -> bool:
    """Return whether an answer was written from sources; a refusal is a section too, but its claims are not checked."""
    return bool(record["first_claims"])


def _uncited(record: Record) -> Sequence[float]:
    return [float(not section["source_ids"]) for section in record["sections"]]


PROOF = (
    Metric(
        name="quote_exactness",
        title="Quotes exact",
        means="citations whose quote equals the canonical text at their offsets",
        observe=_exact,
    ),
    Metric(
        name="id_validity",
        title="Ids valid",
        means="citations whose segment is among the sources of their run",
        observe=_valid,
    ),
    Metric(
        name="invented_ids",
        title="Invented ids",
        means="ids in an answer as first written that are not among the run's sources; all are dropped",
        observe=_invented,
        unit="count",
        better="lower",
    ),
    Metric(
        name="uncited_sections",
        title="Uncited sections",
        means="sections of the finished answer that cite no source",
        observe=_uncited,
        better="lower",
    ),
)

_Sentences = frozenset[tuple[str, int]]  # document, index


class EvidenceMatch(NamedTuple):
    """How the cited segments match the gold evidence; shares in [0, 1]."""

    precision: float
    recall: float
    f1: float


def match(record: Record) -> EvidenceMatch:
    """Match the finished answer's cited segments with the record's evidence, which must not be empty."""
    cited = cited_segments(record)
    alternatives = [_named(chosen) for chosen in record["evidence"]]
    right = _named(record["accepted"]).union(*alternatives)
    sentences = frozenset[tuple[str, int]]().union(*cited)
    precision = sum(bool(segment & right) for segment in cited) / len(cited) if cited else 0.0
    recall = max(len(sentences & each) / len(each) for each in alternatives)
    both = precision + recall
    return EvidenceMatch(precision, recall, 2 * precision * recall / both if both else 0.0)


def cited_segments(record: Record) -> Sequence[_Sentences]:
    """Return each cited segment once, as the sentences that it covers."""
    segments = {
        each["segment_id"]: frozenset((each["document"], index) for index in each["segment_sentences"])
        for each in citations_of(record)
    }
    return list(segments.values())


def _named(sentences: Iterable[GoldSentence]) -> _Sentences:
    return frozenset((each["document"], each["index"]) for each in sentences)


def has_evidence(record: Record) -> bool:
    """Return whether the question can be answered and its evidence is known."""
    return record["expected"] == "answered" and bool(record["evidence"])


def _matched(part: Literal["precision", "recall", "f1"], record: Record) -> Sequence[float]:
    if not has_evidence(record) or record["outcome"] != "answered":
        return ()
    return (getattr(match(record), part),)


def _f1_of_all(record: Record) -> Sequence[float]:
    return (_matched("f1", record) or (0.0,)) if has_evidence(record) else ()


EVIDENCE = (
    Metric(
        name="citation_precision",
        title="Citation precision",
        means="cited segments that hold gold evidence, over answered questions; 0 if nothing is cited",
        observe=partial(_matched, "precision"),
    ),
    Metric(
        name="citation_recall",
        title="Citation recall",
        means="gold sentences of the best alternative that lie in cited segments, over answered questions",
        observe=partial(_matched, "recall"),
    ),
    Metric(
        name="citation_f1",
        title="Citation F1",
        means="harmonic mean of that precision and recall, over answered questions",
        observe=partial(_matched, "f1"),
    ),
    Metric(
        name="citation_f1_all",
        title="Citation F1, refusals as 0",
        means="the same over all answerable questions; refused or failed ones count 0",
        observe=_f1_of_all,
    ),
)


_BETTER: Mapping[Verdict, Better] = {
    "supported": "higher",
    "unverified": "neither",  # better than a claim that failed, worse than one that is proven
    "unsupported": "lower",
    "contradicted": "lower",
}


def _are(verdict: Verdict, claims: Sequence[ClaimRecord]) -> Sequence[float]:
    return [float(claim["verdict"] == verdict) for claim in claims]


def _shown(verdict: Verdict, better: Better) -> Metric:
    return Metric(
        name=f"claims_{verdict}",
        title=f"Claims {verdict}",
        means=f"claims of finished answers whose verdict is {verdict}",
        observe=lambda record: _are(verdict, claims_by_writer(record)),
        better=better,
    )


def _first(verdict: Verdict, better: Better) -> Metric:
    return Metric(
        name=f"first_claims_{verdict}",
        title=f"Claims {verdict} at first",
        means=f"claims of answers as first written whose verdict was {verdict}",
        observe=lambda record: _are(verdict, first_claims_by_writer(record)),
        better=better,
    )


def _withdrawn(record: Record) -> Sequence[float]:
    """Return 1 for each section written from sources that is missing from the finished answer, else 0."""
    by_run = len(record["disagreements"])
    if record["outcome"] == "answered":
        written, shown = len(record["written"]) - by_run, len(record["sections"]) - by_run
    elif record["outcome"] == "abstained" and record["first_claims"]:
        written, shown = len(record["written"]) - 1, 0  # the last section is the refusal
    else:
        return ()
    return [1.0] * (written - shown) + [0.0] * shown


VERDICTS = (
    *(_shown(verdict, better) for verdict, better in _BETTER.items()),
    *(_first(verdict, better) for verdict, better in _BETTER.items()),
    Metric(
        name="withdrawn_sections",
        title="Sections withdrawn",
        means="sections written from sources that are missing from the finished answer",
        observe=_withdrawn,
        better="neither",  # right where the section was wrong
    ),
)
