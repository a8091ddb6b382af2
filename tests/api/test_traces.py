"""Traces: the spans of a run, in the trace of its request, with no text in them unless a setting asks for it."""

import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.instrumentation.httpx import HTTPX2ClientInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracer, SpanKind, StatusCode

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.errors import ConfigurationError
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, new_session, with_model
from tests.api.reading import events_of
from tests.api.serving import client_of
from tests.scripted_openai import ScriptedOpenAI, status
from tools.settings import Settings
from tools.telemetry.exporting import start_tracing
from tools.telemetry.tracing import record_with

QUESTION = "How long is the notice period?"
NEVER = ("notice period", "three months", "Staff handbook", "default", "local")
QUIET = "on"


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Where every span of this process goes. OpenTelemetry takes a provider once, and ours is used as it is."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    return kept


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    record_with(NoOpTracer(), text=False)
    for instrumentor in (HTTPX2ClientInstrumentor(), PsycopgInstrumentor()):
        if instrumentor.is_instrumented_by_opentelemetry:
            instrumentor.uninstrument()


@asynccontextmanager
async def traced(settings: Settings, tracing: str) -> AsyncIterator[httpx.AsyncClient]:
    configured = settings.model_copy(update={"tracing": tracing, "auto_title": False})
    app = create_app(configured)  # first, so that the pool's connections are traced
    async with open_citewell(configured) as citewell:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        app.state.citewell = citewell
        async with client_of(create_app(configured, citewell=citewell)) as client:
            yield client


async def ask(client: httpx.AsyncClient, question: str = QUESTION) -> list[dict[str, Any]]:
    session_id = await new_session(client)
    return events_of(await client.post(f"/api/sessions/{session_id}/runs", json={"question": question}))


def named(spans: Sequence[ReadableSpan], name: str) -> ReadableSpan:
    (found,) = [span for span in spans if span.name == name]
    return found


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def parent_of(span: ReadableSpan, spans: Sequence[ReadableSpan]) -> str | None:
    """Give the name of a span's parent."""
    return next((each.name for each in spans if span.parent and each.context.span_id == span.parent.span_id), None)


def everything(spans: Sequence[ReadableSpan]) -> str:
    return "\n".join(span.to_json() for span in spans)


async def test_a_run_stands_in_the_trace_of_its_request(settings: Settings, spans: InMemorySpanExporter) -> None:
    async with traced(settings, QUIET) as client:
        spans.clear()
        events = await ask(client)
    found = spans.get_finished_spans()
    request = named(found, "POST /api/sessions/{session_id}/runs")
    run = named(found, "invoke_agent citewell")
    assert parent_of(run, found) == request.name
    told = attributes(run)
    assert told["gen_ai.operation.name"] == "invoke_agent"
    assert told["citewell.run.id"] == events[0]["run_id"]
    assert told["gen_ai.conversation.id"] == events[0]["session_id"]
    assert told["citewell.run.outcome"] == "answered"
    assert told["citewell.run.stop_reason"] == events[-1]["stop_reason"]
    steps = [event["step"] for event in events if event["type"] == "step_started"]
    assert [span.name for span in sorted(found, key=lambda span: span.start_time or 0) if span.name in steps] == steps
    for step in steps:
        assert parent_of(named(found, step), found) == run.name
    search = named(found, "retrieval library")
    assert parent_of(search, found) == "search_segments"
    ids = {each["id"] for each in json.loads(attributes(search)["gen_ai.retrieval.documents"])}
    assert {source["segment_id"] for source in events[-1]["message"]["sources"]} <= ids
    assert len({span.context.trace_id for span in found if span.name in (*steps, run.name, request.name)}) == 1


async def test_each_verdict_is_an_event_of_the_run(settings: Settings, spans: InMemorySpanExporter) -> None:
    async with traced(settings, QUIET) as client:
        end = (await ask(client))[-1]
    run = named(spans.get_finished_spans(), "invoke_agent citewell")
    told = [dict(event.attributes or {}) for event in run.events if event.name == "gen_ai.evaluation.result"]
    assert [each["gen_ai.evaluation.score.label"] for each in told] == [c["verdict"] for c in end["message"]["claims"]]
    assert told[0]["citewell.verdict.by"] == "text"
    assert told[0]["gen_ai.evaluation.score.value"] == 1.0


