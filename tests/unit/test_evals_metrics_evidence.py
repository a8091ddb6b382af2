"""Citations against gold sentences: what is right, what is missing, and what citing too much costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import figures
from evals.metrics.citation_metrics import EVIDENCE, PROOF, match
from evals.records import Record
from tests.evals_records import bare, citing, quote, section_of, sentences, stated

PLACES = st.frozensets(st.integers(0, 9), min_size=1)


def means(*records: Record) -> dict[str, float]:
    return {name: figure["mean"] for name, figure in figures(records, EVIDENCE).items()}


def test_citations_that_are_the_evidence() -> None:
    assert match(citing(quote("a", 1), quote("a", 2), evidence=[sentences("a", 1, 2)])) == (1.0, 1.0, 1.0)


def test_precision_is_of_segments_and_recall_of_sentences() -> None:
    found = match(citing(quote("a", 1, 2), quote("b", 7), evidence=[sentences("a", 1, 4, 5, 6)]))
    assert found == (0.5, 0.25, pytest.approx(1 / 3))


def test_the_same_place_of_another_document_is_no_evidence() -> None:
    assert match(citing(quote("b", 1), evidence=[sentences("a", 1)])) == (0.0, 0.0, 0.0)


def test_any_alternative_is_precise_and_the_best_one_is_recalled() -> None:
    alternatives = [sentences("a", 1, 2), sentences("b", 5)]
    assert match(citing(quote("b", 5), evidence=alternatives)) == (1.0, 1.0, 1.0)
    assert match(citing(quote("a", 1), evidence=alternatives)) == (1.0, 0.5, pytest.approx(2 / 3))
    assert match(citing(quote("a", 1), quote("b", 5), evidence=alternatives)) == (1.0, 1.0, 1.0)


def test_accepted_sentences_cost_nothing_and_prove_nothing() -> None:
    accepted = sentences("a", 8)
    assert match(citing(quote("a", 1), quote("a", 8), evidence=[sentences("a", 1)], accepted=accepted)).f1 == 1.0
    assert match(citing(quote("a", 8), evidence=[sentences("a", 1)], accepted=accepted)) == (1.0, 0.0, 0.0)


def test_a_segment_cited_twice_counts_once() -> None:
    assert match(citing(quote("a", 1), quote("a", 1), quote("a", 5), evidence=[sentences("a", 1)])).precision == 0.5


def test_a_citation_of_no_sentence_costs_precision() -> None:
    web = quote("https://example.org", start=3, end=9)
    assert match(citing(quote("a", 1), web, evidence=[sentences("a", 1)])).precision == 0.5
    assert match(citing(quote("a", 1), web, web, evidence=[sentences("a", 1)])).precision == 0.5
    assert match(citing(web, evidence=[sentences("a", 1)])) == (0.0, 0.0, 0.0)


def test_an_answer_that_cites_nothing_proves_nothing() -> None:
    assert means(citing(evidence=[sentences("a", 1)])) == {
        "citation_precision": 0.0,
        "citation_recall": 0.0,
        "citation_f1": 0.0,
        "citation_f1_all": 0.0,
    }


@pytest.mark.parametrize("outcome", ["abstained", "failed", "cancelled"])
def test_refused_and_failed_questions_count_in_the_last_measure_alone(outcome: str) -> None:
    right = citing(quote("a", 1), evidence=[sentences("a", 1)])
    assert means(right, bare("q2", evidence=[sentences("a", 1)], outcome=outcome)) == {
        "citation_precision": 1.0,
        "citation_recall": 1.0,
        "citation_f1": 1.0,
        "citation_f1_all": 0.5,
    }


def test_questions_without_an_answer_to_cite_are_not_measured() -> None:
    removed = citing(quote("a", 1), evidence=[sentences("a", 1)], variant="removed", expected="abstained")
    assert means(removed, bare("q2", claims=[stated(quote("a", 1))])) == {}


@given(PLACES, PLACES)
def test_measures_agree_with_sets(cited: frozenset[int], evidence: frozenset[int]) -> None:
    found = match(citing(*(quote("a", place) for place in cited), evidence=[sentences("a", *evidence)]))
    shared = len(cited & evidence)
    assert found.precision == shared / len(cited)
    assert found.recall == shared / len(evidence)
    assert found.f1 == pytest.approx(2 * shared / (len(cited) + len(evidence)))


@given(PLACES, PLACES, st.integers(10, 99))
def test_citing_one_sentence_too_many_costs(cited: frozenset[int], evidence: frozenset[int], extra: int) -> None:
    quotes = [quote("a", place) for place in cited]
    before = match(citing(*quotes, evidence=[sentences("a", *evidence)]))
    after = match(citing(*quotes, quote("a", extra), evidence=[sentences("a", *evidence)]))
    assert after.recall == before.recall
    if before.precision:
        assert after.precision < before.precision
        assert after.f1 < before.f1


@given(PLACES, st.lists(PLACES, min_size=1, max_size=3), PLACES)
def test_another_alternative_never_costs(
    cited: frozenset[int], alternatives: list[frozenset[int]], more: frozenset[int]
) -> None:
    quotes = [quote("a", place) for place in cited]
    few = match(citing(*quotes, evidence=[sentences("a", *each) for each in alternatives]))
    many = match(citing(*quotes, evidence=[sentences("a", *each) for each in [*alternatives, more]]))
    assert many.precision >= few.precision
    assert many.recall >= few.recall
    assert many.f1 >= few.f1 - 1e-9


def test_proofs_are_counted_by_citation() -> None:
    good, shifted, foreign = quote("a", 1), quote("a", 2, exact=False), quote("b", 3, offered=False)
    found = figures([bare(claims=[stated(good, shifted), stated(good, foreign)])], PROOF)
    assert (found["quote_exactness"]["mean"], found["id_validity"]["mean"]) == (0.75, 0.75)


def test_ids_are_counted_in_what_was_first_written() -> None:
    wrote = bare(
        written=[section_of("a:0", "a:0", unknown_ids=2), section_of(unknown_ids=1), section_of("a:0")],
        first_claims=[stated()],
        sections=[section_of("a:0"), section_of(), section_of("a:0"), section_of("a:0")],
    )
    refused = bare("q2", outcome="abstained", written=[section_of()])
    found = figures([wrote, refused], PROOF)
    assert (found["invented_ids"]["mean"], found["invented_ids"]["n"]) == (3.0, 1)
    assert found["uncited_sections"]["mean"] == 0.25


def test_a_citation_is_right_where_its_segment_holds_evidence() -> None:
    beside = quote("a", 3, segment_id="a:0", segment_sentences=[0, 1, 2, 3])
    elsewhere = quote("a", 7, segment_id="a:1", segment_sentences=[5, 6, 7])
    answer = citing(beside, elsewhere, evidence=[sentences("a", 1)])
    assert match(answer) == (0.5, 1.0, pytest.approx(2 / 3))


def test_a_segment_that_was_never_offered_holds_nothing() -> None:
    stranger = quote("a", 1, segment_id="a:9", segment_sentences=[], offered=False)
    assert match(citing(stranger, evidence=[sentences("a", 1)])) == (0.0, 0.0, 0.0)
