"""Start tracing in this process, by OpenTelemetry's SDK and instrumentations, as the ``OTEL_`` variables say."""

import os
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from opentelemetry import trace

from graph.errors import ConfigurationError
from tools.telemetry.tracing import record_with

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

SERVICE = "citewell"
EXPORTERS = "opentelemetry_traces_exporter"  # the entry points of exporters
INSTALL = "Install Citewell with its extra: pip install 'citewell[otel]'."


def start_tracing(tracing: str) -> bool:
    """Start tracing unless it is "off", once a process; return whether it is on. With "text" spans hold texts.

    A provider that is set already, as `opentelemetry-instrument` does, is used as it is. Raises ConfigurationError if
    the extra is not installed or no exporter has the name that OTEL_TRACES_EXPORTER gives.
    """
    if tracing == "off":
        return False
    try:
        from opentelemetry.instrumentation.httpx import HTTPX2ClientInstrumentor
        from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
        from opentelemetry.sdk.trace import TracerProvider
    except ImportError as error:
        raise ConfigurationError("tracing: OpenTelemetry's SDK is not installed.", suggestion=INSTALL) from error
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = _provider()
        trace.set_tracer_provider(provider)
    for instrumentor in (HTTPX2ClientInstrumentor(), PsycopgInstrumentor()):
        if not instrumentor.is_instrumented_by_opentelemetry:
            instrumentor.instrument(tracer_provider=provider, skip_dep_check=True)
    record_with(provider.get_tracer(SERVICE), text=tracing == "text")
    return True


def _provider() -> "TracerProvider":
    """Return a provider with the exporters that OTEL_TRACES_EXPORTER names; it flushes when the process ends."""
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if named else {SERVICE_NAME: SERVICE}))
    for name in os.environ.get("OTEL_TRACES_EXPORTER", "otlp").split(","):
        if name.strip() and name.strip() != "none":
            provider.add_span_processor(BatchSpanProcessor(_exporter(name.strip())))
    return provider


def _exporter(name: str) -> "SpanExporter":
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", ""))
    if name == "otlp":
        name = "otlp_proto_grpc" if protocol == "grpc" else "otlp_proto_http"
    found = next(iter(entry_points(group=EXPORTERS, name=name)), None)
    if found is None:
        installed = ", ".join(sorted(each.name for each in entry_points(group=EXPORTERS)))
        raise ConfigurationError(
            f"OTEL_TRACES_EXPORTER: no exporter {name!r} is installed; there are: {installed}.",
            suggestion="Set it to one of them or to none, or install the distribution that brings it.",
        )
    exporter: SpanExporter = found.load()()
    return exporter
