"""What a model judges: the relevance of segments, open claims, and the usefulness of an answer."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, Field

import prompts
from graph.errors import BudgetExhausted, DependencyFailed, ModelReplyInvalid, fallback_failure
from graph.evidence import Hit, Segment, Verdict
from graph.ports import CheckedClaim, CheckResult, ClaimChecker, Grading, RelevanceGrader, WrittenSection
from graph.usage import Meter
from tools.llm.model_endpoint import Endpoint
from tools.llm.prompting import cut_to_tokens, estimate_tokens, messages, place_line, sanitize
from tools.llm.reply_schemas import ASSESSMENT, adjudication_schema, first_json_object, grading_schema, read_form
from tools.rules.score_grading import ranked_once

GRADING_PROMPT = prompts.load("grade_segments", "question", "passages")
PASSAGE_TOKENS = 320
FEWEST_TOKENS = 24
BY_SEARCH_SCORE = "What the search found is kept by its score."

log = logging.getLogger(__name__)


class GradingReply(BaseModel):
    """The model's reply: the numbers of the relevant passages, from 1."""

    relevant: list[int]


@dataclass(frozen=True, slots=True)
class LlmGrader:
    """A RelevanceGrader that shows the model numbered candidates and asks for the numbers to keep.

    Selected pages are kept unasked.
    """

    endpoint: Endpoint
    by_score: RelevanceGrader

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Keep the candidates that the model finds relevant, ordered by search score.

        Candidates that the reply does not name are dropped; numbers that were not shown are ignored. Each candidate
        gets an equal share of the context; the worst ones are dropped unread if there is no room. If the reply can't be
        read or the budget is spent, ``by_score`` grades.
        """
        once = ranked_once(candidates)
        pages = tuple((hit.segment_id, hit.score) for hit in once if hit.kind == "page")
        ranked = once[len(pages) :]
        if not ranked:
            return Grading(pages)
        passages = self._passages(question, ranked)
        prompt = messages(GRADING_PROMPT, question=sanitize(question), passages="\n\n".join(passages))
        schema = grading_schema(len(passages))
        limit = 200 + 20 * len(passages)
        try:
            text = await self.endpoint.read(prompt, schema=schema, max_characters=limit, meter=meter)
            numbers = set(read_form(text, GradingReply).relevant)
        except (ModelReplyInvalid, BudgetExhausted) as error:
            log.warning("Model %s: %s Keeping by search score.", self.endpoint.name, error.message)
            failure = fallback_failure(error, BY_SEARCH_SCORE)
            by_score = await self.by_score.grade(question, candidates, meter=meter)
            return replace(by_score, fallback=failure)
        graded = _graded(ranked, numbers, shown=len(passages))
        return replace(graded, kept=pages + graded.kept)

    def _passages(self, question: str, ranked: Sequence[Hit]) -> list[str]:
        room = (
            self.endpoint.context_tokens * 3 // 4 - estimate_tokens(GRADING_PROMPT.text) - 2 * estimate_tokens(question)
        )
        share = max(FEWEST_TOKENS, min(PASSAGE_TOKENS, room // len(ranked)))
        passages: list[str] = []
        for number, hit in enumerate(ranked, start=1):
            heading = f"[{number}] {place_line(hit.segment)}\n"
            body = cut_to_tokens(sanitize(hit.segment.text).strip(), max(1, share - estimate_tokens(heading)))
            room -= estimate_tokens(heading + body)
            if room < 0 and passages:
                break
            passages.append(heading + body)
        return passages


def _graded(ranked: Sequence[Hit], numbers: set[int], *, shown: int) -> Grading:
    kept: list[tuple[str, float]] = []
    dropped: list[tuple[str, str]] = []
    for number, hit in enumerate(ranked, start=1):
        segment_id = hit.segment.segment_id
        if number in numbers:
            kept.append((segment_id, hit.score))
        elif number <= shown:
            dropped.append((segment_id, "The model found that it does not bear on the question."))
        else:
            dropped.append((segment_id, "No room was left in the model's context to judge it."))
    return Grading(tuple(kept), tuple(dropped))


ASSESSMENT_PROMPT = prompts.load("assess_quality", "question", "answer")
ASSESSMENT_CHARACTERS = 400
HIGHEST = 10


class AssessmentReply(BaseModel):
    """The model's reply: from 0 (useless) to 10 (complete)."""

    utility: Annotated[float, Field(ge=0, le=HIGHEST, strict=True)]


@dataclass(frozen=True, slots=True)
class LlmAssessor:
    """A QualityAssessor that asks the model for a score."""

    endpoint: Endpoint

    async def assess(self, question: str, answer: str, *, meter: Meter) -> float:
        """Score an answer in [0, 1]. A long answer is cut to fit the model's context.

        Raises ModelReplyInvalid if the reply can't be read.
        """
        safe_question = sanitize(question)
        prompt_tokens = estimate_tokens(ASSESSMENT_PROMPT.text) + estimate_tokens(safe_question)
        room = self.endpoint.context_tokens * 3 // 4 - prompt_tokens
        shown = cut_to_tokens(sanitize(answer), max(1, room))
        text = await self.endpoint.read(
            messages(ASSESSMENT_PROMPT, question=safe_question, answer=shown),
            schema=ASSESSMENT,
            max_characters=ASSESSMENT_CHARACTERS,
            meter=meter,
        )
        return read_form(text, AssessmentReply).utility / HIGHEST


