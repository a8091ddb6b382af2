"""Verdicts of an answer: its sections during a check, how far its claims are supported, and which sections failed."""

import asyncio
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

import prompts
from answers.citations import build_claim
from answers.event_loop import yield_to_event_loop
from answers.marks import DOUBTED, mark_of_row
from answers.nearness import Nearness
from answers.open_claims import MOST_ENTRIES, JudgeQueue, Question, is_open, question_of
from answers.passage_markdown import shown_text
from answers.quoted_runs import extended, joined
from graph.events import AnyEvent, ClaimChecked, Correction, SectionChecked, SectionRevised
from graph.evidence import Assessment, Claim, Failure, Origin, Proof, Section, SectionClaim, Segment, Verdict
from graph.ports import CheckedClaim, ClaimChecker, Judge, WrittenSection
from graph.reasons import Reason, why
from graph.rows import ClaimRow, DisputeRow, RevisionRow, claim_row
from graph.state import State
from graph.usage import Meter
from text.normal_forms import flatten
from text.words import question_terms, terms_of, word_runs

AnyClaim = TypeVar("AnyClaim", ClaimRow, Claim, SectionClaim)

# An unverified claim may be true: half proven, if nothing speaks against it.
WEIGHTS: dict[Verdict, float] = {"supported": 1.0, "unverified": 0.5, "contradicted": 0.0, "unsupported": 0.0}
ASSESSED: tuple[Verdict, ...] = ("supported", "contradicted", "unsupported", "unverified")
NOTHING_CHECKED = Reason("nothing_checked")
WORST_FIRST: tuple[Verdict, ...] = ("contradicted", "unsupported", "unverified", "supported")


def worst_verdict(verdicts: Collection[Verdict], *, of_none: Verdict) -> Verdict:
    """Return the worst verdict, or ``of_none`` where there is none."""
    return next((verdict for verdict in WORST_FIRST if verdict in verdicts), of_none)


def assessed(claims: Sequence[AnyClaim], covered: float) -> Assessment:
    """Return the assessment of an answer whose claims stand so, and that covers so much of the question, in [0, 1].

    ``utility`` is the support score, halved where the answer covers nothing of the question.
    """
    counted = count_verdicts(claims)
    reason = Reason("assessed", *(counted[verdict] for verdict in ASSESSED), round(covered, 4))
    reason = reason if claims else NOTHING_CHECKED
    return Assessment(
        supported=counted["supported"] > 0 and not any(each["verdict"] in DOUBTED for each in claims),
        utility=round(support_score(claims) * (0.5 + 0.5 * covered), 4),
        claims=counted,
        reason=str(reason),
        why=why(reason),
        model_score=None,
    )


def support_score(claims: Sequence[AnyClaim]) -> float:
    """Return the mean weight of the verdicts, in [0, 1]; 0 without claims, and of one that code doubts and no judge."""
    weighed = [each for each in claims if "judge" in each or not _is_doubted(each)]
    return sum(WEIGHTS[each["verdict"]] for each in weighed) / len(claims) if claims else 0.0


def _is_doubted(claim: ClaimRow | Claim) -> bool:
    """Whether code doubts a claim; one that clients see, of which no judge has spoken, then has no mark."""
    is_seen = "text" in claim
    return claim.get("mark") == "withheld" if is_seen else bool(claim.get("doubted"))


def count_verdicts(claims: Iterable[AnyClaim]) -> dict[Verdict, int]:
    """Count the claims of each verdict, with an entry for all four verdicts."""
    counted: dict[Verdict, int] = dict.fromkeys(WEIGHTS, 0)
    for row in claims:
        counted[row["verdict"]] += 1
    return counted


def has_failed(claim: ClaimRow | Claim) -> bool:
    """Whether a claim needs repair or withdrawal: not one that is unverified, or doubted by a judge without an exam."""
    return claim["verdict"] in DOUBTED and ("judge" not in claim or claim["judge"]["exam"] is not None)


def failed_sections(claims: Iterable[ClaimRow]) -> list[int]:
    """Return the indices of the sections with a failed claim, in order."""
    return sorted({row["section_index"] for row in claims if has_failed(row)})


