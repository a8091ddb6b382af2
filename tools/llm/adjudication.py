"""Adjudicate by the model the claims that code left open, in one call for all of them."""

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
MOST_CLAIMS = 20  # of one call; endpoints bound the size of a schema
JUDGED: Mapping[str, tuple[Verdict, str]] = {
    "same": ("supported", "a model judged that the cited sentences state it"),
    "other": ("contradicted", "a model judged that the cited sentences contradict it"),
    "open": ("unsupported", "a model judged that the cited sentences do not state it"),
}

log = logging.getLogger(__name__)

ClaimPlace = tuple[int, int]  # of a section, and of a claim in it


@dataclass(frozen=True, slots=True)
class LlmAdjudicator:
    """ClaimChecker that lets code decide first, and asks the model about claims that code left ``unverified``.

    What code decided stands: the model neither raises a claim that code found contradicted or unsupported, nor is it
    asked about one that code found supported. It says in a few words what claim and quote each state before it judges:
    a small model that gives the verdict alone gives all claims the same.
    """

    endpoint: Endpoint
    checker: ClaimChecker

    async def check(self, sections: Sequence[WrittenSection], *, meter: Meter) -> CheckResult:
        """Check by code, then settle what is open and has a proof, as many claims as the model's context holds.

        Where the model can't be asked, or its reply can't be read, code's verdicts stand and ``fallback`` says why.
        """
        checked = await self.checker.check(sections, meter=meter)
        asked = self._questions(sections, checked)
        if not asked:
            return checked
        try:
            answers = await self._ask(list(asked.values()), meter)
        except (DependencyFailed, BudgetExhausted) as error:
            log.warning("Model %s: %s Code's verdicts stand.", self.endpoint.name, error.message)
            said = fallback_failure(error, "The verdicts of code alone stand.")
            return replace(checked, fallback=said)
        settled = {place: answers[number] for number, place in enumerate(asked, start=1) if number in answers}
        return replace(
            checked,
            sections=tuple(
                tuple(_adjudicated(claim, settled.get((s, c))) for c, claim in enumerate(claims))
                for s, claims in enumerate(checked.sections)
            ),
        )

    def _questions(self, sections: Sequence[WrittenSection], checked: CheckResult) -> dict[ClaimPlace, str]:
        """Lay out each open claim under its number, from 1, with the sentences that it cites."""
        room = self.endpoint.context_tokens * 3 // 4 - estimate_tokens(ADJUDICATION_PROMPT.text)
        asked: dict[ClaimPlace, str] = {}
        for s, (section, claims) in enumerate(zip(sections, checked.sections, strict=True)):
            for c, claim in enumerate(claims):
                quotes = _quotes(section, claim)
                if claim.verdict != "unverified" or not quotes:
                    continue
                question = f"[{len(asked) + 1}] Claim: {_line(claim.text, CLAIM_TOKENS)}\n{quotes}"
                room -= estimate_tokens(question)
                if room < 0 or len(asked) == MOST_CLAIMS:
                    return asked
                asked[s, c] = question
        return asked

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