ADJUDICATION_PROMPT = prompts.load("check_claims", "claims")
CLAIM_TOKENS = 200
QUOTE_TOKENS = 320
MOST_CLAIMS = 20  # per call; endpoints limit the size of a schema
JUDGED: Mapping[str, tuple[Verdict, str]] = {
    "same": ("supported", "a model judged that the cited sentences state it"),
    "other": ("contradicted", "a model judged that the cited sentences contradict it"),
    "open": ("unsupported", "a model judged that the cited sentences do not state it"),
}


ClaimPlace = tuple[int, int]  # index of the section, and of the claim in it


@dataclass(frozen=True, slots=True)
class LlmAdjudicator:
    """A ClaimChecker that checks by code first, and asks the model about claims that code left ``unverified``.

    The model never overrides code: it is asked neither about claims that code found contradicted or unsupported, nor
    about supported ones. It must restate claim and quote in a few words before its verdict: a small model that returns
    only verdicts returns the same one for all claims.
    """

    endpoint: Endpoint
    checker: ClaimChecker

    async def check(self, sections: Sequence[WrittenSection], *, meter: Meter) -> CheckResult:
        """Check by code, then adjudicate unverified claims with a proof, as many as fit into the model's context.

        If the model call fails or its reply can't be read, the verdicts of code are kept and ``fallback`` states why.
        """
        checked = await self.checker.check(sections, meter=meter)
        questions = self._questions(sections, checked)
        if not questions:
            return checked
        try:
            answers = await self._ask(list(questions.values()), meter)
        except (DependencyFailed, BudgetExhausted) as error:
            log.warning("Model %s: %s Keeping the verdicts of code.", self.endpoint.name, error.message)
            failure = fallback_failure(error, "The verdicts of code alone stand.")
            return replace(checked, fallback=failure)
        adjudicated = {place: answers[number] for number, place in enumerate(questions, start=1) if number in answers}
        return replace(
            checked,
            sections=tuple(
                tuple(_adjudicated(claim, adjudicated.get((s, c))) for c, claim in enumerate(claims))
                for s, claims in enumerate(checked.sections)
            ),
        )

    def _questions(self, sections: Sequence[WrittenSection], checked: CheckResult) -> dict[ClaimPlace, str]:
        """Format each open claim under its number, from 1, with the sentences that it cites."""
        room = self.endpoint.context_tokens * 3 // 4 - estimate_tokens(ADJUDICATION_PROMPT.text)
        questions: dict[ClaimPlace, str] = {}
        for s, (section, claims) in enumerate(zip(sections, checked.sections, strict=True)):
            for c, claim in enumerate(claims):
                quotes = _quotes(section, claim)
                if claim.verdict != "unverified" or not quotes:
                    continue
                question = f"[{len(questions) + 1}] Claim: {_line(claim.text, CLAIM_TOKENS)}\n{quotes}"
                room -= estimate_tokens(question)
                if room < 0 or len(questions) == MOST_CLAIMS:
                    return questions
                questions[s, c] = question
        return questions

    async def _ask(self, questions: Sequence[str], meter: Meter) -> dict[int, str]:
        text = await self.endpoint.read(
            messages(ADJUDICATION_PROMPT, claims="\n\n".join(questions)),
            schema=adjudication_schema(len(questions), list(JUDGED)),
            max_characters=400 + 600 * len(questions),
            meter=meter,
        )
        reply = first_json_object(text)
        words = {number: _word(reply.get(str(number))) for number in range(1, len(questions) + 1)}
        answers = {number: word for number, word in words.items() if word in JUDGED}
        if not answers:
            raise ModelReplyInvalid("The model's reply judges no claim.")
        return answers


def _word(entry: object) -> str:
    word = entry.get("verdict") if isinstance(entry, dict) else entry
    return word if isinstance(word, str) else ""


def _quotes(section: WrittenSection, claim: CheckedClaim) -> str:
    segments = {segment.segment_id: segment for segment in section.segments}
    return "\n".join(
        f"Quoted from {place_line(segment)}: {_line(_text(segment, proof['start'], proof['end']), QUOTE_TOKENS)}"
        for proof in claim.proofs
        if (segment := segments.get(proof["segment_id"]))
    )


def _text(segment: Segment, start: int, end: int) -> str:
    return segment.text[max(0, start - segment.start) : max(0, end - segment.start)]


def _line(text: str, tokens: int) -> str:
    return cut_to_tokens(sanitize(" ".join(text.split())), tokens)


def _adjudicated(claim: CheckedClaim, answer: str | None) -> CheckedClaim:
    if answer is None:
        return claim
    verdict, reason = JUDGED[answer]
    return replace(claim, verdict=verdict, reasons=(*claim.reasons, reason))
