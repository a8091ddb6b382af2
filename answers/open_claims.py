"""Ask a judge about the claims that code left open, while the answer is still being written."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from answers.citations import context_of_quote, context_outside, heading_path
from graph.errors import BudgetExhausted, DependencyFailed, fallback_failure
from graph.evidence import Failure, JudgeMark, Proof, Section, Segment
from graph.ports import CitedEntry, Judge, Judgement, OpenClaim
from graph.reasons import Reason, texts, why
from graph.rows import ClaimRow
from graph.usage import Meter
from text.answer_markdown import context_of

log = logging.getLogger(__name__)

NOT_JUDGED = Reason("not_judged")
ENTRY_CHARACTERS = 2400  # of a segment that a judge reads around the cited sentences
BEFORE_CHARACTERS = 600
MOST_ENTRIES = 4
REPAIR_CALLS = 2  # model calls that a repair takes: the revision, and judging it
OPEN_VERDICTS = ("unverified", "unsupported")


def is_open(row: ClaimRow) -> bool:
    """Whether code left a claim to the judge: it found no hard evidence for or against it."""
    return row["verdict"] in OPEN_VERDICTS and "judge" not in row


@dataclass(frozen=True, slots=True)
class Question:
    """An open claim of a section as a judge gets it; ``spans`` are its entries' places in the sources."""

    row: ClaimRow
    claim: OpenClaim
    spans: tuple[Proof, ...]


def question_of(row: ClaimRow, section: Section, segments: Sequence[Segment], question: str) -> Question | None:
    """Return an open claim with the entries that it cites; None where its section cites nothing that can be read.

    The sentences that code found near the claim come first, then the other cited segments as a whole: what bears a
    claim out may share no word with it.
    """
    found = [
        (segment, [proof for proof in row["proofs"] if proof["segment_id"] == segment.segment_id])
        for segment in segments
    ]
    shown = sorted(found, key=lambda each: not each[1])[:MOST_ENTRIES]
    if not shown:
        return None
    text = section["text"]
    entries = tuple(_entry(*each) for each in shown)
    claim = OpenClaim(text[row["start"] : row["end"]], entries, question, _before(text, row["start"]))
    return Question(row, claim, tuple(_span(*each) for each in shown))


def _before(text: str, start: int) -> str:
    """Return what a claim hangs on and what comes before it in its line; the line above it where there is neither."""
    lead = " ".join(text[first:last].strip() for first, last in context_of(text, start))
    line = text[text.rfind("\n", 0, start) + 1 : start].strip()
    before = f"{lead} {line}".strip() or text[:start].strip().rsplit("\n", 1)[-1]
    return before[-BEFORE_CHARACTERS:]


def _entry(segment: Segment, proofs: Sequence[Proof]) -> CitedEntry:
    """Return the cited sentences of a segment, with what they hang on and the text around them as their context.

    Of a whole segment, what it hangs on is outside of it, such as the header of a table that began before it.
    """
    quoted = " ".join(
        segment.text[proof["start"] - segment.start : proof["end"] - segment.start] for proof in proofs
    ).strip()
    around = _around(segment, proofs)
    if not quoted:
        outside = tuple(each.text for each in context_outside(segment))
        return CitedEntry(around, segment.title, segment.heading, outside)
    hangs_on = (each["text"] for proof in proofs for each in context_of_quote(segment, proof["start"], proof["end"]))
    context = dict.fromkeys((*hangs_on, around))
    above = " > ".join(heading_path(segment, proofs[0]["start"]))
    return CitedEntry(quoted, segment.title, above, tuple(each for each in context if each != quoted))


