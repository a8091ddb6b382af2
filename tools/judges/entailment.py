"""A judge behind a text-classification endpoint that says whether a premise entails a hypothesis.

The premise is a claim's entries, the hypothesis the claim. Neither the question nor the sentence before the claim is
sent: a claim that needs them to be understood is judged without them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from graph.errors import ConfigurationError, DependencyFailed
from graph.evidence import Verdict
from graph.ports import Judgement, OpenClaim
from graph.reasons import Reason
from graph.usage import Meter
from tools.judges.classification_endpoint import FIRST_WAIT, ClassificationEndpoint, Pair, PairsTooLarge, Scores
from tools.judges.judge_batches import (
    JUDGE_SECONDS,
    NOTHING_CITED,
    TOO_LONG,
    Batch,
    can_be_judged,
    judge_batches,
    judge_version,
    passage,
    plain_text,
)
from tools.settings import JudgeSettings

MOST_PAIRS = 32  # per request; what Text Embeddings Inference accepts unless configured otherwise
Entailment = Literal["entailment", "neutral", "contradiction"]
UNREADABLE = Reason("scores_unreadable")
VERDICTS: Mapping[Entailment, Verdict] = {
    "entailment": "supported",
    "neutral": "unsupported",
    "contradiction": "contradicted",
}
_NAMES: tuple[tuple[re.Pattern[str], Entailment], ...] = (
    (re.compile(r"(not|non|no)[ _-]*(entail|support|enough)|neutral|unsupported|nei$|unknown"), "neutral"),
    (re.compile(r"contradict|refut"), "contradiction"),
    (re.compile(r"entail|support"), "entailment"),
)


class JudgeMisconfigured(ConfigurationError, DependencyFailed):
    """Settings of the judge that its endpoint's replies show to be wrong; no claim can be judged with them."""

    retryable = False


class EntailmentJudge:
    """A Judge with as many pairs in a request as the endpoint accepts. Keep it for the life of the process."""

    def __init__(
        self, settings: JudgeSettings, *, seconds: float = JUDGE_SECONDS, first_wait: float = FIRST_WAIT
    ) -> None:
        self._endpoint = ClassificationEndpoint(settings, seconds=seconds, first_wait=first_wait)
        self._model = settings.model
        # Labels could be given meanings: results of exams are kept under this digest.
        self._version = judge_version(
            kind="entailment", model=settings.model, schema=list(VERDICTS), parameters={"labels": {}}
        )

    @property
    def name(self) -> str:
        """The name of the model in the settings."""
        return self._model

    @property
    def version(self) -> str:
        """The digest of the model."""
        return self._version

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge each claim by the label with the highest score; ``probability`` is the score of entailment.

        A claim without an entry, or one that is too long with its entries, has no verdict. Raises DependencyFailed or
        BudgetExhausted where no claim could be judged; a JudgeMisconfigured is both that and a ConfigurationError.
        """
        skipped = {index: NOTHING_CITED for index, claim in enumerate(claims) if not can_be_judged(claim)}
        asked = [(index, _pair(claim)) for index, claim in enumerate(claims) if index not in skipped]
        batches = [asked[at : at + MOST_PAIRS] for at in range(0, len(asked), MOST_PAIRS)]

        async def ask(batch: Batch[Pair]) -> list[Judgement]:
            return await self._ask([pair for _, pair in batch], meter)

        return await judge_batches(len(claims), batches, ask, skipped)

    async def _ask(self, pairs: Sequence[Pair], meter: Meter) -> list[Judgement]:
        """Ask about pairs; where the endpoint finds them too many or too long, about each half of them."""
        try:
            scores = await self._endpoint.classify(pairs, meter=meter)
        except PairsTooLarge:
            if len(pairs) == 1:
                return [Judgement(None, reason=TOO_LONG)]
            half = len(pairs) // 2
            return [*await self._ask(pairs[:half], meter), *await self._ask(pairs[half:], meter)]
        return [self._judgement(row) for row in scores]

    def _judgement(self, scores: Scores) -> Judgement:
        if not scores:
            return Judgement(None, reason=UNREADABLE)
        sums: dict[Entailment, float] = dict.fromkeys(get_args(Entailment), 0.0)
        for name, score in scores.items():
            sums[self._label(name)] += score
        # What an endpoint leaves out, one with a single label or that reports the best one alone, proves nothing.
        sums["neutral"] += max(0.0, 1.0 - sum(sums.values()))
        best = max(sums, key=lambda label: sums[label])
        return Judgement(VERDICTS[best], min(1.0, sums["entailment"]))

    def _label(self, name: str) -> Entailment:
        found = next((label for pattern, label in _NAMES if pattern.search(name.strip().lower())), None)
        if found is None:
            raise JudgeMisconfigured(
                f"judge.model: its endpoint has a label {' '.join(name.split())[:80]!r}, which does not say "
                f"whether it means {', '.join(VERDICTS)}.",
                suggestion="Name the labels in the model's config.json (id2label), or take another model.",
            )
        return found


def _pair(claim: OpenClaim) -> Pair:
    return "\n\n".join(map(passage, claim.entries)), " ".join(plain_text(claim.claim).split())
