"""Whether citations are what they say: an exact slice of a segment that the run was offered, cited once."""

from collections.abc import Sequence

from evals.metrics import Metric
from evals.records import Record, citations_of


def _exact(record: Record) -> Sequence[float]:
    return [float(citation["exact"]) for citation in citations_of(record)]


def _valid(record: Record) -> Sequence[float]:
    return [float(citation["offered"]) for citation in citations_of(record)]


def _invented(record: Record) -> Sequence[float]:
    if not _has_written(record):
        return ()
    return (float(sum(section["unknown_ids"] for section in record["written"])),)


def _repeated(record: Record) -> Sequence[float]:
    if not _has_written(record):
        return ()
    return (float(sum(len(each["source_ids"]) - len(set(each["source_ids"])) for each in record["written"])),)


def _has_written(record: Record) -> bool:
    """Tell whether an answer was written from sources: a refusal is a section too, but nothing of it is checked."""
    return bool(record["first_claims"])


def _uncited(record: Record) -> Sequence[float]:
    return [float(not section["source_ids"]) for section in record["sections"]]


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
    Metric(
        name="invented_ids",
        title="Invented ids",
        means="ids in an answer as first written that the run never offered, all of which are dropped",
        observe=_invented,
        unit="count",
        better="lower",
    ),
    Metric(
        name="repeated_ids",
        title="Repeated ids",
        means="ids in an answer as first written that their section gives already",
        observe=_repeated,
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
