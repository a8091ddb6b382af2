"""A judge whose support counts only in the languages in which it passed its exam, and its doubt from the start."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from answers.open_claims import claim_language
from graph.errors import ModelReplyInvalid
from graph.ports import Judge, Judgement, OpenClaim
from graph.reasons import Reason, Reasons
from graph.usage import Meter
from text.counted import counted
from tools.judges.exam_marking import held_to
from tools.judges.exam_standing import Standing
from tools.judges.examiner import Examiner
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
        """Judge the claims but for those in whose language the judge failed, which cost no request.

        Where it has no result yet, its verdict comes without an exam. With one, "supported" with a probability below
        the exam's threshold becomes "unsupported". Raises ModelReplyInvalid where the judge gives a verdict too many or
        too few.
        """
        with judge_span(self.name, len(claims)) as judged:
            return judged(await self._judge(claims, meter))

    async def _judge(self, claims: Sequence[OpenClaim], meter: Meter) -> list[Judgement]:
        languages = [claim_language(claim) for claim in claims]
        standings: dict[str, Standing] = {}
        for code in dict.fromkeys(languages):
            standings[code] = await self.examiner.standing(self.raw, code, command=self.command)
        results = [standings[code] for code in languages]
        asked = [claim for claim, result in zip(claims, results, strict=True) if not result.failed]
        judgements = iter(await self._ask(asked, meter))
        return [
            Judgement(None, reason=result.reason) if result.failed else self._counted(next(judgements), result)
            for result in results
        ]

    def _counted(self, judgement: Judgement, standing: Standing) -> Judgement:
        """Return a judgement with what it counts by: the exam that the judge passed, or why there is none yet."""
        if judgement.verdict is None:
            return judgement
        if standing.passed is not None:
            held = held_to(judgement, standing.passed)
            return replace(held, reason=Reasons(filter(None, (held.reason, standing.reason))))
        unexamined = Reason("judged_unexamined", self.name)
        reasons = Reasons(filter(None, (judgement.reason, unexamined, standing.reason)))
        return replace(judgement, reason=reasons, exam=None)

    async def _ask(self, claims: Sequence[OpenClaim], meter: Meter) -> list[Judgement]:
        if not claims:
            return []
        judgements = await self.raw.judge(claims, meter=meter)
        if len(judgements) != len(claims):
            given, asked = counted(len(judgements), "verdict"), counted(len(claims), "claim")
            raise ModelReplyInvalid(f"The judge {self.name} gave {given} for {asked}.")
        return judgements


def examined_by(examiner: Examiner) -> Callable[[Judge, str], Judge]:
    """Return what holds the judge of a model's answers to its exam."""

    def examined(judge: Judge, model: str) -> Judge:
        return ExaminedJudge(judge, examiner, examiner.command(model))

    return examined
