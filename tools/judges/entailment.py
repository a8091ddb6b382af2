"""A judge behind a text-classification endpoint that says whether a premise entails a hypothesis.

The premise is a claim's entries, the hypothesis the claim. Neither the question nor the sentence before the claim is
sent: a claim that needs them to be understood is judged without them. The endpoint takes pairs of texts by
``POST /predict``, as Text Embeddings Inference serves it.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeGuard, get_args

import httpx2

from graph.errors import (
    ConfigurationError,
    DependencyFailed,
    ModelRefused,
    ModelReplyInvalid,
    ModelUnavailable,
    WebUnavailable,
)
from graph.evidence import Verdict
from graph.ports import Judgement, OpenClaim
from graph.reasons import Reason
from graph.usage import Meter
from tools.judges.judge_batches import (
    JUDGE_SECONDS,
    TOO_LONG,
    judge_batches,
    judge_version,
    passage,
    plain_text,
    worth_asking,
)
from tools.settings import JudgeSettings
from tools.telemetry.tracing import model_call
from tools.web.fetching import read_body
from tools.web.retry_after import retry_after

Pair = tuple[str, str]
Scores = Mapping[str, float]

MOST_BYTES = 2_000_000
ATTEMPTS = 3
FIRST_WAIT = 0.5  # seconds before the second attempt; doubled before the third
LONGEST_WAIT = 20.0
ROUNDING = 0.001  # of a score in 32 bits
_DENIED = frozenset({401, 403})
_TOO_LARGE = 413


class PairsTooLarge(Exception):
    """More pairs, or longer ones, than the endpoint accepts in a request."""


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    body: bytes
    wait: float | None = None


class ClassificationEndpoint:
    """The classifier behind ``judge.base_url``. Keep it for the life of the process; it keeps no connection."""

    def __init__(self, settings: JudgeSettings, *, seconds: float) -> None:
        self._url = f"{(settings.base_url or '').rstrip('/').removesuffix('/predict')}/predict"
        self._key = settings.api_key.get_secret_value()
        self._model = settings.model
        self._seconds = seconds
        self._client: httpx2.AsyncClient | None = None

    async def classify(self, pairs: Sequence[Pair], *, meter: Meter) -> list[Scores]:
        """Return the score of each label for each pair, in order; a pair whose scores can't be read has none.

        At most three attempts, each within the timeout, after 429, 5xx and broken connections. Raises PairsTooLarge,
        ModelUnavailable, ModelRefused, ModelReplyInvalid, and BudgetExhausted where the meter allows no request.
        """
        body = {"inputs": [list(pair) for pair in pairs], "raw_scores": False, "truncate": False}
        for attempt in range(ATTEMPTS):
            meter.call()
            response = await self._attempt(body, meter)
            if response is not None and response.status == 200:
                return _read_scores(response.body, len(pairs))
            failure = _failure(response)
            wait = response.wait if response is not None else None
            wait = FIRST_WAIT * 2**attempt if wait is None else wait
            if not failure.retryable or wait > LONGEST_WAIT:
                break
            if attempt + 1 < ATTEMPTS:
                await _sleep(wait, meter)
        raise failure

    def _open(self) -> httpx2.AsyncClient:
        """Create the client: reading certificates takes a while, so call it off the event loop."""
        headers = {"Accept-Encoding": "identity", "User-Agent": "Citewell"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        limits = httpx2.Limits(max_keepalive_connections=0)
        return httpx2.AsyncClient(headers=headers, timeout=self._seconds, limits=limits)

    async def _attempt(self, body: object, meter: Meter) -> _Response | None:
        """Return the response to one request, None where the connection fails."""
        if self._client is None:
            self._client = await asyncio.to_thread(self._open)
        left = meter.remaining()
        seconds = self._seconds if left is None else min(self._seconds, left)
        try:
            with model_call("classify", self._model, self._url) as call:
                async with asyncio.timeout(seconds), self._client.stream("POST", self._url, json=body) as response:
                    call.note_status(response.status_code)
                    return _Response(response.status_code, await _body(response), retry_after(response.headers))
        except (TimeoutError, httpx2.TimeoutException) as error:
            if left is not None and meter.remaining() == 0:
                raise meter.exhaust("seconds") from error
            raise ModelUnavailable("The judge did not answer in time.") from error
        except httpx2.TransportError:
            return None


async def _body(response: httpx2.Response) -> bytes:
    try:
        return await read_body(response, MOST_BYTES)
    except WebUnavailable as error:
        raise ModelReplyInvalid(f"The judge's reply can't be read: {error.message}.") from error


async def _sleep(wait: float, meter: Meter) -> None:
    left = meter.remaining()
    if left is not None and wait >= left:
        raise meter.exhaust("seconds")
    await asyncio.sleep(wait)


def _failure(response: _Response | None) -> ModelUnavailable:
    """Return the failure of a response that is not 200, or of a broken connection. Raises PairsTooLarge."""
    if response is None:
        return ModelUnavailable("The judge could not be reached, or broke the connection.")
    if response.status == _TOO_LARGE:
        raise PairsTooLarge
    if response.status in _DENIED:
        return ModelRefused("The judge refused the API key.", suggestion="Check CITEWELL_JUDGE__API_KEY.")
    if response.status == 429 or response.status >= 500:
        return ModelUnavailable(f"The judge answered with HTTP {response.status}.")
    return ModelRefused(
        f"The judge answered with HTTP {response.status}.",
        suggestion="Check that CITEWELL_JUDGE__BASE_URL serves text classification, with POST /predict.",
    )


def _read_scores(body: bytes, count: int) -> list[Scores]:
    try:
        rows = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ModelReplyInvalid("The judge's reply is not JSON.") from error
    if not isinstance(rows, list) or len(rows) != count:
        raise ModelReplyInvalid("The judge's reply is not a list with scores for each claim.")
    return [_scores(row) for row in rows]


def _scores(row: object) -> Scores:
    """Return the score in [0, 1] of each label; none where a score is none, or a label has two."""
    found: dict[str, float] = {}
    for item in row if isinstance(row, list) else ():
        label, score = (item.get("label"), item.get("score")) if isinstance(item, dict) else (None, None)
        if not isinstance(label, str) or label in found or not _is_share(score):
            return {}
        found[label] = min(1.0, max(0.0, float(score)))
    return found


def _is_share(score: object) -> TypeGuard[float]:
    return isinstance(score, int | float) and not isinstance(score, bool) and -ROUNDING <= score <= 1 + ROUNDING


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

    def __init__(self, settings: JudgeSettings, *, seconds: float = JUDGE_SECONDS) -> None:
        self._endpoint = ClassificationEndpoint(settings, seconds=seconds)
        self.name = settings.model
        # Labels could be given meanings: results of exams are kept under this digest.
        self.version = judge_version(
            kind="entailment", model=settings.model, schema=list(VERDICTS), parameters={"labels": {}}
        )

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge each claim by the label with the highest score; ``probability`` is the score of entailment.

        A claim without an entry, or one that is too long with its entries, has no verdict. Raises DependencyFailed or
        BudgetExhausted where no claim could be judged; a JudgeMisconfigured is both that and a ConfigurationError.
        """
        asked, skipped = worth_asking(claims)
        pairs = [(index, _pair(claim)) for index, claim in asked]
        batches = [pairs[at : at + MOST_PAIRS] for at in range(0, len(pairs), MOST_PAIRS)]
        return await judge_batches(len(claims), batches, partial(self._ask, meter=meter), skipped)

    async def _ask(self, pairs: Sequence[Pair], *, meter: Meter) -> list[Judgement]:
        """Ask about pairs; where the endpoint finds them too many or too long, about each half of them."""
        try:
            scores = await self._endpoint.classify(pairs, meter=meter)
        except PairsTooLarge:
            if len(pairs) == 1:
                return [Judgement(None, reason=TOO_LONG)]
            half = len(pairs) // 2
            return [*await self._ask(pairs[:half], meter=meter), *await self._ask(pairs[half:], meter=meter)]
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
