"""What a session remembers of its last run: six exchanges, each answer by how it begins."""

from graph.evidence import Section
from graph.rows import ANSWER_KEPT, TURNS_KEPT, Turn
from graph.state import State
from nodes.decide_retrieval import finished_turns


def turn(number: int, answer: str = "A") -> Turn:
    return Turn(question=f"Q{number}", standalone_question=f"Q{number}", answer=answer)


def test_the_last_run_is_added_and_the_oldest_forgotten() -> None:
    turns = [turn(number) for number in range(TURNS_KEPT)]
    section = Section(text="A", source_ids=[])
    state = State(turns=turns, asked="Q6", standalone_question="Q6", sections=[section], outcome="answered")
    last: Turn = {**turn(6), "from_catalogue": False, "refused": False}
    assert finished_turns(state) == [*turns[1:], last]


def test_a_run_without_an_outcome_is_not_remembered() -> None:
    assert finished_turns(State(turns=[turn(1)], asked="Q2")) == [turn(1)]


def test_long_answers_are_remembered_by_how_they_begin() -> None:
    long = "word " * ANSWER_KEPT
    state = State(asked="Q1", sections=[Section(text=long, source_ids=[])], outcome="answered")
    assert [each["answer"] for each in finished_turns(state)] == [long[:ANSWER_KEPT]]
    history = [turn(number, long) for number in range(9)]
    assert finished_turns(State(history=history)) == [turn(number, long[:ANSWER_KEPT]) for number in range(3, 9)]
