"""Measurement of how well the extractive family separates small talk from questions, on lines written for it."""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from typing_extensions import TypedDict

from graph.usage import Meter
from tools.rules.question_rules import RulePreparer

Label = Literal["question", "small_talk"]


@dataclass(frozen=True, slots=True)
class SmallTalkLine:
    """A labelled message. The author of the rules saw the ``tuned`` half of the lines, but not the ``held`` one."""

    text: str
    language: str
    label: Label
    half: Literal["tuned", "held"]


class Half(TypedDict):
    """The right decisions on one half of the lines, and the lines that were classified wrongly."""

    lines: int
    questions_right: int
    small_talk_right: int
    accuracy: float
    wrong: list[str]


class SmallTalkReport(TypedDict):
    """The figures of both halves, and of all lines together."""

    lines: int
    accuracy: float
    tuned: Half
    held: Half


def load_lines() -> list[SmallTalkLine]:
    """Load the lines: 100 questions and 100 lines of small talk in English, Chinese and Vietnamese."""
    text = files(__package__).joinpath("data", "small_talk.jsonl").read_text(encoding="utf-8")
    return [SmallTalkLine(**json.loads(row)) for row in text.splitlines()]


async def run_small_talk() -> SmallTalkReport:
    """Prepare every line as a first message, and count how many are classified rightly."""
    preparer = RulePreparer()
    decided: list[tuple[SmallTalkLine, bool]] = []
    for line in load_lines():
        prepared = await preparer.prepare(line.text, [], search="auto", has_pages=False, meter=Meter())
        taken: Label = "question" if prepared.intent == "content_query" and prepared.needs_retrieval else "small_talk"
        decided.append((line, taken == line.label))
    right = sum(correct for _, correct in decided)
    return SmallTalkReport(
        lines=len(decided),
        accuracy=round(right / len(decided), 4),
        tuned=_half([each for each in decided if each[0].half == "tuned"]),
        held=_half([each for each in decided if each[0].half == "held"]),
    )


def _half(decided: list[tuple[SmallTalkLine, bool]]) -> Half:
    right = [line for line, correct in decided if correct]
    return Half(
        lines=len(decided),
        questions_right=sum(line.label == "question" for line in right),
        small_talk_right=sum(line.label == "small_talk" for line in right),
        accuracy=round(len(right) / len(decided), 4),
        wrong=[line.text for line, correct in decided if not correct],
    )
