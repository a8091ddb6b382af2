"""A judge whose word counts only in the languages in which it passed its exam."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graph.errors import ModelReplyInvalid
from graph.ports import Judge, Judgement, OpenClaim
from graph.reasons import Reasons
from graph.usage import Meter
from text.language import language
from tools.judges.exam_marking import held_to
from tools.judges.examiner import Examiner, Standing
from tools.telemetry.tracing import judge_span


@dataclass(frozen=True, slots=True)
class ExaminedJudge:
    """A Judge around another. ``command`` is what a person enters to take its exam."""

    raw: Judge
    examiner: Examiner
    command: str = "citewell judge exam"

    @property
    def name(self) -> str:
        return self.raw.name

    @property
    def version(self) -> str:
        return self.raw.version

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge the claims in whose language the judge passed; the others get no verdict, and cost no request.

        A verdict "supported" with a probability below the exam's threshold becomes "unsupported". Raises
        ModelReplyInvalid where the judge gives a verdict too many or too few.
        """
        with judge_span(self.name, len(claims)) as judged:
            return judged(await self._judge(claims, meter))

    async def _judge(self, claims: Sequence[OpenClaim], meter: Meter) -> list[Judgement]:
        languages = [claim_language(claim) for claim in claims]
        standings: dict[str, Standing] = {}
        for code in dict.fromkeys(languages):
            standings[code] = await self.examiner.standing(self.raw, code, command=self.command)
        results = [standings[code] for code in languages]
        asked = [claim for claim, result in zip(claims, results, strict=True) if result.passed]
        judgements = iter(await self._ask(asked, meter))
        return [
            _examined(next(judgements), result) if result.passed else Judgement(None, reason=result.reason)
            for result in results
        ]

    async def _ask(self, claims: Sequence[OpenClaim], meter: Meter) -> list[Judgement]:
        if not claims:
            return []
        judgements = await self.raw.judge(claims, meter=meter)
        if len(judgements) != len(claims):
            raise ModelReplyInvalid(f"The judge {self.name} gave {len(judgements)} verdicts for {len(claims)} claims.")
        return judgements


def examined_by(examiner: Examiner) -> Callable[[Judge, str], Judge]:
    """Return what holds the judge of a model's answers to its exam."""

    def examined(judge: Judge, model: str) -> Judge:
        return ExaminedJudge(judge, examiner, examiner.command(model))

    return examined


def claim_language(claim: OpenClaim) -> str:
    """Return the language (ISO 639-1) in which a judge must have passed; where a word more decides, the question's."""
    asked = language(claim.question, default="") or language(f"{claim.question} {claim.claim}")
    return language(claim.claim, default=asked, near=asked)


def _examined(judgement: Judgement, standing: Standing) -> Judgement:
    result = standing.passed
    if judgement.verdict is None or result is None:
        return judgement
    held = held_to(judgement, result)
    return replace(held, reason=Reasons(filter(None, (held.reason, standing.reason))))
