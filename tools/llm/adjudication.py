"""Adjudication by the model of claims that code could not verify, all in one call."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import prompts
from graph.errors import BudgetExhausted, DependencyFailed, ModelReplyInvalid, fallback_failure
from graph.evidence import Segment, Verdict
from graph.ports import CheckedClaim, CheckResult, ClaimChecker, WrittenSection
from graph.usage import Meter
from tools.llm.model_endpoint import Endpoint
from tools.llm.prompting import cut_to_tokens, estimate_tokens, messages, place_line
from tools.llm.reply_schemas import adjudication_schema, first_json_object
from tools.llm.sanitizing import sanitize

ADJUDICATION_PROMPT = prompts.load("check_claims", "claims")
CLAIM_TOKENS = 200
QUOTE_TOKENS = 320
MOST_CLAIMS = 20  # per call; endpoints limit the size of a schema
JUDGED: Mapping[str, tuple[Verdict, str]] = {
    "same": ("supported", "a model judged that the cited sentences state it"),
    "other": ("contradicted", "a model judged that the cited sentences contradict it"),
    "open": ("unsupported", "a model judged that the cited sentences do not state it"),
}

log = logging.getLogger(__name__)

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
