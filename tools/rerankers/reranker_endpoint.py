"""A reranker endpoint: one relevance score in [0, 1] for each text, by a cross-encoder over HTTP.

Requests and replies follow Text Embeddings Inference (``/rerank``), Cohere (``/v2/rerank``) and Jina (``/v1/rerank``,
which vLLM, llama.cpp and others serve too). A grader keeps what it scores high enough.
"""

import asyncio
import json
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import httpx2

from graph.errors import RerankerRefused, RerankerUnavailable, fallback_failure
from graph.evidence import Hit, Segment
from graph.ports import Grading, RelevanceGrader
from graph.reasons import Reason
from graph.usage import Meter
from tools.settings import RerankerSettings
from tools.telemetry.tracing import model_call
from tools.web.retry_after import retry_after

BATCH_TEXTS = {"tei": 32, "cohere": 100, "jina": 100}  # 32: what a TEI server takes by default
SECONDS = 5.0  # for all candidates of a question, retries included: without their scores it is answered too
AT_ONCE = 4  # concurrent requests
MOST_RETRIES = 2
BACKOFF_SECONDS = 0.2  # before the first retry; doubled before the second
LONGEST_QUERY = 4000  # characters
LONGEST_TEXT = 8000
MOST_BYTES = 1_000_000
UNREADABLE = "The reranker's reply cannot be read: it does not score each text once."


class Scorer(Protocol):
    """What scores texts beside a question: an endpoint, or a model of a folder."""

    async def score(self, query: str, texts: Sequence[str], *, seconds: float | None = None) -> list[float]:
        """Return each text's relevance to a query, from 0 to 1, in order, in at most ``seconds``.

        Raises RerankerUnavailable, or RerankerRefused for what would be refused again.
        """
        ...


class Reranker:
    """A client of one endpoint. No connection is opened before the first request, or kept between requests."""

    def __init__(self, settings: RerankerSettings, *, backoff: float = BACKOFF_SECONDS) -> None:
        self._settings = settings
        self._url = settings.url
        self._backoff = backoff
        self._client: httpx2.AsyncClient | None = None

    async def score(self, query: str, texts: Sequence[str], *, seconds: float | None = None) -> list[float]:
        """Score each text's relevance to a query, in order; long queries and texts are cut.

        Takes at most ``SECONDS``, or ``seconds`` if that is less, retries included. Where an endpoint
        returns scores outside [0, 1], they are log odds and mapped by the logistic function. Raises
        RerankerUnavailable, or RerankerRefused for a request that would be refused again.
        """
        timeout = SECONDS if seconds is None else min(SECONDS, seconds)
        size = BATCH_TEXTS[self._settings.kind]
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        turns = asyncio.Semaphore(AT_ONCE)
        try:
            async with asyncio.timeout(timeout), asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._score_batch(query, batch, turns)) for batch in batches]
        except TimeoutError as error:
            raise RerankerUnavailable(f"The reranker did not answer within {timeout:.3g} seconds.") from error
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return probabilities([score for task in tasks for score in task.result()])

    async def _score_batch(self, query: str, texts: Sequence[str], turns: asyncio.Semaphore) -> list[float]:
        body = self._body(query[:LONGEST_QUERY], [text[:LONGEST_TEXT] for text in texts])
        async with turns:
            with model_call("rerank", self._settings.model or self._settings.kind, self._url):
                reply = await self._request(body)
        return _scores(reply, len(texts))

    def _body(self, query: str, texts: list[str]) -> dict[str, Any]:
        if self._settings.kind == "tei":
            return {"query": query, "texts": texts, "truncate": True}
        return {"model": self._settings.model, "query": query, "documents": texts, "top_n": len(texts)}

    async def _request(self, body: dict[str, Any]) -> Any:
        """Send a request, with up to two retries on transient failures."""
        for retry in range(MOST_RETRIES + 1):
            wait = self._backoff * 2**retry
            try:
                async with self._opened().stream("POST", self._url, json=body) as response:
                    if response.status_code == 200:
                        return _parsed(await _read(response))
                    failure = _failure(response.status_code)
                    if not failure.retryable:
                        raise failure
                    asked = retry_after(response.headers)
                    wait = wait if asked is None else asked
            except httpx2.HTTPError as error:
                failure = RerankerUnavailable("The reranker could not be reached, or broke the connection.")
                failure.__cause__ = error
            if retry < MOST_RETRIES:
                await asyncio.sleep(wait)  # a wait beyond the timeout is ended by it
        raise failure

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            key = self._settings.api_key.get_secret_value()
            self._client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(SECONDS),
                limits=httpx2.Limits(max_keepalive_connections=0),
                headers={"Accept-Encoding": "identity", "User-Agent": "Citewell"}
                | ({"Authorization": f"Bearer {key}"} if key else {}),
                trust_env=False,
            )
        return self._client


