"""The checks of a run for claims at hand: code first, then a judge for what code leaves open."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from answers.checking import worst_verdict
from answers.claim_evidence import Evidence
from answers.nearness import Nearness
from answers.open_claims import JudgeQueue, Question, is_open, question_of, says_supported
from graph.evidence import Failure, Proof, Section, Segment, Spent
from graph.ports import CheckedClaim, ClaimChecker, Judge, WrittenSection
from graph.reasons import Reason, texts
from graph.rows import ClaimRow, claim_row
from graph.usage import Meter

MOST_JUDGED = 3  # segments of which a judge reads a part for one claim
BETWEEN = "\n\n"
NOTHING_FOUND = Reason("nothing_found")
NO_CLAIM = Reason("states_nothing")
DIFFERENCES = frozenset({"differs", "number_not_found"})  # reasons that stand beside a judge's word


@dataclass(slots=True)
class ClaimToVerify:
    """A claim at its place in a text, what it is checked against, and its verdict; the same for what it cites.

    ``cited`` is None for a claim that cites nothing, empty where nothing of what it cites could be read.
    """

    section: Section
    start: int
    end: int
    segments: tuple[Segment, ...] = ()
    question: str = ""
    row: ClaimRow | None = None
    cited: tuple[Segment, ...] | None = None
    cited_row: ClaimRow | None = None

    @property
    def text(self) -> str:
        return self.section["text"][self.start : self.end]

    @property
    def checked(self) -> ClaimRow:
        """The verdict by all there is, once code has decided."""
        assert self.row is not None, "code decides first"
        return self.row

    @property
    def final(self) -> ClaimRow:
        """The verdict to show: by what the claim cites if that bears it, or if nobody can decide by all there is."""
        cited = self.cited_row
        if cited is None or not (says_supported(cited) or _is_undecided(self.checked)):
            return self.checked
        return self.checked if _is_undecided(cited) else cited

    @property
    def has_more(self) -> bool:
        """Whether there is more to look at than what the claim cites."""
        return len(self.segments) > len(self.cited or ())


Asked = tuple[ClaimToVerify, ClaimRow, tuple[Segment, ...]]


@dataclass(slots=True)
class Verifier:
    """Decides on claims. ``failure`` is why the judge could not be asked, ``spent`` what each step took."""

    checker: ClaimChecker
    judge: Judge | None
    meter: Meter
    failure: Failure | None = None
    spent: dict[str, Spent] = field(default_factory=dict)

    async def check_text(self, text: str, segments: Sequence[Segment], question: str) -> list[CheckedClaim]:
        """Split a text into claims, and decide on them by code."""
        began = time.perf_counter()
        written = WrittenSection(text, tuple(segments), question=question)
        checked = await self.checker.check(written)
        self.spend("check_claims", began)
        return list(checked)

    async def check(self, claims: Sequence[ClaimToVerify]) -> None:
        """Decide by code on each claim against its segments, and against what it cites."""
        undecided = [claim for claim in claims if claim.row is None]
        rows = await self._rows([(claim, claim.segments) for claim in undecided])
        for claim, row in zip(undecided, rows, strict=True):
            claim.row = row
        citing = [claim for claim in claims if claim.cited]
        rows = await self._rows([(claim, claim.cited or ()) for claim in citing])
        for claim, row in zip(citing, rows, strict=True):
            claim.cited_row = row

    async def ask_judge(self, claims: Sequence[ClaimToVerify], evidence: Evidence) -> None:
        """Have a judge decide on what code left open: first by what a claim cites, then by all there is."""
        if self.judge is None:
            return
        began, calls, tokens = time.perf_counter(), self.meter.calls, self.meter.tokens
        asked: list[Asked] = [
            (claim, claim.checked, claim.segments) if row is None else (claim, row, claim.cited or ())
            for claim in claims
            if is_open((row := claim.cited_row) or claim.checked)
        ]
        for (claim, _, _), decided in zip(asked, await self._judged(self.judge, asked, evidence), strict=True):
            if claim.cited_row is not None:
                claim.cited_row = decided
            if claim.cited_row is None or not claim.has_more:
                claim.row = decided
        left = [
            (claim, claim.checked, claim.segments)
            for claim in claims
            if claim.cited_row and not says_supported(claim.cited_row) and claim.has_more and is_open(claim.checked)
        ]
        for (claim, _, _), decided in zip(left, await self._judged(self.judge, left, evidence), strict=True):
            claim.row = decided
        self.spend("judge_claims", began, calls=self.meter.calls - calls, tokens=self.meter.tokens - tokens)

    def spend(self, step: str, began: float, *, calls: int = 0, tokens: int = 0) -> None:
        """Add what a step took since ``began``, on the clock of ``time.perf_counter``."""
        before = self.spent.get(step, Spent(calls=0, tokens=0, ms=0.0))
        ms = round(before["ms"] + (time.perf_counter() - began) * 1000, 3)
        self.spent[step] = Spent(calls=before["calls"] + calls, tokens=before["tokens"] + tokens, ms=ms)

    async def _rows(self, asked: Sequence[tuple[ClaimToVerify, tuple[Segment, ...]]]) -> list[ClaimRow]:
        """Check claims by code; those with the same segments together, since reading the segments takes longest."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for at, (claim, segments) in enumerate(asked):
            groups.setdefault((claim.question, *(each.segment_id for each in segments)), []).append(at)
        rows: dict[int, ClaimRow] = {}
        for places in groups.values():
            claims, segments = [asked[at][0] for at in places], asked[places[0]][1]
            found = await self._check_together(claims, segments) if segments else [[] for _ in claims]
            for at, claim, checked in zip(places, claims, found, strict=True):
                rows[at] = merged_row(claim, checked, has_evidence=bool(segments))
        return [rows[at] for at in range(len(asked))]

    async def _check_together(
        self, claims: Sequence[ClaimToVerify], segments: tuple[Segment, ...]
    ) -> list[list[CheckedClaim]]:
        """Check claims as paragraphs of one text; one that is not a claim of its own there is checked alone."""
        texts, question = [claim.text for claim in claims], claims[0].question
        found = await self.check_text(BETWEEN.join(texts), segments, question)
        starts = accumulate((len(text) + len(BETWEEN) for text in texts), initial=0)
        checked: list[list[CheckedClaim]] = []
        for start, text in zip(starts, texts, strict=False):
            end = start + len(text)
            own = [each for each in found if each.start < end and each.end > start]
            apart = own and all(start <= each.start and each.end <= end for each in own)
            if not apart and len(texts) > 1:
                own = await self.check_text(text, segments, question)
            checked.append(own)
        return checked

    async def _judged(self, judge: Judge, asked: Sequence[Asked], evidence: Evidence) -> list[ClaimRow]:
        rows = [row for _, row, _ in asked]
        if self.failure is not None:
            return rows

        def deliver(at: int, decided: Sequence[ClaimRow], failure: Failure | None) -> None:
            rows[at] = _told(rows[at], decided[0])

        queue = JudgeQueue(judge, self.meter, deliver)
        try:
            for at, (claim, row, segments) in enumerate(asked):
                if question := _question(claim, row, segments, evidence):
                    queue.add(at, [question])
            await queue.finish()
        finally:
            await queue.cancel()
        self.failure = queue.failure
        return rows


