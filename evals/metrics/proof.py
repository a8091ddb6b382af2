"""Whether citations are what they say: an exact slice of a segment that the run was offered."""

from collections.abc import Sequence

from evals.metrics import Metric
from evals.records import Record, citations_of


def _exact(record: Record) -> Sequence[float]:
    return [float(citation["exact"]) for citation in citations_of(record)]


def _valid(record: Record) -> Sequence[float]:
    return [float(citation["offered"]) for citation in citations_of(record)]


PROOF = (
    Metric(
        name="quote_exactness",
        title="Quotes exact",
        means="citations whose quote is the slice of canonical text that they name",
        observe=_exact,
    ),
    Metric(
        name="id_validity",
        title="Ids valid",
        means="citations whose segment is among the sources of their run",
        observe=_valid,
    ),
)
