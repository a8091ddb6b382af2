"""Verdicts of the claim checker on the answer as first written and on the answer shown after repair.

Where a run says itself that its sources disagree, that is neither written by the writer nor found by the checker,
and in none of these measures.
"""

from collections.abc import Mapping, Sequence

from evals.metrics import Better, Metric
from evals.records import ClaimRecord, Record, claims_by_writer, first_claims_by_writer
from graph.evidence import Verdict

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
    """Tell of each section that was written from sources whether the finished answer is without it."""
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
        means="sections written from sources that the finished answer is without",
        observe=_withdrawn,
        better="neither",  # right where the section was wrong
    ),
)
