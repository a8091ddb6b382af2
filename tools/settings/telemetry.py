"""Traces and metrics of ``tools/telemetry``."""

from typing import Annotated, Literal

from pydantic import Field

from tools.settings.section import Section


class TracingSettings(Section):
    """OpenTelemetry traces, exported as the ``OTEL_`` variables say; they need the extra ``otel``.

    Without ``text`` no span holds a question, an answer, a passage or a prompt; without ``workspace`` none names one.
    """

    enabled: bool = False
    text: bool = False
    workspace: bool = False


class MetricsSettings(Section):
    """Where `/metrics` is served: by the ``app`` to valid credentials, on a ``port`` of its own to anybody, or ``off``.

    `citewell worker` has no app; it serves them only on a port.
    """

    serve: Literal["app", "port", "off"] = "app"
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 9464