def _told(row: ClaimRow, judged: ClaimRow) -> ClaimRow:
    """Return a judged claim with what code said of its difference from its source before what the judge said."""
    before = [each for each in row.get("why", []) if each["code"] in DIFFERENCES and each not in judged.get("why", [])]
    if not before:
        return judged
    return ClaimRow(
        **{**judged, "reasons": [*texts(before), *judged["reasons"]], "why": [*before, *judged.get("why", [])]}
    )


def _is_undecided(row: ClaimRow) -> bool:
    return row["verdict"] == "unverified" and "judge" not in row


def merged_row(claim: ClaimToVerify, checked: Sequence[CheckedClaim], *, has_evidence: bool = True) -> ClaimRow:
    """Return the row of a claim that code may have split into several sentences: the worst verdict counts."""
    verdict = worst_verdict({each.verdict for each in checked}, of_none="unverified")
    reasons = [reason for each in checked if each.verdict == verdict for reason in each.reasons]
    proofs: list[Proof] = []
    for each in checked:
        proofs += [proof for proof in each.proofs if proof not in proofs]
    if not checked:
        reasons = [NO_CLAIM if has_evidence else NOTHING_FOUND]
    doubted = not has_evidence or any(each.doubted for each in checked)
    return claim_row(0, claim.start, claim.end, verdict, reasons, proofs, doubted=doubted)


def _question(claim: ClaimToVerify, row: ClaimRow, segments: Sequence[Segment], evidence: Evidence) -> Question | None:
    """Return an open claim for a judge, with what code found nearest first and a few other segments behind it."""
    proven = dict.fromkeys(proof["segment_id"] for proof in row["proofs"])
    by_id = {each.segment_id: each for each in segments}
    first = [by_id[each] for each in proven]
    rest = [each for each in evidence.nearest(claim.text, segments) if each.segment_id not in proven]
    shown = [*first, *rest[: max(0, MOST_JUDGED - len(first))]]
    return question_of(row, claim.section, shown, claim.question, Nearness(shown))
