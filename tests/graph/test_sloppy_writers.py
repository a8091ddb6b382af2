"""A writer that makes one fault of form: what it says that is true is kept, and a mark stands on what bears it."""

import json
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from answers.marks import mark_of
from graph.evidence import Hit, Segment
from graph.ports import Draft, Grading, Judgement, OpenClaim, Preparation
from graph.rows import Turn
from graph.usage import Meter
from tests.fakes import MemoryLibrary, ScriptedFamily
from tests.graph.asking import Asked
from tests.judging import NO, YES, RuleJudge
from text.words import count_words
from tools.llm.section_reader import SectionReader
from tools.parsers.markdown import read
from tools.retrieval.segmenting import SegmentSize, segment

SMALL = SegmentSize(40, "words")
PLANTED = Path(__file__).parents[1] / "fixtures" / "planted.jsonl"


@dataclass(frozen=True)
class Sentence:
    """A true sentence of an answer, what its document says of it, and the segment that does."""

    text: str
    bears: str
    segment_id: str


@dataclass(frozen=True)
class Case:
    """A document, another one in its language, and what an answer from the first says."""

    question: str
    document_id: str
    segments: list[Segment]
    others: list[Segment]
    sentences: list[Sentence]


def cases() -> list[Case]:
    """Cut the documents into segments, and set each beside the next one of its language."""
    rows = [json.loads(line) for line in PLANTED.read_text().splitlines()]
    cut = {row["id"]: segments_of(row) for row in rows}
    found = []
    for row, following in pairwise([*rows, rows[0]]):
        other = following if following["lang"] == row["lang"] else next(r for r in rows if r["lang"] == row["lang"])
        own = cut[row["id"]]
        said = [
            Sentence(each["text"], each["bears"], next(s.segment_id for s in own if each["bears"] in s.text))
            for each in row["sentences"]
            if each["true"]
        ]
        found.append(Case(row["question"], own[0].document_id, own, cut[other["id"]], said))
    return found


def segments_of(row: dict[str, Any]) -> list[Segment]:
    document_id = str(uuid.uuid5(uuid.NAMESPACE_URL, row["id"]))
    parsed = read(row["document"].encode())
    return [
        Segment(
            document_id,
            span.segment_index,
            span.start,
            span.end,
            parsed.text[span.start : span.end],
            heading=span.heading,
            tokens=span.tokens,
            title=row["title"],
            blocks=span.blocks,
        )
        for span in segment(parsed, SMALL, count_words)
    ]


CASES = cases()
Ids = Callable[[Sentence], list[str]]


def as_json(case: Case, ids: Ids, mark: str = "") -> str:
    rows = [{"source_ids": ids(each), "text": each.text + mark} for each in case.sentences]
    return json.dumps({"sections": rows}, ensure_ascii=False)


def right(each: Sentence) -> list[str]:
    return [each.segment_id]


def wrong(case: Case) -> Ids:
    return lambda each: [next(s.segment_id for s in case.segments if s.segment_id != each.segment_id)]


def without_ids(case: Case) -> str:
    return json.dumps({"sections": [{"text": each.text} for each in case.sentences]}, ensure_ascii=False)


def in_the_text(case: Case) -> str:
    rows = [{"text": f"{each.text} ({each.segment_id})"} for each in case.sentences]
    return json.dumps({"sections": rows}, ensure_ascii=False)


def one_section(case: Case) -> str:
    first, text = case.sentences[0], " ".join(each.text for each in case.sentences)
    return json.dumps({"sections": [{"source_ids": [first.segment_id], "text": text}]}, ensure_ascii=False)


FAULTS: dict[str, Callable[[Case], str]] = {
    "none": lambda case: as_json(case, right),
    "prose": lambda case: "\n\n".join(each.text for each in case.sentences),
    "prose in one paragraph": lambda case: " ".join(each.text for each in case.sentences),
    "prose with ids": lambda case: "\n\n".join(f"{each.text} [SEG={each.segment_id}]" for each in case.sentences),
    "prose with sources below": lambda case: "\n\n".join(
        f"{each.text}\n\nSource: {each.segment_id}" for each in case.sentences
    ),
    "no comma": lambda case: as_json(case, right).replace("}, {", "} {"),
    "a fault in between": lambda case: as_json(case, right).replace("}, {", "}, ?? {"),
    "cut short": lambda case: as_json(case, right)[:-3],
    "fenced": lambda case: f"Here you are:\n```json\n{as_json(case, right)}\n```\nAnything else?",
    "python": lambda case: str(json.loads(as_json(case, right))),
    "other fields": lambda case: as_json(case, right).replace('"text"', '"content"').replace("source_ids", "sources"),
    "ids missing": without_ids,
    "ids empty": lambda case: as_json(case, lambda each: []),
    "ids invented": lambda case: as_json(case, lambda each: [f"{uuid.uuid5(uuid.NAMESPACE_URL, each.text)}:3"]),
    "ids joined": lambda case: as_json(case, lambda each: [", ".join([each.segment_id, *wrong(case)(each)])]),
    "ids in the text": in_the_text,
    "another segment's id": lambda case: as_json(case, wrong(case)),
    "another document's id": lambda case: as_json(case, lambda each: [case.others[0].segment_id]),
    "one of two sources": one_section,
    "its own marks": lambda case: as_json(case, right, "[^1]"),
    "its own marks and no ids": lambda case: as_json(case, lambda each: [], " [1]"),
}


