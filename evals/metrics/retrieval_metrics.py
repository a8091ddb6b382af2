"""Metrics of retrieval: how well a run's first search finds the gold evidence, and how much of a page is read.

Ranks are of documents without repeats, as in the public baselines. If evidence has alternatives, the best one counts.
"""

from collections.abc import Sequence
from math import log2

from evals.metrics import Metric
from evals.records import GoldSentence, Record, RetrievedSegment

DEPTH = 10


def ranked_documents(segments: Sequence[RetrievedSegment]) -> list[str]:
    """Return the documents that a search returned, best first, each once."""
    return list(dict.fromkeys(segment["document"] for segment in segments))


def gold_documents(record: Record) -> list[frozenset[str]]:
    """Return the documents of each alternative set of evidence."""
    return [frozenset(sentence["document"] for sentence in chosen) for chosen in record["evidence"]]


def is_searched(record: Record) -> bool:
    """Return whether a search should find evidence: the evidence is in the library, and no page was selected."""
    return record["variant"] == "asked" and bool(record["evidence"]) and not record["pages"]


def recall_at(k: int, ranked: Sequence[str], gold: Sequence[frozenset[str]]) -> float:
    """Return the share of the gold documents that are among the first k."""
    found = set(ranked[:k])
    return max(len(found & each) / len(each) for each in gold)


def ndcg(ranked: Sequence[str], gold: Sequence[frozenset[str]]) -> float:
    """Return the nDCG of the first 10 documents, with a gain of 1 per gold one (Järvelin, Kekäläinen 2002)."""
    return max(
        sum(_discount(rank) for rank, document in enumerate(ranked[:DEPTH], 1) if document in each)
        / sum(_discount(rank) for rank in range(1, min(len(each), DEPTH) + 1))
        for each in gold
    )


def _discount(rank: int) -> float:
    return 1 / log2(rank + 1)


def reciprocal_rank(ranked: Sequence[str], gold: Sequence[frozenset[str]]) -> float:
    """Return 1 / rank of the first gold document of any alternative; 0 if none was found."""
    wanted = frozenset().union(*gold)
    return next((1 / rank for rank, document in enumerate(ranked, 1) if document in wanted), 0.0)


def _recall(k: int) -> Metric:
    def observe(record: Record) -> Sequence[float]:
        if not is_searched(record):
            return ()
        return (recall_at(k, ranked_documents(record["retrieved"]), gold_documents(record)),)

    return Metric(
        name=f"recall_at_{k}",
        title=f"Recall at {k}",
        means=f"gold documents among the first {k} that the search returned",
        observe=observe,
    )


def _reciprocal_rank(record: Record) -> Sequence[float]:
    if not is_searched(record):
        return ()
    return (reciprocal_rank(ranked_documents(record["retrieved"]), gold_documents(record)),)


def _ndcg(record: Record) -> Sequence[float]:
    if not is_searched(record):
        return ()
    return (ndcg(ranked_documents(record["retrieved"]), gold_documents(record)),)


def _all_gold(record: Record) -> Sequence[float]:
    if not is_searched(record) or min(map(len, gold_documents(record))) < 2:
        return ()
    found = set(ranked_documents(record["retrieved"])[:DEPTH])
    return (float(any(each <= found for each in gold_documents(record))),)


def _evidence_recall(record: Record) -> Sequence[float]:
    if not is_searched(record):
        return ()
    segments = record["retrieved"][:DEPTH]
    return (max(sum(_lies_in(segments, each) for each in chosen) / len(chosen) for chosen in record["evidence"]),)


def _lies_in(segments: Sequence[RetrievedSegment], sentence: GoldSentence) -> bool:
    """Return whether the segments, which never overlap, together cover a whole sentence."""
    held = sum(
        max(0, min(segment["end"], sentence["end"]) - max(segment["start"], sentence["start"]))
        for segment in segments
        if segment["document"] == sentence["document"]
    )
    return held >= sentence["end"] - sentence["start"]


def _follow_up(record: Record) -> Sequence[float]:
    if not (is_searched(record) and record["before"]):
        return ()
    return (recall_at(5, ranked_documents(record["retrieved"]), gold_documents(record)),)


RETRIEVAL = (
    *(_recall(k) for k in (1, 5, 10)),
    Metric(
        name="mrr",
        title="Mean reciprocal rank",
        means="1 / rank of the first gold document; 0 if none was found",
        observe=_reciprocal_rank,
    ),
    Metric(
        name="ndcg_at_10",
        title="nDCG at 10",
        means="gold documents among the first 10, discounted by rank, relative to the best order",
        observe=_ndcg,
    ),
    Metric(
        name="all_gold_at_10",
        title="All gold at 10",
        means="questions that need several documents and have all of them among the first 10",
        observe=_all_gold,
    ),
    Metric(
        name="evidence_recall_at_10",
        title="Gold sentences at 10",
        means="gold sentences that lie whole in the first 10 segments that the search returned",
        observe=_evidence_recall,
    ),
    Metric(
        name="follow_up_recall_at_5",
        title="Follow-ups: recall at 5",
        means="gold documents among the first 5 found for a follow-up rewritten as a standalone question",
        observe=_follow_up,
    ),
)


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
