"""What the extractive models are fitted on: which candidates are right, what a question weighs, what was searched."""

from collections import Counter

import numpy as np
import pytest

from evals.cases import Case, DataSet, Document, Sentence
from evals.sets.golden import load_golden
from graph.entrypoint import open_citewell
from graph.evidence import Hit, Segment
from research.development import load_development
from research.fitting.cross_validation import Fold, calibration_error, first_right, reader_weight_of
from research.fitting.fit_reader import reader_rows, signal_rows
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


def test_a_candidate_is_right_where_the_text_around_it_holds_the_evidence() -> None:
    asked = TrainingQuestion(
        "development-en",
        "a",
        "When is the pool open?",
        (hit(TEXT, "a", start=100), hit(OTHER, "b")),
        gold="a",
        evidence=frozenset({span("a", "The pool opens at nine.", 100)}),
    )
    (row,) = reader_rows([asked])
    assert row.right.tolist() == [True, True, True, False, False]
    assert row.features.shape == (5, len(FEATURES))
    shown = ("a", 100, 100 + len(TEXT))
    assert row.places[:3] == (shown,) * 3
    assert row.right_places == {shown}
    assert (row.data_set, row.group, row.weight) == ("development-en", "a", reader_weight_of("development-en"))


def test_far_from_the_evidence_a_candidate_is_wrong_though_its_passage_holds_it() -> None:
    evidence = "The pool opens at nine."
    text = " ".join([evidence, *(f"Lane {n} is for swimmers who swim slowly." for n in range(10))])
    asked = TrainingQuestion(
        "company", "a", "When is the pool open?", (hit(text, "a"),), gold="a", passages=(("a", evidence),)
    )
    (row,) = reader_rows([asked])
    assert (row.right[0], row.right[-1]) == (True, False)
    assert row.right_places == {("a", 0, len(text))} == set(row.places)


def test_without_marked_evidence_the_answer_is_right_in_the_gold_document_alone() -> None:
    hits = (hit(OTHER, "b"), hit(TEXT, "a"), *(hit(f"Entry number {n}.", f"c{n}") for n in range(8)))
    (row,) = reader_rows(
        [TrainingQuestion("xquad-en", "g", "When is it open?", hits, gold="a", answers=("Entry", "nine"))]
    )
    assert row.right.tolist() == [False, False, True, True, True, False, False, False]
    assert row.weight == reader_weight_of("xquad-en") < reader_weight_of("development-en") < reader_weight_of("company")


def test_a_question_that_the_search_brings_nothing_has_no_candidates() -> None:
    nothing = TrainingQuestion("xquad-en", "g", "When?", (), gold="a", answers=("nine",))
    (row,) = reader_rows([nothing])
    assert row.features.shape == (0, len(FEATURES))
    assert signal_rows([nothing], [Fold(np.zeros(len(FEATURES)))]) == [("xquad-en", "g", None, False)]


@pytest.mark.parametrize(
    ("gold", "answer", "answers"), [("a", "nine", True), ("a", "noon", False), (None, "nine", False)]
)
def test_what_was_found_answers_where_a_passage_shown_does(gold: str | None, answer: str, answers: bool) -> None:
    asked = TrainingQuestion("xquad-en", "g", "When is the pool open?", (hit(TEXT, "a"),), gold, (answer,))
    ((data_set, group, signals, answered),) = signal_rows([asked], [Fold(np.ones(len(FEATURES)))])
    assert (data_set, group, answered) == ("xquad-en", "g", answers)
    assert signals is not None
    assert signals.shape == (len(FOUND_SIGNALS),)


def test_a_passage_is_counted_once_in_the_order_of_the_reader() -> None:
    places = (("a", 0, 10), ("a", 5, 12), ("b", 0, 10), ("c", 0, 10))
    right = np.array([False, False, False, True])
    asked = CandidateList("made", "g", np.eye(4), right, 1.0, places, frozenset({("c", 0, 10)}))
    assert first_right(asked, np.array([4.0, 3.0, 2.0, 1.0])) == 2
    assert first_right(asked, np.array([1.0, 2.0, 3.0, 4.0])) == 0


def test_chances_that_come_true_as_often_as_they_say_have_no_calibration_error() -> None:
    assert calibration_error(np.array([0.5, 0.5, 1.0]), np.array([True, False, True])) == 0.0
    assert calibration_error(np.array([0.95, 0.95]), np.array([True, False])) == pytest.approx(0.45)


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