def without_section(claims: Sequence[ClaimRow], section_index: int) -> list[ClaimRow]:
    """Return the claims of all sections but one."""
    return [row for row in claims if row["section_index"] != section_index]


def raises_support(claims: Sequence[ClaimRow], section_index: int, revised: Sequence[ClaimRow]) -> bool:
    """Whether a revised section should replace the old one.

    It should if fewer of its claims fail, no fewer are supported, its own support rises and the whole answer's support
    does not fall.
    """
    old = [row for row in claims if row["section_index"] == section_index]
    before, after = count_verdicts(old), count_verdicts(revised)
    rest = without_section(claims, section_index)
    return (
        sum(map(has_failed, revised)) < sum(map(has_failed, old))
        and after["supported"] >= before["supported"]
        and support_score(revised) > support_score(old)
        and support_score([*rest, *revised]) >= support_score(claims)
    )


def question_coverage(question: str, texts: Sequence[str]) -> float:
    """Return the share of a question's content words that the texts together contain, in [0, 1].

    Words are compared by stems, scripts without spaces by pairs of characters; 1 where the question has no content
    word.
    """
    wanted = set(question_terms(question).terms)
    found = frozenset[str]().union(*map(_terms_in, texts))
    return len(wanted & found) / len(wanted) if wanted else 1.0


@lru_cache(maxsize=64)  # some 12 KB each; segments that are cited once are cited again
def _terms_in(text: str) -> frozenset[str]:
    return frozenset(terms_of(flatten(text)))


# A sentence may have ended where one of these signs is followed by anything, or a line ends.
_ENDINGS = re.compile(r"[.!?…:;](?=[\s\"'”’)\]*_])|[。！？；\n]")
_UNDECIDED = 40  # characters after an ending within which what follows may decide whether it is one


def section_digest(section: Section) -> str:
    """Return a digest of what a section's check depends on, to recognise one that was edited since."""
    content = "\0".join([section["text"], *section["source_ids"]])
    return hashlib.blake2b(content.encode(errors="surrogatepass"), digest_size=8).hexdigest()


