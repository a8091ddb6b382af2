"""ASGI middleware that operators see requests through: an id for each, its metrics, and a line in the log.

The line and the metrics name the route, never the path or the query, which may hold ids, keys and questions.
"""

import logging
import re
import time
from functools import partial
from uuid import uuid4

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.telemetry import TelemetryConfig
from opentelemetry import trace
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.stream import once_sent
from tools.telemetry.logs import log_ids
from tools.telemetry.metrics import HTTP_REQUESTS, HTTP_SECONDS

log = logging.getLogger("citewell.access")

REQUEST_ID = "X-Request-ID"
ACCEPTED_ID = re.compile(r"[\w.:-]{1,128}", re.ASCII)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"  # a path without a route, or one that was refused before its route was known
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})  # logged only in debug


def request_telemetry(*, traced: bool) -> TelemetryConfig:
    """Return what FastAPI tells OpenTelemetry: nothing, or a span for each request but probes and scrapes."""
    return {
        "tracing": traced,
        "operation_spans": False,
        "metrics": False,
        "logs": False,  # they would hold the words of exceptions
        "auto_configure": False,
        "exclude": lambda scope: scope.get("path") in PROBES,
    }


class ObservationMiddleware:
    """Middleware around all others. A proxy's ``X-Request-ID`` is kept, and any response without one gets ours.

    No response is taken for another type than it says.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._fixed: frozenset[str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count it when its response has ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = sent if ACCEPTED_ID.fullmatch(sent) else uuid4().hex
        began, status = time.perf_counter(), 0

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.setdefault(REQUEST_ID, request_id)
                headers.setdefault("X-Content-Type-Options", "nosniff")  # what is said of a body's type holds
            await send(message)

        if scope["query_string"]:  # FastAPI has put it into the span, and it may hold a question or a key
            trace.get_current_span().set_attribute("url.query", "REDACTED")
        with log_ids(request_id=request_id):
            try:
                await self._app(scope, receive, observed)
            except Exception:
                status = status or 500  # what Starlette answers, around all middleware
                raise
            finally:
                method = scope["method"] if scope["method"] in METHODS else OTHER
                # A client that leaves before the response begins gets none; nginx counts that as 499.
                once_sent(scope, partial(_count, method, self._route(scope), status or 499, began, request_id))

    def _route(self, scope: Scope) -> str:
        template = getattr(scope.get("route"), "path", None)
        if isinstance(template, str):
            return template
        # Starlette's own routes leave no trace of themselves; those without a parameter are known by their path.
        return str(scope["path"]) if scope["path"] in self._fixed_paths(scope["app"]) else OTHER

    def _fixed_paths(self, app: FastAPI) -> frozenset[str]:
        if self._fixed is None:
            paths = (context.path or "" for context in iter_route_contexts(app.router.routes))
            self._fixed = frozenset(path for path in paths if "{" not in path)
        return self._fixed


def _count(method: str, route: str, status: int, began: float, request_id: str) -> None:
    seconds = time.perf_counter() - began
    HTTP_REQUESTS.labels(method, route, status).inc()
    HTTP_SECONDS.labels(method, route).observe(seconds)
    level = logging.DEBUG if route in PROBES else logging.INFO
    with log_ids(request_id=request_id):
        log.log(level, "%s %s %d in %.0f ms", method, route, status, seconds * 1000)
