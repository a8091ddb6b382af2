"""Spans of a run by OpenTelemetry's conventions for generative AI: of the run, its nodes, searches, calls and judges.

Nothing is recorded until ``start_tracing`` is called. Span names and attributes hold ids, counts, codes and names of
models. Text (questions, queries, prompts, replies, claims) is added only where the settings ask for it.
"""

import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlsplit

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import INVALID_SPAN, NoOpTracer, Span, SpanKind, StatusCode, Tracer

from graph.context import Context as RunContext
from graph.errors import CitewellError
from graph.events import RunFailed, RunFinished
from graph.evidence import SectionClaim
from graph.ports import Judgement, SearchResult
from tools.telemetry.metrics import MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS

EVALUATION = "gen_ai.evaluation.result"
OPERATION, MODEL = "gen_ai.operation.name", "gen_ai.request.model"
INPUT_TOKENS, OUTPUT_TOKENS = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
_SUPPRESS = "suppress_instrumentation"  # the key that instrumentations look for

Attributes = Mapping[str, str | int | float | bool | Sequence[str]]
T = TypeVar("T")


@dataclass(slots=True)
class _Tracing:
    """What spans are recorded with, and what they may hold."""

    tracer: Tracer = field(default_factory=NoOpTracer)
    text: bool = False


_now = _Tracing()


def record_with(tracer: Tracer, *, text: bool) -> None:
    """Record spans from now on with this tracer; ``NoOpTracer`` stops that."""
    _now.tracer, _now.text = tracer, text


# One for all: a run that waits stands in several, and nested contexts of its own would stay in memory with it.
_UNRECORDED = nullcontext(INVALID_SPAN)


def span(
    name: str,
    attributes: Attributes,
    *,
    text: Mapping[str, str] | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
) -> AbstractContextManager[Span]:
    """Record a span around a piece of work, current within it; ``text`` is added only where the settings allow it.

    An exception sets its status and ``error.type``; the exception's own words, which may quote text, are left out.
    """
    if isinstance(_now.tracer, NoOpTracer):
        return _UNRECORDED
    return _recorded(name, attributes, text, kind)


@contextmanager
def _recorded(name: str, attributes: Attributes, text: Mapping[str, str] | None, kind: SpanKind) -> Iterator[Span]:
    with _now.tracer.start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        if text and _now.text and current.is_recording():
            current.set_attributes(dict(text))
        try:
            yield current
        except Exception as error:
            set_error(current, error)
            raise


@contextmanager
def retrieval_span(source: str, query: str, *, top_k: int) -> Iterator[Callable[[SearchResult], SearchResult]]:
    """Record the span of a search in ``library``, ``web`` or ``mcp``; pass the result through what is yielded."""
    attributes: dict[str, str | int] = {
        OPERATION: "retrieval",
        "gen_ai.data_source.id": source,
        "gen_ai.request.top_k": top_k,
    }
    with span(f"retrieval {source}", attributes, text={"gen_ai.retrieval.query.text": query}) as current:

        def found(result: SearchResult) -> SearchResult:
            if current.is_recording():
                documents = [{"id": hit.segment_id, "score": hit.score} for hit in result.hits]
                current.set_attribute("gen_ai.retrieval.documents", json.dumps(documents))
                current.set_attribute("citewell.retrieval.hits", len(result.hits))
                current.set_attribute("citewell.retrieval.degraded", result.degraded is not None)
            return result

        yield found


@contextmanager
def judge_span(judge: str, claims: int) -> Iterator[Callable[[list[Judgement]], list[Judgement]]]:
    """Record the span of a judge that is asked about claims; pass its verdicts through what is yielded."""
    with span(f"judge {judge}", {"citewell.judge.model": judge, "citewell.judge.claims": claims}) as current:

        def judged(judgements: list[Judgement]) -> list[Judgement]:
            for verdict in ("supported", "contradicted", "unsupported"):
                number = sum(each.verdict == verdict for each in judgements)
                current.set_attribute(f"citewell.judge.{verdict}", number)
            return judgements

        yield judged


def set_error(current: Span, error: BaseException) -> None:
    """Mark a span as failed, with the code of one of our errors or else the name of the exception's class."""
    current.set_attribute("error.type", error_code(error))
    current.set_status(StatusCode.ERROR)


def error_code(error: BaseException) -> str:
    """Return the code of one of our errors, else the name of the exception's class."""
    return error.code if isinstance(error, CitewellError) else type(error).__name__


def run_span(run_id: str, session_id: str, context: RunContext, *, attempt: int) -> AbstractContextManager[Span]:
    """Record the span of a run, which the spans of its steps stand in."""
    attributes: dict[str, str | int] = {
        OPERATION: "invoke_agent",
        "gen_ai.agent.name": "citewell",
        "gen_ai.conversation.id": session_id,
        "citewell.run.id": run_id,
        "citewell.run.attempt": attempt,
    }
    return span("invoke_agent citewell", attributes)


def describe_run(
    current: Span, question: str, model: str, message_id: str, end: RunFinished | RunFailed | None
) -> None:
    """Add how a run ended to its span, and an event for the verdict of each claim; None where it goes on elsewhere."""
    if not current.is_recording():
        return
    if model:
        current.set_attribute(MODEL, model)
    if _now.text:
        current.set_attribute("gen_ai.input.messages", _messages(("user", question)))
    if end is None:
        current.set_attribute("citewell.run.outcome", "left")
        return
    if isinstance(end, RunFailed):
        current.set_attributes({"citewell.run.outcome": "failed", "citewell.run.stop_reason": end.code})
        current.set_attribute("error.type", end.code)
        current.set_status(StatusCode.ERROR)
        return
    current.set_attributes(
        {
            "citewell.run.outcome": end.outcome,
            "citewell.run.stop_reason": end.stop_reason,
            "citewell.run.model_calls": sum(spent["calls"] for spent in end.spent.values()),
            "citewell.run.tokens": sum(spent["tokens"] for spent in end.spent.values()),
        }
    )
    if _now.text:
        current.set_attribute("gen_ai.output.messages", _messages(("assistant", end.message["answer"])))
    for number, claim in enumerate(end.message.get("claims", ())):
        current.add_event(EVALUATION, {**_evaluation(claim, number), "gen_ai.response.id": message_id})