class CheckedAnswer:
    """The sections and claims of a run, checked by code and then by the judge.

    ``around`` has the segments by id, joined with their neighbours: a passage may go beyond its own. A section is
    checked sentence by sentence while it is written, if its sources are known by then; one that cites none is looked
    for in all of them. A revision replaces a section only if its check raises support. What quotes a passage that
    another source contradicts is told later, once it is known how the disagreement is said.
    """

    def __init__(
        self,
        state: State,
        segments: Sequence[Segment],
        emit: Callable[[AnyEvent], None],
        *,
        around: Mapping[str, Segment],
        checker: ClaimChecker,
        judge: Judge | None,
        meter: Meter,
    ) -> None:
        self._emit = emit
        self._checker = checker
        self._question = state.standalone_question
        self._language = state.language
        self._queue = JudgeQueue(judge, meter, self._judged) if judge is not None else None
        self._near = Nearness(segments)
        self._early: list[CheckedClaim] = []  # of the section that is being written
        self._last: CheckedClaim | None = None  # the last of them, with the quote of its run so far
        self._endings = 0
        self._waits = False  # the section that is being written quotes what another source contradicts
        self.indices = {row["segment_id"]: row["index"] for row in state.sources}
        self.segments = {segment.segment_id: segment for segment in segments}
        self.around = around
        self.sections = [Section(**section) for section in state.sections]
        self.claims = list(state.claims)
        self.disputes = list(state.disputes)
        self.checked = list(state.checked)
        self.failure: Failure | None = None

    async def check_open(self, text: str, source_ids: Sequence[str], *, ahead: str = "") -> None:
        """Check the sentences that have ended in the section that is being written, and emit their claims.

        ``ahead`` is what follows the text: it tells that a sentence has ended, and is no part of any that is checked.
        """
        start = self._early[-1].end if self._early else 0
        known = text + ahead
        endings = [ending.end() for ending in _ENDINGS.finditer(known, start)]
        if not endings or (len(endings) <= self._endings and len(known) - endings[-1] > _UNDECIDED):
            return
        self._endings = len(endings)
        await yield_to_event_loop()  # the text is on its way to the reader before it is checked
        section = Section(text=known, source_ids=list(source_ids))
        for each in await self._check(section, start=start, is_open=True):
            if each.end <= len(text):
                self._early.append(each)
                self._last = extended(self._last, each, self.segments)
                self._waits = self._waits or self._is_disputed(each)
                if self._waits:
                    continue
                row = self._row(len(self.sections), self._last)
                if self._queue is not None and is_open(row):
                    row["pending"] = True
                claim = build_claim(row, section, self.around, self.indices)
                self._emit(ClaimChecked(section_index=len(self.sections), claim=claim))
                self._endings = sum(ending > each.end for ending in endings)

    async def close_section(self, section: Section) -> None:
        """Add a finished section and check the rest of it."""
        early, self._early, self._last, self._endings, self._waits = self._early, [], None, 0, False
        self.sections.append(section)
        if "notice" in section:
            self._take(len(self.sections) - 1, ())
        elif section.get("grounded", True):
            start = early[-1].end if early else 0
            self._take(len(self.sections) - 1, [*early, *await self._check(section, start=start)])

    async def check_rest(self) -> None:
        """Check the sections that are unchecked or were edited."""
        for index, section in enumerate(self.sections):
            if section.get("grounded", True) and self._digest_of(index) != section_digest(section):
                self._take(index, await self._check(section))

    async def settle(self) -> None:
        """Wait for the judge."""
        if self._queue is not None:
            await self._queue.finish()
            self.failure = self.failure or self._queue.failure

    async def cancel(self) -> None:
        """Stop asking the judge, as when the run is cancelled."""
        if self._queue is not None:
            await self._queue.cancel()

    async def apply_revisions(self, revisions: Sequence[RevisionRow]) -> None:
        """Check the revised sections and accept those that raise support; the others stay unchanged.

        Sections whose revision is empty are withdrawn with the failed ones, once no repair is left.
        """
        before = {index: self.claims_of(index) for index in range(len(self.sections))}
        old, disputes = list(self.sections), list(self.disputes)
        for row in revisions:
            if row["text"]:
                index = row["section_index"]
                self.sections[index] = Section(text=row["text"], source_ids=row["source_ids"])
                self._replace_claims(index, await self._check(self.sections[index]))
                self._enqueue(index)
        await self.settle()
        for index in sorted({row["section_index"] for row in revisions if row["text"]}):
            self._cite_bearing(index)
            revised, self.claims = self.claims_of(index), self._with_rows(index, before[index])
            section, self.sections[index] = self.sections[index], old[index]
            if raises_support(self.claims, index, revised):
                self._revise(index, section, revised)
            else:
                self.disputes = [row for row in self.disputes if row["section_index"] != index]
                self.disputes += [row for row in disputes if row["section_index"] == index]

    def withdraw_failed(self) -> int:
        """Withdraw the claims that failed, and the sections that have no other claim; return how many claims."""
        failed = sum(map(has_failed, self.claims))
        for index in failed_sections(self.claims):
            section, rows = self.sections[index], self.claims_of(index)
            if all(map(has_failed, rows)):
                self._revise(index, Section(text="", source_ids=[]), [])
            else:
                self._revise(index, *without_failed(section, rows))
        return failed

    def disputed_claims(self, index: int) -> list[ClaimRow]:
        """Return the claims of a section that quote what another source contradicts, and were not told yet."""
        untold = {row["untold"] for row in self.disputes if row["section_index"] == index and "untold" in row}
        return [row for row in self.claims_of(index) if row["start"] in untold] if untold else []

    def is_quoted(self, row: ClaimRow, quoted: Iterable[str]) -> bool:
        """Whether a claim says nothing but what stands in one of some quotes."""
        said = _words(self.sections[row["section_index"]]["text"][row["start"] : row["end"]])
        return any(said in _words(quote) for quote in quoted)

    async def move_claims(self, index: int, moved: Sequence[ClaimRow]) -> None:
        """Take claims out of a section that another one is to tell, and check the rest; with none, tell it as it is."""
        section, rows = self.sections[index], self.claims_of(index)
        starts = {row["start"] for row in moved}
        rest, kept = _without(section, rows, lambda row: row["start"] in starts)
        if not starts:
            self._emit(SectionChecked(section_index=index, claims=self.cited_claims(index)))
        elif not kept:
            self._revise(index, Section(text="", source_ids=[]), [], moved=True)
        else:
            if not any("judge" in row for row in kept):  # their quotes may have been longer
                checked = [self._row(index, each) for each in joined(await self._check(rest), self.segments)]
                kept = kept if any(map(has_failed, checked)) else checked
            self._revise(index, rest, kept, moved=True)

    def add(self, section: Section, proofs: Sequence[Proof], verdict: Verdict, reason: str) -> int:
        """Add a section that is a single claim, and return its index."""
        index = len(self.sections)
        self.sections.append(section)
        self.claims.append(claim_row(index, 0, len(section["text"]), verdict, [reason], proofs))
        self._remember(index)
        return index

    def claims_of(self, section_index: int) -> list[ClaimRow]:
        """Return the claims of a section."""
        return [row for row in self.claims if row["section_index"] == section_index]

    def cited_claims(self, section_index: int) -> list[Claim]:
        """Return the claims of a section with their citations, as clients see them."""
        return [
            build_claim(row, self.sections[section_index], self.around, self.indices)
            for row in self.claims_of(section_index)
        ]

    async def _check(self, section: Section, *, start: int = 0, is_open: bool = False) -> Sequence[CheckedClaim]:
        if shown := self._shown_passage(section):
            return (await self._quoted(section, *shown),)
        origin: Origin = "cited" if section["source_ids"] else "matched"
        if origin == "matched" and self._queue is not None:
            await asyncio.to_thread(self._near.read)
        cited = section["source_ids"] or list(self.segments)
        written = WrittenSection(
            section["text"],
            tuple(self.segments[each] for each in cited if each in self.segments),
            tuple(segment for each, segment in self.segments.items() if each not in set(cited)),
            origin=origin,
            question=self._question,
            start=start,
            open=is_open,
        )
        return await self._checker.check(written)

    def _shown_passage(self, section: Section) -> tuple[Proof, Segment] | None:
        """Return the passage that a section shows and its segment; None where its text is no copy of that."""
        proof = section.get("passage")
        segment = self.around.get(proof["segment_id"]) if proof is not None else None
        if proof is None or segment is None:
            return None
        return (proof, segment) if shown_text(segment, proof) == section["text"] else None

    async def _quoted(self, section: Section, proof: Proof, segment: Segment) -> CheckedClaim:
        """Return a passage as one claim, which is a copy, with what other sources say against its highlight."""
        span = proof.get("highlight", proof)
        written = WrittenSection(
            segment.text[span["start"] - segment.start : span["end"] - segment.start],
            (segment,),
            tuple(other for other in self.segments.values() if other.document_id != segment.document_id),
            question=self._question,
        )
        checked = await self._checker.check(written)
        return CheckedClaim(
            start=0,
            end=len(section["text"]),
            text=section["text"],
            verdict="supported",
            proofs=(proof,),
            disputes=tuple(dispute for each in checked for dispute in each.disputes),
        )

    def _take(self, index: int, claims: Sequence[CheckedClaim]) -> None:
        """Keep the claims of a finished section, emit them, and pass the open ones to the judge."""
        self._replace_claims(index, claims)
        judging = self._enqueue(index)
        self._cite_bearing(index)
        self._remember(index)
        if not self._is_held(index):
            self._emit(SectionChecked(section_index=index, claims=self.cited_claims(index), judging=judging))

    def _enqueue(self, index: int) -> bool:
        """Have the open claims of a section judged; return whether there are any."""
        if self._queue is None:
            return False
        questions = [question for row in self.claims_of(index) if (question := self._ask(index, row))]
        if not questions:
            return False
        for question in questions:
            question.row["pending"] = True
        self._queue.add(index, questions)
        return True

    def _ask(self, index: int, row: ClaimRow) -> Question | None:
        """Return an open claim with what its section cites, or what lies nearest to it, and what else there is."""
        section = self.sections[index]
        if not is_open(row) or "passage" in section:
            return None
        text = section["text"][row["start"] : row["end"]]
        cited = section["source_ids"] or self._nearest(text, self.segments)
        proven = [proof["segment_id"] for proof in row["proofs"]]
        shown = [each for each in dict.fromkeys((*proven, *cited)) if each in self.segments][:MOST_ENTRIES]

        def question_by(row: ClaimRow, ids: Iterable[str]) -> Question | None:
            return question_of(row, section, [self.segments[each] for each in ids], self._question, self._near)

        def again() -> Question | None:
            others = [each for each in self.segments if each not in shown]
            return question_by(ClaimRow(**{**row, "verdict": "unverified", "proofs": []}), self._nearest(text, others))

        question = question_by(row, shown)
        is_copy = row["verdict"] == "supported"  # it stands where it stands, so a doubt of it is no wrong id
        return question if question is None or is_copy else replace(question, again=again)

    def _nearest(self, claim: str, ids: Iterable[str]) -> list[str]:
        """Return the few segments of some that lie nearest to a claim."""
        near = self._near.nearest(claim, [self.segments[each] for each in ids])
        return [each.segment_id for each in near[:MOST_ENTRIES]]

    def _cite_bearing(self, index: int) -> None:
        """Have a section cite what bears its claims: a segment that its writer did not name too, by copy or by judge.

        What the writer named instead, and nothing in the section rests on, is no longer cited.
        """
        section, rows = self.sections[index], self.claims_of(index)
        named = section["source_ids"]
        borne = [proof["segment_id"] for row in rows if mark_of_row(row) == "shown" for proof in row["proofs"]]
        found = [each for each in dict.fromkeys(borne) if each not in named]
        if found and not any(row.get("pending") for row in rows):
            named = [each for each in named if each in borne]
        section["source_ids"] = [*named, *found]

    def _judged(self, index: int, rows: Sequence[ClaimRow], failure: Failure | None) -> None:
        """Replace claims by what the judge decided on them, and emit the section again."""
        decided = {row["start"]: row for row in rows}
        self.claims = [decided.get(row["start"], row) if row["section_index"] == index else row for row in self.claims]
        known = self._digest_of(index) == section_digest(self.sections[index])
        self._cite_bearing(index)
        if known:
            self._remember(index)
        if known and not self._is_held(index):
            self._emit(SectionChecked(section_index=index, claims=self.cited_claims(index), fallback=failure))

    def _is_held(self, index: int) -> bool:
        """Whether a section waits for what is said of a disagreement; one with a failed claim is told as it is."""
        if any(map(has_failed, self.claims_of(index))):
            self._clear_untold(index)
        return bool(self.disputed_claims(index))

    def _clear_untold(self, index: int) -> None:
        self.disputes = [_without_untold(row) if row["section_index"] == index else row for row in self.disputes]

    def _is_disputed(self, claim: CheckedClaim) -> bool:
        """Whether a claim does nothing but quote a passage which another source contradicts."""
        if claim.verdict != "supported" or not claim.disputes or not claim.proofs or "highlight" in claim.proofs[0]:
            return False
        proof = claim.proofs[0]
        segment = self.segments[proof["segment_id"]]
        return _words(claim.text) in _words(segment.text[proof["start"] - segment.start : proof["end"] - segment.start])

    def _revise(self, index: int, section: Section, claims: Sequence[ClaimRow], *, moved: bool = False) -> None:
        shown = [claim for claim in self.cited_claims(index) if has_failed(claim)]
        before = self.sections[index]["text"]
        self.sections[index] = section
        self.claims = self._with_rows(index, claims)
        if not claims:
            self.disputes = [row for row in self.disputes if row["section_index"] != index]
        self._clear_untold(index)
        self._remember(index)
        revised = self.cited_claims(index)
        self._emit(
            SectionRevised(
                section_index=index,
                text=section["text"],
                source_ids=section["source_ids"],
                claims=revised,
                moved=moved,
            )
        )
        if shown:
            text = correction(shown, before, revised, self._language)
            self._emit(Correction(section_index=index, claims=shown, text=text))

    def _digest_of(self, index: int) -> str:
        return self.checked[index] if index < len(self.checked) else ""

    def _remember(self, index: int) -> None:
        self.checked += [""] * (index + 1 - len(self.checked))
        self.checked[index] = section_digest(self.sections[index])

    def _replace_claims(self, index: int, claims: Sequence[CheckedClaim]) -> None:
        """Replace the claims and disputes of a section; claims that repeat one passage share its quote."""
        self.claims = self._with_rows(index, [self._row(index, each) for each in joined(claims, self.segments)])
        self.disputes = [row for row in self.disputes if row["section_index"] != index]
        for claim in claims:
            untold = self._is_disputed(claim)
            for each in claim.disputes if claim.proofs else ():
                row = DisputeRow(
                    section_index=index,
                    own=_bearing(claim.proofs[0]),
                    other=each.other,
                    reason=str(each.reason),
                    values=list(each.values),
                )
                self.disputes.append(DisputeRow(**row, untold=claim.start) if untold else row)

    def _with_rows(self, index: int, rows: Sequence[ClaimRow]) -> list[ClaimRow]:
        """Return all claims with those of a section replaced, ordered by section and start."""
        rest = without_section(self.claims, index)
        return sorted([*rest, *rows], key=lambda row: (row["section_index"], row["start"]))

    def _row(self, index: int, claim: CheckedClaim) -> ClaimRow:
        return claim_row(
            index, claim.start, claim.end, claim.verdict, claim.reasons, claim.proofs, doubted=claim.doubted
        )


