"""Retrieval against gold documents and sentences, counted by hand."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import figures
from evals.metrics.retrieval_metrics import RETRIEVAL, ndcg, recall_at, reciprocal_rank
from evals.records import Record
from tests.evals_records import bare, retrieved, segment, sentences

NAMES = st.sampled_from("abcdefgh")
RANKED = st.lists(NAMES, unique=True)
GOLD = st.lists(st.frozensets(NAMES, min_size=1, max_size=3), min_size=1, max_size=3)


def means(*records: Record) -> dict[str, float]:
    return {name: figure["mean"] for name, figure in figures(records, RETRIEVAL).items()}


def test_ranks_are_of_documents_each_counted_once() -> None:
    found = means(bare(evidence=[sentences("c", 0)], retrieved=retrieved("a", "a", "b", "b", "c", "c")))
    assert (found["recall_at_1"], found["recall_at_5"], found["mrr"]) == (0.0, 1.0, 0.3333)
    assert found["ndcg_at_10"] == 0.5  # 1 / log2(3 + 1)


def test_evidence_in_two_documents() -> None:
    both = [sentences("a", 0) + sentences("b", 1)]
    found = means(bare(evidence=both, retrieved=retrieved("a", "x", "y", "b")))
    assert [found[f"recall_at_{k}"] for k in (1, 5, 10)] == [0.5, 1.0, 1.0]
    assert found["ndcg_at_10"] == round((1 + 1 / log2(5)) / (1 + 1 / log2(3)), 4)
    assert (found["mrr"], found["all_gold_at_10"]) == (1.0, 1.0)
    missing = means(bare(evidence=both, retrieved=retrieved("a", *"klmnopqrs", "b")))
    assert (missing["recall_at_10"], missing["all_gold_at_10"]) == (0.5, 0.0)


def test_the_alternative_that_does_best_counts() -> None:
    found = means(
        bare(evidence=[sentences("a", 0) + sentences("b", 0), sentences("c", 0)], retrieved=retrieved("c", "a"))
    )
    assert (found["recall_at_1"], found["ndcg_at_10"]) == (1.0, 1.0)
    assert "all_gold_at_10" not in found  # one document is enough


def test_a_sentence_is_found_where_segments_hold_it_whole() -> None:
    evidence = [sentences("a", 0, 1, 2, 3)]  # at 0-10, 10-20, 20-30, 30-40
    parts = [segment("a", 25, 37), segment("a", 0, 15), segment("b", 0, 90), segment("a", 15, 25)]
    assert means(bare(evidence=evidence, retrieved=parts))["evidence_recall_at_10"] == 0.75
    late = [*(segment("b", n, n + 1) for n in range(10)), segment("a", 0, 40)]
    assert means(bare(evidence=evidence, retrieved=late))["evidence_recall_at_10"] == 0.0


def test_a_follow_up_is_measured_apart_too() -> None:
    follow_up = {"evidence": [sentences("a", 0)], "before": ["Which town?"]}
    helped = bare("q1", retrieved=retrieved("a"), **follow_up)
    first = bare("q4", evidence=[sentences("a", 0)], retrieved=retrieved("x"))
    found = means(helped, first)
    assert found["follow_up_recall_at_5"] == 1.0
    assert found["recall_at_5"] == 0.5


@pytest.mark.parametrize(
    "changed",
    [{"evidence": []}, {"variant": "removed", "expected": "abstained"}, {"pages": ["a"]}],
    ids=["no evidence", "evidence removed", "page selected"],
)
def test_only_a_search_that_can_find_evidence_is_measured(changed: dict[str, object]) -> None:
    assert means(bare(**{"evidence": [sentences("a", 0)], "retrieved": retrieved("a"), **changed})) == {}


@given(RANKED, GOLD)
def test_shares_grow_with_depth_and_stay_in_bounds(ranked: list[str], alternatives: list[frozenset[str]]) -> None:
    at = [recall_at(k, ranked, alternatives) for k in range(12)]
    assert at == sorted(at)
    assert at[0] == 0
    assert 0 <= ndcg(ranked, alternatives) <= 1 + 1e-9
    assert (reciprocal_rank(ranked, alternatives) > 0) == (ndcg(ranked, alternatives) > 0) == (at[-1] > 0)


@given(RANKED, GOLD)
def test_an_order_with_gold_first_is_perfect(others: list[str], alternatives: list[frozenset[str]]) -> None:
    ranked = [*sorted(alternatives[0]), *(name for name in others if name not in alternatives[0])]
    assert ndcg(ranked, alternatives) == pytest.approx(1.0)
    assert reciprocal_rank(ranked, alternatives) == 1.0


@given(RANKED, GOLD, st.data())
def test_moving_a_gold_document_up_never_costs(
    ranked: list[str], alternatives: list[frozenset[str]], data: st.DataObject
) -> None:
    places = [i for i, name in enumerate(ranked) if i and name in alternatives[0]]
    if places:
        at = data.draw(st.sampled_from(places))
        risen = [*ranked[: at - 1], ranked[at], ranked[at - 1], *ranked[at + 1 :]]
        assert ndcg(risen, alternatives[:1]) >= ndcg(ranked, alternatives[:1]) - 1e-9
        assert reciprocal_rank(risen, alternatives[:1]) >= reciprocal_rank(ranked, alternatives[:1])
