"""How much of a selected page was read."""

from collections.abc import Sequence

from evals.metrics import Metric
from evals.records import Record


def _coverage(record: Record) -> Sequence[float]:
    return [page["read"] / page["of"] for page in record["pages_read"] if page["of"]]


PAGES = (
    Metric(
        name="page_coverage",
        title="Page coverage",
        means="segments of a selected page that were read",
        observe=_coverage,
    ),
)