def _around(segment: Segment, proofs: Sequence[Proof]) -> str:
    if len(segment.text) <= ENTRY_CHARACTERS or not proofs:
        return segment.text[:ENTRY_CHARACTERS].strip()
    middle = (min(proof["start"] for proof in proofs) + max(proof["end"] for proof in proofs)) // 2 - segment.start
    start = max(0, min(middle - ENTRY_CHARACTERS // 2, len(segment.text) - ENTRY_CHARACTERS))
    return segment.text[start : start + ENTRY_CHARACTERS].strip()


def _span(segment: Segment, proofs: Sequence[Proof]) -> Proof:
    """Return what a judge's word proves where code proposed no sentence: the text of the whole entry."""
    if proofs:
        return proofs[0]
    text = segment.text[:ENTRY_CHARACTERS]
    start = segment.start + len(text) - len(text.lstrip())
    return Proof(segment_id=segment.segment_id, start=start, end=segment.start + len(text.rstrip()), origin="cited")


def judged_row(question: Question, judgement: Judgement, judge: str) -> ClaimRow:
    """Return a claim with a judge's verdict, or with the reason why it has none.

    Only an exam gives a judge its say, and on one that is nearly verbatim it may only say that it fails.
    """
    row = question.row
    if judgement.verdict == "supported" and row.get("twin"):
        return row
    if judgement.verdict is None or judgement.exam is None:
        before, added = row.get("why", []), why(judgement.reason)
        return ClaimRow(**{**row, "reasons": [*row["reasons"], *texts(added)], "why": [*before, *added]})
    said = why(judgement.reason)
    decided = ClaimRow(**{**row, "verdict": judgement.verdict, "reasons": texts(said), "why": said})
    decided["judge"] = JudgeMark(model=judge, exam=judgement.exam)
    if judgement.verdict != "unsupported" and not row["proofs"]:
        decided["proofs"] = list(question.spans)  # a judge does not say which of them it read
    return decided


Deliver = Callable[[int, Sequence[ClaimRow], Failure | None], None]


class JudgeQueue:
    """Sections that wait for the judge: one request at a time takes all that wait.

    So a section is judged as soon as it is written if the judge is free, and no answer costs more requests than it has
    sections. While more may come, the calls of a repair and one for the rest of the answer are left alone; at the end
    the judge may use them all. After a failure the judge is not asked again.
    """

    def __init__(self, judge: Judge, meter: Meter, deliver: Deliver) -> None:
        self._judge = judge
        self._meter = meter
        self._deliver = deliver
        self._waiting: list[tuple[int, list[Question]]] = []
        self._wake = asyncio.Event()
        self._ending = False
        self._task: asyncio.Task[None] | None = None
        self.failure: Failure | None = None

    def add(self, section_index: int, questions: list[Question]) -> None:
        """Have the open claims of a section judged; their rows are delivered together, later."""
        self._waiting.append((section_index, questions))
        self._wake.set()
        if self._task is None:
            self._task = asyncio.create_task(self._work())

    async def finish(self) -> None:
        """Wait until every section that was added has been delivered."""
        self._ending = True
        self._wake.set()
        if self._task is not None:
            await self._task

    async def cancel(self) -> None:
        """Stop without delivering what waits, as when the answer is not finished."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _work(self) -> None:
        while self._waiting or not self._ending:
            if self._waiting and (self._ending or self._may_call()):
                batch, self._waiting = self._waiting, []
                await self._judge_batch(batch)
            else:
                self._wake.clear()
                await self._wake.wait()

    def _may_call(self) -> bool:
        left = self._meter.calls_left
        return left is None or left - self._meter.calls > REPAIR_CALLS + 1

    async def _judge_batch(self, batch: Sequence[tuple[int, list[Question]]]) -> None:
        questions = [question for _, asked in batch for question in asked]
        judgements = await self._judgements([question.claim for question in questions])
        rows = iter([judged_row(*pair, self._judge.name) for pair in zip(questions, judgements, strict=True)])
        for section_index, asked in batch:
            self._deliver(section_index, [next(rows) for _ in asked], self.failure)

    async def _judgements(self, claims: Sequence[OpenClaim]) -> list[Judgement]:
        if self.failure is None:
            try:
                return await self._judge.judge(claims, meter=self._meter)
            except (BudgetExhausted, DependencyFailed) as error:
                self.failure = fallback_failure(error, NOT_JUDGED)
            except Exception:  # an installed judge may raise anything, and no run ends by it
                log.exception("The judge %s failed.", self._judge.name)
                self.failure = Failure(
                    code="judge_failed", message=f"The judge failed. {NOT_JUDGED}", why=why(NOT_JUDGED)
                )
        return [Judgement(None)] * len(claims)
