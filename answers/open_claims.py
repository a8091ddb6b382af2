"""Ask a judge about the claims that code left open, while the answer is still being written."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from answers.citations import context_of_quote, context_outside, heading_path
from answers.entries import entries_of
from answers.marks import mark_of_row
from answers.nearness import Nearness
from graph.errors import BudgetExhausted, DependencyFailed, ModelReplyInvalid, fallback_failure
from graph.evidence import CodeFinding, Failure, JudgeMark, Proof, Section, Segment, Span
from graph.ports import CitedEntry, Judge, Judgement, OpenClaim
from graph.reasons import Reason, texts, why
from graph.rows import ClaimRow
from graph.usage import Meter
from text.answer_markdown import context_of
from text.language import language

log = logging.getLogger(__name__)

NOT_JUDGED = Reason("not_judged")
ENTRY_CHARACTERS = 2400  # of a segment that a judge reads around the cited sentences
BEFORE_CHARACTERS = 600
MOST_ENTRIES = 4
ADDED = 0.25  # share of a claim's words from which on a second segment is cited for them too
MOST_REQUESTS = 2  # to a judge at a time, by one answer
REPAIR_CALLS = 2  # model calls that a repair takes: the revision, and judging it

Shown = tuple[Segment, Sequence[Proof]]  # a segment as a judge reads it, with what was found in it near the claim


def is_open(row: ClaimRow) -> bool:
    """Whether a judge has yet to speak of a claim: of a copy too, which may be torn from what takes it back."""
    return "judge" not in row and row["verdict"] != "contradicted"


def says_supported(row: ClaimRow) -> bool:
    """Whether a claim is proven, or a judge without an exam says that its passages bear it."""
    return row["verdict"] == "supported" or row.get("judge", {}).get("says") == "supported"


def claim_language(claim: OpenClaim) -> str:
    """Return the language (ISO 639-1) in which a judge must have passed; where a word more decides, the question's."""
    asked = language(claim.question, default="") or language(f"{claim.question} {claim.claim}")
    return language(claim.claim, default=asked, near=asked)


@dataclass(frozen=True, slots=True)
class Question:
    """An open claim of a section as a judge gets it, with the segments of its entries, all of which are in ``near``.

    ``cited`` are the ids that the section cites. ``again`` makes the question to ask where the judge doubts the claim:
    by other segments, None where there are none.
    """

    row: ClaimRow
    claim: OpenClaim
    shown: tuple[Shown, ...]
    cited: Sequence[str]
    near: Nearness
    again: Callable[[], "Question | None"] | None = None

    def proofs(self) -> list[Proof]:
        """Return what a judge's support proves the claim by: a judge does not say which of its entries it read.

        What code found in the segments that the section cites, else what lies nearest to the claim of all that is
        shown.
        """
        found = self.row["proofs"]
        if found and all(proof["origin"] == "cited" for proof in found):
            return list(found)
        shown = {segment.segment_id: (segment, proofs) for segment, proofs in self.shown}
        borne = self.near.bearing(self.claim.claim, [segment for segment, _ in self.shown], ADDED)
        return [proof for each in borne for proof in shown[each.segment_id][1] or [self._whole(each)]]

    def _whole(self, segment: Segment) -> Proof:
        """Return the text of a segment as a judge reads it, with the entry in it that lies nearest to the claim."""
        text = segment.text[:ENTRY_CHARACTERS]
        proof = Proof(
            segment_id=segment.segment_id,
            start=segment.start + len(text) - len(text.lstrip()),
            end=segment.start + len(text.rstrip()),
            origin="cited" if segment.segment_id in self.cited else "matched",
        )
        entries = [each for each in entries_of(segment) if each.quotable and each.end <= proof["end"]]
        if entry := self.near.nearest_entry(self.claim.claim, entries):
            proof["highlight"] = Span(start=entry.start, end=entry.end)
        return proof