_MARKS = re.compile(r"([“„«「]\s?)\{claims\}(\s?[”“»」])")  # the quotation marks of a language
_EMPTY_LINE = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*$\n?")


def without_failed(section: Section, rows: Sequence[ClaimRow]) -> tuple[Section, list[ClaimRow]]:
    """Cut the failed claims out of a section; return it with the other claims at their new places.

    A list item that held nothing else goes with its claim. Segments that only failed claims cite are no longer cited.
    """
    return _without(section, rows, has_failed)


def _without(
    section: Section, rows: Sequence[ClaimRow], is_cut: Callable[[ClaimRow], bool]
) -> tuple[Section, list[ClaimRow]]:
    text, cut = section["text"], 0
    kept: list[ClaimRow] = []
    for row in rows:
        start, end = row["start"] - cut, row["end"] - cut
        if not is_cut(row):
            kept.append(ClaimRow(**{**row, "start": start, "end": end}))
            continue
        start, end = _removed_span(text, start, end)
        text = text[:start] + text[end:]
        cut += end - start
    gap = len(text) - len(text.lstrip())
    kept = [ClaimRow(**{**row, "start": row["start"] - gap, "end": row["end"] - gap}) for row in kept]
    proven = {proof["segment_id"] for row in kept for proof in row["proofs"]}
    ids = [each for each in section["source_ids"] if each in proven] or list(section["source_ids"])
    return Section(text=text.strip(), source_ids=ids), kept