def _evaluation(claim: SectionClaim, number: int) -> dict[str, str | int | float]:
    found: dict[str, str | int | float] = {
        "gen_ai.evaluation.name": "claim_support",
        "gen_ai.evaluation.score.label": claim["verdict"],
        "gen_ai.evaluation.score.value": float(claim["verdict"] == "supported"),
        "citewell.claim.number": number,
        "citewell.claim.section": claim["section_index"],
        "citewell.claim.citations": len(claim["citations"]),
    }
    if "by" in claim:
        found["citewell.verdict.by"] = claim["by"]
    if "judge" in claim:
        found["citewell.judge.model"] = claim["judge"]["model"]
    if _now.text:
        found["citewell.claim.text"] = claim["text"]
        found["gen_ai.evaluation.explanation"] = " ".join(claim["reasons"])
    return found


def _messages(*messages: tuple[str, str]) -> str:
    parts = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages]
    return json.dumps(parts, ensure_ascii=False)


@dataclass(slots=True)
class ModelCall:
    """A request to a model endpoint while it is going on: what is learnt of it is set as it becomes known.

    It is not the current span, since the reply is streamed by a generator; ``under`` makes it so for a moment.
    """

    operation: str
    model: str
    span: Span
    code: str = "ok"
    input_tokens: int = 0
    output_tokens: int = 0
    reply: list[str] = field(default_factory=list)  # only where text is recorded
    _began: float = field(default_factory=time.perf_counter)
    _has_begun: bool = False

    def note_status(self, status: int) -> None:
        """Note the status of the response; any but 200 is the code that the request is counted under."""
        if status != HTTPStatus.OK:
            self.code = f"http_{status}"

    def received(self, text: str) -> None:
        if not self.span.is_recording():
            return
        if not self._has_begun:
            self._has_begun = True
            self.span.set_attribute("gen_ai.response.time_to_first_chunk", time.perf_counter() - self._began)
        if _now.text:
            self.reply.append(text)

    def under(self, stream: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """Return the items of a stream, each of which is fetched under this span."""
        return stream if isinstance(_now.tracer, NoOpTracer) else self._under(stream)

    async def _under(self, stream: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        while True:
            with trace.use_span(self.span, record_exception=False, set_status_on_exception=False):
                try:
                    item = await anext(stream)
                except StopAsyncIteration:
                    return
            yield item

    def end(self) -> None:
        """Count the request, and end its span; ``code`` is "ok" or that of an error."""
        MODEL_CALLS.labels(self.operation, self.model, self.code).inc()
        MODEL_SECONDS.labels(self.operation, self.model).observe(time.perf_counter() - self._began)
        MODEL_TOKENS.labels(self.operation, self.model, "input").inc(self.input_tokens)
        MODEL_TOKENS.labels(self.operation, self.model, "output").inc(self.output_tokens)
        if self.span.is_recording():
            self.span.set_attributes({INPUT_TOKENS: self.input_tokens, OUTPUT_TOKENS: self.output_tokens})
            if self.reply:
                self.span.set_attribute("gen_ai.output.messages", _messages(("assistant", "".join(self.reply))))
            if self.code != "ok":
                self.span.set_attribute("error.type", self.code)
                self.span.set_status(StatusCode.ERROR)
        self.span.end()


@contextmanager
def model_call(
    operation: str, model: str, url: str | None, *, messages: Sequence[tuple[str, str]] = (), stream: bool = False
) -> Iterator[ModelCall]:
    """Count and trace one request to a model endpoint: ``chat``, ``embeddings``, ``rerank`` or ``classify``.

    The span of a ``stream`` is not the current one, since its generator may be closed by another task. A request whose
    reader leaves has the code ``cancelled``.
    """
    current = _now.tracer.start_span(f"{operation} {model}", kind=SpanKind.CLIENT)
    call = ModelCall(operation, model, current)
    if current.is_recording():
        current.set_attributes(_request(operation, model, url, stream=stream))
        if _now.text and messages:
            current.set_attribute("gen_ai.input.messages", _messages(*messages))
    within = trace.use_span(current, record_exception=False, set_status_on_exception=False)
    try:
        with nullcontext() if stream else within:
            yield call
    except Exception as error:
        call.code = call.code if call.code != "ok" else error_code(error)
        raise
    except BaseException:
        call.code = "cancelled"
        raise
    finally:
        call.end()


def _request(operation: str, model: str, url: str | None, *, stream: bool) -> dict[str, str | int | bool]:
    parts = urlsplit(url or "")
    found: dict[str, str | int | bool] = {
        OPERATION: operation,
        MODEL: model,
        # Every endpoint is asked in OpenAI's format; whose model answers can't be told from that.
        "gen_ai.provider.name": "openai",
        "gen_ai.request.stream": stream,
        "server.address": parts.hostname or "",
    }
    if parts.port:
        found["server.port"] = parts.port
    return found


def background_context() -> Context:
    """Return an empty context for a task that serves the whole process: whoever starts it lends it no run and no trace.

    Instrumentations are silent in it: its statements belong to no request.
    """
    context = Context()
    context.run(otel_context.attach, otel_context.set_value(_SUPPRESS, True))
    return context
