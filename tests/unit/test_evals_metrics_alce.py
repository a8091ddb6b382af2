"""ALCE's two measures with a function whose opinions are known, and how a function is rated."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import figures
from evals.metrics.alce import ALCE, WORD_COVERAGE, Alce, SupportFunction, described
from evals.records import Record
from tests.evals_records import bare, passage, section_of, stated


def share_of_words(premise: str, statement: str) -> float:
    wanted = statement.split()
    return sum(word in premise.split() for word in wanted) / len(wanted)


ALL_WORDS = SupportFunction("all words", share_of_words, 1.0)
BY_WORDS = Alce(ALL_WORDS)
PASSAGES = st.lists(st.sampled_from(["a", "b", "c", "a b", "x"]), max_size=4)


def test_a_statement_that_its_passage_supports() -> None:
    assert BY_WORDS.statement("a b", ["a b c"], 0) == (1.0, 1, 1)


def test_passages_that_support_only_together_are_all_precise() -> None:
    assert BY_WORDS.statement("a b", ["a", "b"], 0) == (1.0, 2, 2)


def test_a_passage_that_the_others_do_without_is_irrelevant() -> None:
    assert BY_WORDS.statement("a b", ["a b", "x"], 0) == (1.0, 1, 2)
    assert BY_WORDS.statement("a b", ["a", "b", "a"], 0) == (1.0, 1, 3)


def test_passages_that_support_alone_are_precise_however_often() -> None:
    assert BY_WORDS.statement("a", ["a", "a b"], 0) == (1.0, 2, 2)


def test_an_unsupported_statement_has_no_precise_citation() -> None:
    assert BY_WORDS.statement("a b", ["a", "x"], 0) == (0.0, 0, 2)


def test_without_citations_nothing_is_recalled() -> None:
    assert BY_WORDS.statement("a", [], 0) == (0.0, 0, 0)


def test_an_invented_id_costs_recall_and_precision() -> None:
    assert BY_WORDS.statement("a", ["a"], 1) == (0.0, 0, 2)
    assert BY_WORDS.statement("a", [], 3) == (0.0, 0, 3)


def test_citing_everything_is_not_cut_off() -> None:
    assert BY_WORDS.statement("a", ["a", *"xxxxxxxxx"], 0) == (1.0, 1, 10)


@settings(max_examples=40)
@given(PASSAGES, st.integers(0, 2))
def test_precise_citations_are_some_of_all_and_need_recall(passages: list[str], unknown: int) -> None:
    found = BY_WORDS.statement("a b", passages, unknown)
    assert 0 <= found.precise <= len(passages)
    assert found.citations == len(passages) + unknown
    assert found.recall == 1 or found.precise == 0
    if len(passages) == 1:
        assert found.precise == found.recall


@settings(max_examples=40)
@given(PASSAGES)
def test_an_invented_id_never_helps(passages: list[str]) -> None:
    clean, invented = BY_WORDS.statement("a b", passages, 0), BY_WORDS.statement("a b", passages, 1)
    assert invented.recall <= clean.recall
    assert invented.precise <= clean.precise
    assert invented.citations > clean.citations


def answer(*sections: object, claims: list[object], **changed: object) -> Record:
    sources = [passage("p:0", "a b"), passage("p:1", "c"), passage("p:2", "x", title="Herring")]
    return bare(sections=list(sections), claims=claims, sources=sources, **changed)


def means(*records: Record) -> tuple[float, float, int]:
    found = figures(records, BY_WORDS.metrics)
    assert found["alce_recall"]["n"] == found["alce_precision"]["n"]
    return found["alce_recall"]["mean"], found["alce_precision"]["mean"], found["alce_recall"]["n"]


def test_a_claim_cites_what_its_section_does() -> None:
    one = answer(
        section_of("p:0"),
        section_of("p:1", "p:2"),
        claims=[stated(text="a"), stated(text="b"), stated(text="c", section=1), stated(text="d", section=1)],
    )
    # recalled: a, b, c of four; precise: p:0 twice, p:1 once, of the six times that an id is cited
    assert means(one) == (0.75, 0.5, 1)


def test_titles_are_part_of_a_passage() -> None:
    assert means(answer(section_of("p:2"), claims=[stated(text="Title: Herring x")])) == (1.0, 1.0, 1)


def test_means_are_of_answers_whatever_their_length() -> None:
    long = answer(section_of("p:0"), claims=[stated(text=word) for word in "aaaa"])
    wrong = answer(section_of("p:1"), claims=[stated(text="a")], case_id="q2")
    assert means(long, wrong) == (0.5, 0.5, 2)


def test_ids_that_name_no_source_are_invented() -> None:
    dropped = answer(section_of("p:0", unknown_ids=1), claims=[stated(text="a")])
    foreign = answer(section_of("p:0", "elsewhere:4"), claims=[stated(text="a")], case_id="q2")
    assert means(dropped, foreign) == (0.0, 0.0, 2)
    half = answer(
        section_of("p:0", unknown_ids=1), section_of("p:0"), claims=[stated(text="a"), stated(text="b", section=1)]
    )
    assert means(half) == (0.5, 0.3333, 1)


def test_refusals_and_answers_without_claims_are_not_scored() -> None:
    uncited = answer(section_of(), claims=[stated(text="a")])
    refused = answer(section_of("p:0"), claims=[stated(text="a")], case_id="q2", outcome="abstained")
    greeting = answer(section_of(), claims=[], case_id="q3")
    assert means(uncited, refused, greeting) == (0.0, 0.0, 1)


def test_the_figures_say_whose_opinion_they_rest_on() -> None:
    assert all("all words" in metric.means for metric in BY_WORDS.metrics)
    assert described(ALL_WORDS) == {"name": "all words", "rating": None}
    assert all("by word coverage (AUROC 0.7" in metric.means for metric in ALCE.metrics)


@pytest.mark.parametrize(
    ("premise", "supported", "unsupported"),
    [
        (
            "Title: Cedar Bridge\nThe Cedar Bridge was finished in 1911. It carries two lanes.",
            "The Cedar Bridge was finished in 1911.",
            "Otters sleep at anchor off Lisbon.",
        ),
        ("Title: 雪松桥\n雪松桥于1911年建成。桥上有两条车道。", "雪松桥于1911年建成。", "里斯本的水獭在夜里睡觉。"),
    ],
)
def test_the_shipped_function_reads_plain_text(premise: str, supported: str, unsupported: str) -> None:
    assert WORD_COVERAGE.holds(premise, supported)
    assert not WORD_COVERAGE.holds(premise, unsupported)
    assert WORD_COVERAGE.score("", supported) == 0.0