async def test_statements_stand_below_the_work_that_makes_them(settings: Settings, spans: InMemorySpanExporter) -> None:
    async with traced(settings, QUIET) as client:
        spans.clear()
        await ask(client)
    found = spans.get_finished_spans()
    statements = [span for span in found if "db.statement" in attributes(span)]
    assert "retrieval library" in {parent_of(span, found) for span in statements}
    # The events of all runs are committed together, by a task that belongs to none of them.
    assert not [span for span in statements if "WITH mine AS" in attributes(span)["db.statement"]]
    # Nor does a connection that the pool sets up belong to whoever happens to ask meanwhile.
    of_runs = [span for span in statements if "set_config('jit'" not in attributes(span)["db.statement"]]
    assert all(span.parent for span in of_runs)


async def test_a_model_call_tells_its_tokens(
    settings: Settings, scripted_openai: ScriptedOpenAI, spans: InMemorySpanExporter
) -> None:
    async with traced(with_model(settings, scripted_openai), QUIET) as client:
        spans.clear()
        await ask(client)
    found = spans.get_finished_spans()
    (call,) = [span for span in found if span.name == "chat any" and parent_of(span, found) == "generate_answer"]
    told = attributes(call)
    assert call.kind == SpanKind.CLIENT
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.request.model"] == "any"
    assert told["server.address"] == "127.0.0.1"
    assert told["gen_ai.usage.input_tokens"] > 0
    assert told["gen_ai.usage.output_tokens"] > 0
    assert told["gen_ai.response.time_to_first_chunk"] > 0
    (sent,) = [span for span in found if span.parent and span.parent.span_id == call.context.span_id]
    assert sent.name == "POST"
    (asked,) = scripted_openai.asked("generate_answer")
    assert asked.headers["traceparent"].split("-")[1] == f"{call.context.trace_id:032x}"


async def test_a_call_that_fails_has_the_code_of_its_error(
    settings: Settings, scripted_openai: ScriptedOpenAI, spans: InMemorySpanExporter
) -> None:
    scripted_openai.script(status(401))
    async with traced(with_model(settings, scripted_openai), QUIET) as client:
        await ask(client)
    failed = [span for span in spans.get_finished_spans() if span.name == "chat any" and not span.status.is_ok]
    assert [attributes(span)["error.type"] for span in failed] == ["model_refused"]
    assert failed[0].status.status_code == StatusCode.ERROR


async def test_no_span_holds_text_or_names_anybody(
    settings: Settings, scripted_openai: ScriptedOpenAI, spans: InMemorySpanExporter
) -> None:
    async with traced(with_model(settings, scripted_openai), QUIET) as client:
        spans.clear()
        await ask(client)
        await client.get("/api/search", params={"q": QUESTION})
    told = everything(spans.get_finished_spans())
    assert "invoke_agent citewell" in told
    for text in NEVER:
        assert text not in told


async def test_text_is_there_where_it_is_asked_for(
    settings: Settings, scripted_openai: ScriptedOpenAI, spans: InMemorySpanExporter
) -> None:
    asked_for = "text"
    async with traced(with_model(settings, scripted_openai), asked_for) as client:
        answer = (await ask(client))[-1]["message"]["answer"]
    found = spans.get_finished_spans()
    run = attributes(named(found, "invoke_agent citewell"))
    assert "citewell.workspace" not in run
    assert QUESTION in run["gen_ai.input.messages"]
    assert json.loads(run["gen_ai.output.messages"])[0]["parts"][0]["content"] == answer
    assert "notice period" in attributes(named(found, "retrieval library"))["gen_ai.retrieval.query.text"]
    call = attributes(next(span for span in found if span.name == "chat any"))
    assert QUESTION in call["gen_ai.input.messages"]
    assert "gen_ai.output.messages" in call


async def test_nothing_is_recorded_without_the_setting(settings: Settings, spans: InMemorySpanExporter) -> None:
    async with traced(settings, "off") as client:
        await ask(client)
    assert [span.name for span in spans.get_finished_spans()] == []


async def test_probes_and_scrapes_are_not_traced(settings: Settings, spans: InMemorySpanExporter) -> None:
    async with traced(settings, QUIET) as client:
        spans.clear()
        for path in ("/healthz", "/readyz", "/metrics"):
            await client.get(path)
    assert not [span.name for span in spans.get_finished_spans() if span.kind == SpanKind.SERVER]


def test_tracing_without_its_packages_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.instrumentation.httpx", None)
    with pytest.raises(ConfigurationError) as refused:
        start_tracing(QUIET)
    assert "citewell[otel]" in refused.value.advice