def _bearing(proof: Proof) -> Proof:
    """Return the entry of a proof that bears its claim: of a passage its highlight, which the others contradict."""
    span = proof.get("highlight", proof)
    return Proof(segment_id=proof["segment_id"], start=span["start"], end=span["end"], origin="cited")


def _without_untold(row: DisputeRow) -> DisputeRow:
    kept = DisputeRow(**row)
    kept.pop("untold", None)
    return kept


def _words(text: str) -> str:
    """Return the words of a text as they are compared, however it is marked up; padded, so that each is a whole one."""
    return f" {' '.join(word_runs(flatten(text)))} "


def _removed_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a claim's span to what makes no sense without it: the space around it, or its whole line or list item."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end + 1
    rest = text[line_start:start] + text[end:line_end]
    if _EMPTY_LINE.fullmatch(rest) or not rest.strip(" \t\n|"):
        return line_start, line_end
    while start > line_start and text[start - 1] in " \t":
        start -= 1
    return start, end


def correction(failed: Sequence[Claim], before: str, claims: Sequence[Claim], language: str) -> str:
    """Return what a reader who has seen failed claims must be told: that they don't hold, and what does instead.

    ``before`` is the text of the section as it was shown, ``claims`` are those it has now; only supported ones
    are put in the place of what failed.
    """
    lines = prompts.lines(language)
    marks = _MARKS.search(lines.withdrawn)
    between = f"{marks[2]}, {marks[1]}" if marks else ", "
    quoted = between.join(" ".join(claim["text"].split()) for claim in failed)
    new = [claim["text"] for claim in claims if claim["verdict"] == "supported" and claim["text"] not in before]
    return lines.corrected.format(claims=quoted, text=" ".join(new)) if new else lines.withdrawn.format(claims=quoted)