def question_of(
    row: ClaimRow, section: Section, segments: Sequence[Segment], question: str, near: Nearness
) -> Question | None:
    """Return an open claim with entries of these segments; None where there are none.

    The sentences that code found near the claim come first, then the other segments as a whole: what bears a claim out
    may share no word with it.
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
    return Question(row, claim, tuple(shown), section["source_ids"], near)


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
    above = " > ".join(heading_path(segment, proofs[0].get("highlight", proofs[0])["start"]))
    return CitedEntry(quoted, segment.title, above, tuple(each for each in context if each != quoted))


def _around(segment: Segment, proofs: Sequence[Proof]) -> str:
    if len(segment.text) <= ENTRY_CHARACTERS or not proofs:
        return segment.text[:ENTRY_CHARACTERS].strip()
    middle = (min(proof["start"] for proof in proofs) + max(proof["end"] for proof in proofs)) // 2 - segment.start
    start = max(0, min(middle - ENTRY_CHARACTERS // 2, len(segment.text) - ENTRY_CHARACTERS))
    return segment.text[start : start + ENTRY_CHARACTERS].strip()


def judged_row(question: Question, judgement: Judgement, judge: Judge) -> ClaimRow:
    """Return a claim with a judge's verdict, or with the reason why it has none.

    Without an exam, support proves nothing: a copy stays one, another claim stays unverified, and the judge is named
    with what it says.
    """
    row, verdict, said = settled(question.row), judgement.verdict, why(judgement.reason)
    if row["verdict"] == "supported" and verdict in ("supported", None) and judgement.exam is None:
        return row
    if verdict is None:
        return ClaimRow(**{**row, "reasons": [*row["reasons"], *texts(said)], "why": [*row.get("why", []), *said]})
    decided = ClaimRow(**{**row, "verdict": verdict, "reasons": texts(said), "why": said})
    decided["judge"] = JudgeMark(model=judge.name, exam=judgement.exam)
    if judgement.exam is None:
        decided["judge"] = JudgeMark(
            model=judge.name,
            exam=None,
            says=verdict,
            version=judge.version,
            language=claim_language(question.claim),
            probability=judgement.probability,
            code=CodeFinding(
                verdict=row["verdict"], doubted=mark_of_row(row) == "withheld", why=list(row.get("why", []))
            ),
        )
        if verdict == "supported":
            decided["verdict"] = "unverified"
    if verdict == "supported" or (verdict == "contradicted" and not row["proofs"]):
        decided["proofs"] = question.proofs()
    return decided


def settled(row: ClaimRow) -> ClaimRow:
    """Return a claim of which no judge has yet to speak."""
    kept = ClaimRow(**row)
    kept.pop("pending", None)
    return kept


Deliver = Callable[[int, Sequence[ClaimRow], Failure | None], None]


class JudgeQueue:
    """Sections that wait for the judge: a request takes all that wait, and two may be under way.

    So a section is judged as soon as it is written while the one before it still is, an answer ends a judge's call
    after its last section, and none costs more requests than it has sections. While more may come, the calls of a
    repair and one for the rest of the answer are left alone; at the end the judge may use them all. A reply that can't
    be read costs its own claims their verdicts; after any other failure the judge is not asked again. ``failure`` is
    the first.
    """

    def __init__(self, judge: Judge, meter: Meter, deliver: Deliver) -> None:
        self._judge = judge
        self._meter = meter
        self._deliver = deliver
        self._waiting: list[tuple[int, list[Question]]] = []
        self._wake = asyncio.Event()
        self._ending = False
        self._tasks: list[asyncio.Task[None]] = []
        self._asking = 0
        self._gone: Failure | None = None
        self.failure: Failure | None = None

    def add(self, section_index: int, questions: list[Question]) -> None:
        """Have the open claims of a section judged; their rows are delivered together, later."""
        self._waiting.append((section_index, questions))
        self._wake.set()
        if len(self._tasks) < MOST_REQUESTS:
            self._tasks.append(asyncio.create_task(self._work()))

    async def finish(self) -> None:
        """Wait until every section that was added has been delivered."""
        self._ending = True
        self._wake.set()
        await asyncio.gather(*self._tasks)

    async def cancel(self) -> None:
        """Stop without delivering what waits, as when the answer is not finished."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self) -> None:
        while self._waiting or not self._ending:
            if self._waiting and (self._ending or self._may_call(REPAIR_CALLS + 1 + self._asking)):
                batch, self._waiting = self._waiting, []
                self._asking += 1
                await self._judge_batch(batch)
                self._asking -= 1
            else:
                self._wake.clear()
                await self._wake.wait()

    def _may_call(self, kept: int) -> bool:
        """Whether a call leaves so many of the run's calls alone."""
        left = self._meter.calls_left
        return left is None or left - self._meter.calls > kept

    async def _judge_batch(self, batch: Sequence[tuple[int, list[Question]]]) -> None:
        questions = [question for _, asked in batch for question in asked]
        judgements, failure = await self._judgements([question.claim for question in questions])
        self.failure = self.failure or failure
        rows = await asyncio.to_thread(_judged_rows, questions, judgements, self._judge)
        unsaid = [at for at, judgement in enumerate(judgements) if judgement.verdict == "unsupported"]
        for at, row in await self._asked_again([(at, questions[at]) for at in unsaid]):
            rows[at] = row
        decided = iter(rows)
        for section_index, asked in batch:
            self._deliver(section_index, [next(decided) for _ in asked], failure)

    async def _asked_again(self, doubted: Sequence[tuple[int, Question]]) -> list[tuple[int, ClaimRow]]:
        """Ask once more of claims that nothing bears, by segments that they do not cite; return those that these bear.

        What contradicts a claim speaks of the same thing, so it is no wrong id, and the doubt stands.
        """
        if not any(question.again for _, question in doubted) or not self._may_call(REPAIR_CALLS):
            return []
        others = await asyncio.to_thread(_others, doubted)
        judgements, _ = await self._ask([question.claim for _, question in others])  # if it fails, the doubts stand
        rows = await asyncio.to_thread(_judged_rows, [each for _, each in others], judgements, self._judge)
        borne = zip(others, judgements, rows, strict=True)
        return [(at, row) for (at, _), judgement, row in borne if judgement.verdict == "supported"]

    async def _judgements(self, claims: Sequence[OpenClaim]) -> tuple[list[Judgement], Failure | None]:
        if self._gone is not None:
            return [Judgement(None)] * len(claims), self._gone
        judgements, failure = await self._ask(claims)
        if failure is not None and failure["code"] != ModelReplyInvalid.code:
            self._gone = failure
        return judgements, failure

    async def _ask(self, claims: Sequence[OpenClaim]) -> tuple[list[Judgement], Failure | None]:
        """Return the judge's word on claims, or none on any and why; without a claim nothing is asked."""
        try:
            return (await self._judge.judge(claims, meter=self._meter) if claims else []), None
        except (BudgetExhausted, DependencyFailed) as error:
            failure = fallback_failure(error, NOT_JUDGED)
        except Exception:  # an installed judge may raise anything, and no run ends by it
            log.exception("The judge %s failed.", self._judge.name)
            failure = Failure(code="judge_failed", message=f"The judge failed. {NOT_JUDGED}", why=why(NOT_JUDGED))
        return [Judgement(None)] * len(claims), failure


def _judged_rows(questions: Sequence[Question], judgements: Sequence[Judgement], judge: Judge) -> list[ClaimRow]:
    """Return the claims as judged; it may read the segments, so call it in a thread."""
    return [judged_row(*pair, judge) for pair in zip(questions, judgements, strict=True)]


def _others(doubted: Sequence[tuple[int, Question]]) -> list[tuple[int, Question]]:
    """Return the questions to ask of doubted claims again; it reads the segments, so call it in a thread."""
    made = [(at, question.again()) for at, question in doubted if question.again is not None]
    return [(at, question) for at, question in made if question is not None]