@dataclass
class SloppyFamily(ScriptedFamily):
    """A family whose writer replies with a text, a few characters at a time."""

    reply: str = ""

    async def prepare(self, question: str, turns: Sequence[Turn], *, meter: Meter, **options: Any) -> Preparation:
        """Prepare a first question by rule, as the llm family does."""
        return await super().prepare(question, turns, meter=Meter(), **options)

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Grade by score, as the llm family does."""
        return await super().grade(question, candidates, meter=Meter())

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        """Read the reply as that of a model."""
        meter.call()
        reader = SectionReader([hit.segment_id for hit in sources], "\n".join(hit.segment.text for hit in sources))
        for at in range(0, len(self.reply), 7):
            for draft in reader.feed(self.reply[at : at + 7]):
                yield draft
        for draft in reader.end(cut=False):
            yield draft


def knowing(case: Case) -> RuleJudge:
    """Return a judge that is right: it supports what is true where it is shown the passage that bears it."""

    def rule(asked: OpenClaim) -> Judgement:
        shown = "\n".join("\n".join((entry.text, *entry.context)) for entry in asked.entries)
        return YES if any(each.bears in shown for each in case.sentences if is_of(asked.claim, each)) else NO

    return RuleJudge(rule)


def is_of(claim: str, sentence: Sentence) -> bool:
    return sentence.text.rstrip(".。") in claim


@dataclass
class Outcome:
    """What became of the true sentences of all answers."""

    said: int = 0
    kept: int = 0
    marked: int = 0  # on the segment that bears it
    elsewhere: int = 0  # marks on another document
    leftovers: int = 0  # signs of ids and marks in the text
    revisions: int = 0


async def asked(fault: str, among: Sequence[Case], *, judged: bool) -> Outcome:
    found = Outcome()
    for case in among:
        judge = knowing(case) if judged else None
        family = SloppyFamily(reply=FAULTS[fault](case))
        session = Asked(library=MemoryLibrary([*case.segments, *case.others]), family=family, ports={"judge": judge})
        pages = [case.document_id, case.others[0].document_id]
        state = await session.ask(case.question, pages=pages)
        message = await session.message(state)
        marks = [claim for claim in message.get("claims", []) if mark_of(claim) == "shown"]
        found.said += len(case.sentences)
        found.kept += sum(each.text in message["answer"] for each in case.sentences)
        found.marked += sum(
            any(is_of(c["text"], each) and c["citations"][0]["segment_id"] == each.segment_id for c in marks)
            for each in case.sentences
        )
        found.elsewhere += sum(
            citation["document_id"] != case.document_id for claim in marks for citation in claim["citations"]
        )
        found.leftovers += any(sign in message["answer"] for sign in ("SEG", "[^", "[1", case.document_id, "{"))
        found.revisions += len(family.faulty)
    return found


# A quarter of the answers each, all of them together.
WITH_A_FAULT = pytest.mark.parametrize(
    ("fault", "among"), [(fault, CASES[at % 4 :: 4]) for at, fault in enumerate(FAULTS)], ids=list(FAULTS)
)


@WITH_A_FAULT
async def test_with_a_judge_that_is_right_a_fault_costs_neither_a_sentence_nor_its_mark(
    fault: str, among: Sequence[Case]
) -> None:
    found = await asked(fault, among, judged=True)
    assert (found.kept, found.elsewhere, found.leftovers, found.revisions) == (found.said, 0, 0, 0)
    assert found.marked >= found.said - 1  # of all answers, not a quarter of them: 39 or 40 of 40 with each fault


@WITH_A_FAULT
async def test_without_a_judge_a_fault_costs_no_sentence_and_marks_no_other_document(
    fault: str, among: Sequence[Case]
) -> None:
    found = await asked(fault, among, judged=False)
    assert (found.kept, found.elsewhere, found.leftovers, found.revisions) == (found.said, 0, 0, 0)
