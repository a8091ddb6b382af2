"""What a chance of answering the question is called, wherever a person reads it: one of three words.

It is the first thing that is said of an answer, and no verdict: a true quote may answer nothing.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from graph.evidence import Message

Answerhood = Literal["answers", "may_answer", "nearest"]
ANSWERHOODS: tuple[Answerhood, ...] = get_args(Answerhood)

ANSWERS = 0.75  # the least chance of what is said to answer
MAY_ANSWER = 0.4  # and of what may; what is below it comes nearest, whether it is refused or not
SAID: Mapping[Answerhood, str] = {
    "answers": "Answers your question",
    "may_answer": "May answer your question",
    "nearest": "What comes nearest to your question",
}


def answerhood_of(chance: float) -> Answerhood:
    """Return what a chance in [0, 1] is called."""
    if chance >= ANSWERS:
        return "answers"
    return "may_answer" if chance >= MAY_ANSWER else "nearest"


def said_of(message: Message) -> str:
    """Return what is said first of an answer, in English; "" where nobody has estimated whether it answers."""
    assessment = message.get("assessment")
    chance = None if assessment is None else assessment.get("answerhood")
    return "" if chance is None else SAID[answerhood_of(chance)]
