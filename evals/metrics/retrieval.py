"""How well the run's first search finds the documents of the gold evidence.

Ranks are of documents, repeats removed, as the public baselines count them.
"""

from collections.abc import Sequence

from evals.metrics import Metric
from evals.records import Record


def ranked_documents(record: Record) -> list[str]:
    """List the documents that the search brought, best first, each once."""
    return list(dict.fromkeys(segment["document"] for segment in record["retrieved"]))


def gold_documents(record: Record) -> list[frozenset[str]]:
    """Give the documents of each alternative set of evidence."""
    return [frozenset(sentence["document"] for sentence in chosen) for chosen in record["evidence"]]


def is_searched(record: Record) -> bool:
    """Tell whether a search is to find evidence here: there is some, and no page was selected instead."""
    return record["variant"] == "asked" and bool(record["evidence"]) and not record["pages"]


def _recall_at(k: int) -> Metric:
    def observe(record: Record) -> Sequence[float]:
        if not is_searched(record):
            return ()
        found = set(ranked_documents(record)[:k])
        return (max(len(found & gold) / len(gold) for gold in gold_documents(record)),)

    return Metric(
        name=f"recall_at_{k}",
        title=f"Recall at {k}",
        means=f"gold documents among the first {k} that the search brought",
        observe=observe,
    )


RETRIEVAL = tuple(_recall_at(k) for k in (1, 5, 10))