def probabilities(scores: Sequence[float]) -> list[float]:
    """Map scores to [0, 1]: as they are if all lie within, else by the logistic function."""
    if all(0.0 <= score <= 1.0 for score in scores):
        return list(scores)
    return [1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, score)))) for score in scores]


def _failure(status: int) -> RerankerUnavailable:
    match status:
        case 401 | 403:
            return RerankerRefused("The reranker refuses the key.", suggestion="Set CITEWELL_RERANKER__API_KEY.")
        case 404 | 405:
            advice = "Check CITEWELL_RERANKER__BASE_URL and CITEWELL_RERANKER__KIND."
            return RerankerRefused("The reranker is not at this address.", suggestion=advice)
        case 429:
            return RerankerUnavailable("The reranker is rate limited.")
        case code if code < 500:
            return RerankerRefused(f"The reranker refuses the request with HTTP {status}.")
        case _:
            return RerankerUnavailable(f"The reranker answers with HTTP {status}.")


async def _read(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for data in response.aiter_bytes():
        body += data
        if len(body) > MOST_BYTES:
            raise RerankerUnavailable(UNREADABLE)
    return bytes(body)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RerankerUnavailable(UNREADABLE) from error


def _scores(reply: Any, count: int) -> list[float]:
    """Return the scores by the index of their text, from a list of rows or from ``results`` that holds one."""
    rows: Any = reply.get("results") if isinstance(reply, dict) else reply
    try:
        scores = {row["index"]: float(row.get("relevance_score", row.get("score"))) for row in rows}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise RerankerUnavailable(UNREADABLE) from error
    if scores.keys() != set(range(count)) or len(rows) != count or not all(map(math.isfinite, scores.values())):
        raise RerankerUnavailable(UNREADABLE)
    return [scores[index] for index in range(count)]


BY_SEARCH = Reason("kept_by_score")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RerankedGrader:
    """A RelevanceGrader that drops what a reranker scores below ``min_score``, and lets another grade the rest.

    ``then`` sees the reranker's scores, which become the sources' scores; with ``rescored`` False it sees those of the
    search, for a grader that was fitted on them. Selected pages are not sent. If the reranker fails, ``then`` grades
    all candidates alone, and ``fallback`` states why.
    """

    then: RelevanceGrader
    reranker: Scorer
    min_score: float
    rescored: bool = True

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Grade in as few requests as the endpoint's limits allow; a reranker's requests are no model calls."""
        pages = [hit for hit in candidates if hit.kind == "page"]
        known = {hit.segment_id for hit in pages}
        found = {hit.segment_id: hit for hit in candidates if hit.segment_id not in known}
        if not found:
            return await self.then.grade(question, candidates, meter=meter)
        try:
            texts = [_shown(hit.segment) for hit in found.values()]
            scores = await self.reranker.score(question, texts, seconds=meter.remaining())
        except RerankerUnavailable as error:
            log.warning("%s %s", error.message, BY_SEARCH)
            alone = await self.then.grade(question, candidates, meter=meter)
            return replace(alone, fallback=alone.fallback or fallback_failure(error, BY_SEARCH))
        scored = list(zip(found.values(), scores, strict=True))
        below = tuple(
            (hit.segment_id, Reason("below_reranker", self.min_score)) for hit, s in scored if s < self.min_score
        )
        above = [replace(hit, score=s) if self.rescored else hit for hit, s in scored if s >= self.min_score]
        rest = await self.then.grade(question, [*pages, *above], meter=meter) if pages or above else Grading(())
        return replace(rest, dropped=(*rest.dropped, *below))


def _shown(segment: Segment) -> str:
    """Return a segment below its title and headings, which say what it is about."""
    place = " > ".join(dict.fromkeys(part for part in (segment.title, *segment.heading.split(" > ")) if part))
    return f"{place}\n{segment.text}" if place else segment.text
