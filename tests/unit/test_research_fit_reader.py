"""What the extractive models are fitted on: which candidates are right, what a question weighs, what was searched."""

from collections import Counter

import numpy as np
import pytest

from evals.cases import Case, DataSet, Document, Sentence
from evals.sets.golden import load_golden
from graph.entrypoint import open_citewell
from graph.evidence import Hit, Segment
from research.development import load_development
from research.fitting.cross_validation import Fold
from research.fitting.fit_reader import WEIGHT, reader_rows, signal_rows
from research.fitting.small_models import CandidateList, fit_softmax
from research.fitting.training_questions import StoredSpan, TrainingQuestion, gather_development
from tools.extractive.answerability import FOUND_SIGNALS
from tools.extractive.sentence_features import FEATURES
from tools.settings import Settings

TEXT = "The pool opens at nine. It closes at six. Entry is 4 euros."
OTHER = "The library opens at ten. Entry is free."


def hit(text: str, document: str, start: int = 0) -> Hit:
    return Hit(Segment(document, 0, start, start + len(text), text), 0.8, "search")


def span(document: str, sentence: str, start: int = 0) -> StoredSpan:
    at = start + TEXT.index(sentence)
    return StoredSpan(document, at, at + len(sentence))


def test_evidence_is_right_and_what_is_accepted_is_left_out() -> None:
    asked = TrainingQuestion(
        "development-en",
        "a",
        "When is the pool open?",
        (hit(TEXT, "a", start=100), hit(OTHER, "b")),
        gold="a",
        evidence=frozenset({span("a", "The pool opens at nine.", 100)}),
        accepted=frozenset({span("a", "It closes at six.", 100)}),
    )
    (row,) = reader_rows([asked])
    assert row.right.tolist() == [True, False, False, False]
    assert row.features.shape == (4, len(FEATURES))
    assert (row.data_set, row.group, row.weight) == ("development-en", "a", WEIGHT["development"])


def test_without_marked_evidence_the_answer_is_right_in_the_gold_document_alone() -> None:
    hits = (hit(OTHER, "b"), hit(TEXT, "a"), *(hit(f"Entry number {n}.", f"c{n}") for n in range(8)))
    (row,) = reader_rows(
        [TrainingQuestion("xquad-en", "g", "When is it open?", hits, gold="a", answers=("Entry", "nine"))]
    )
    assert row.right.tolist() == [False, False, True, False, True, False, False, False]
    assert row.weight == WEIGHT["xquad"]


def test_a_question_that_the_search_brings_nothing_has_no_candidates() -> None:
    nothing = TrainingQuestion("xquad-en", "g", "When?", (), gold="a", answers=("nine",))
    (row,) = reader_rows([nothing])
    assert row.features.shape == (0, len(FEATURES))
    assert signal_rows([nothing], [Fold(np.zeros(len(FEATURES)))]) == [("xquad-en", "g", None, True)]


def test_signals_tell_whether_the_answer_is_there() -> None:
    asked = TrainingQuestion("development-en", "a", "When is the pool open?", (hit(TEXT, "a"),), gold=None)
    ((data_set, group, signals, answerable),) = signal_rows([asked], [Fold(np.ones(len(FEATURES)))])
    assert (data_set, group, answerable) == ("development-en", "a", False)
    assert signals is not None
    assert signals.shape == (len(FOUND_SIGNALS),)


def test_a_question_of_twice_the_weight_counts_as_two() -> None:
    chance = np.random.default_rng(5)
    rows = [chance.normal(size=(5, 3)) for _ in range(40)]
    rights = [np.arange(5) == chance.integers(5) for _ in rows]

    def made(weight: float, times: int) -> list[CandidateList]:
        return [CandidateList("made", "g", row, right, weight) for row, right in zip(rows, rights, strict=True)] * times

    assert fit_softmax(made(2.0, 1), 1.0) == pytest.approx(fit_softmax(made(1.0, 2), 1.0), rel=1e-3, abs=1e-4)


async def test_the_development_set_is_searched_with_and_without_the_answer(settings: Settings) -> None:
    documents = (Document("pool", "Pool", TEXT), Document("library", "Library", OTHER))
    tags = {"language": "en"}
    data = DataSet(
        "made",
        documents,
        (
            Case(
                case_id="asked",
                question="When does the pool open?",
                evidence=(frozenset({Sentence("pool", 0)}),),
                accepted=frozenset({Sentence("pool", 1)}),
                removal=("pool",),
                tags=tags,
            ),
            Case(case_id="none", question="Who is the lifeguard of the pool?", expected="abstained", tags=tags),
            Case(case_id="follow-up", question="And when does it close?", before=("When does it open?",), tags=tags),
            Case(case_id="page", question="What is this page about?", pages=("pool",), tags=tags),
        ),
    )
    async with open_citewell(settings) as citewell:
        asked = await gather_development(citewell.library, data)
        left = await citewell.library.workspaces.list()
    assert not [workspace for workspace in left if workspace.name.startswith("eval-")]
    answered, unanswerable, removed = asked
    assert (answered.text, removed.text) == ("When does the pool open?",) * 2
    (evidence,) = answered.evidence
    assert (answered.gold, TEXT[evidence.start : evidence.end]) == (evidence.document_id, "The pool opens at nine.")
    assert [TEXT[each.start : each.end] for each in answered.accepted] == ["It closes at six."]
    assert answered.group == removed.group == "pool"
    assert [(each.gold, each.evidence) for each in (unanswerable, removed)] == [(None, frozenset())] * 2
    found = [{each.segment.document_id for each in asked.hits} for asked in (answered, removed)]
    assert evidence.document_id in found[0] - found[1]


def test_the_development_set_asks_in_three_languages_and_shares_nothing_with_the_golden_set() -> None:
    development, golden = load_development(), load_golden()
    asked = Counter((case.tags["language"], case.expected) for case in development.cases)
    assert {language for language, _ in asked} == {"en", "vi", "zh"}
    assert all(asked[language, expected] >= 5 for language, _ in asked for expected in ("answered", "abstained"))
    assert not {case.question for case in development.cases} & {case.question for case in golden.cases}
    assert not {each.title for each in development.documents} & {each.title for each in golden.documents}
