"""Logs of a process: text for people or JSON for machines, each line with the ids of the request and run it belongs to.

What other packages log of requests is cut to warnings, since at lower levels it holds prompts, headers and addresses
with their queries.
"""

import json
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from types import TracebackType
from typing import Any, Literal, TextIO

from graph.errors import CitewellError
from graph.hidden_credentials import without_credentials

OURS = ("citewell", "answers", "api", "cli", "graph", "nodes", "tools", "evals", "uvicorn")
NAMED_RUN = re.compile(r"\brun ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_ids: ContextVar[dict[str, str]] = ContextVar("_ids", default={})  # noqa: B039 - never changed, only replaced
_beside: ContextVar[logging.Handler | None] = ContextVar("_beside", default=None)


@contextmanager
def log_ids(**ids: str) -> Iterator[None]:
    """Add ids to every line that is logged within, in this task and in those that it starts."""
    token = _ids.set({**_ids.get(), **ids})
    try:
        yield
    finally:
        _ids.reset(token)


def configure_logging(level: str, log_format: Literal["text", "json"]) -> None:
    """Log to stderr from ``level`` on, unless a handler is set already; of other packages warnings and errors alone."""
    logging.basicConfig(level=level.upper(), handlers=[_handler(sys.stderr, log_format)])


@contextmanager
def logging_also_to(stream: TextIO, level: str, log_format: Literal["text", "json"]) -> Iterator[None]:
    """Log to another stream as well, from ``level`` on, what this task and those that it starts log within."""
    handler = _handler(stream, log_format)
    handler.setLevel(level.upper())
    handler.addFilter(lambda record: _beside.get() is handler)
    token = _beside.set(handler)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        _beside.reset(token)


def _handler(stream: TextIO, log_format: Literal["text", "json"]) -> logging.Handler:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter(TEXT))
    handler.addFilter(_is_ours_or_serious)
    return handler


def _is_ours_or_serious(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in OURS


class TextFormatter(logging.Formatter):
    """A line for people: when it was (UTC), and the run that it belongs to. Its addresses have no credentials."""

    def format(self, record: logging.LogRecord) -> str:
        line = without_credentials(super().format(record))
        run_id = _ids.get().get("run_id")
        return line if run_id is None or run_id in line else f"{line} [run {run_id}]"

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return _when(record)

    def formatException(self, ei: Any) -> str:
        """Return a traceback, without words that may quote text."""
        return "\n".join(_trace(ei))


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, the ids, and of an exception its class and its trace."""

    def format(self, record: logging.LogRecord) -> str:
        message = without_credentials(record.getMessage())
        named = NAMED_RUN.search(message)  # by a task that serves all runs, and has the id of none
        line: dict[str, Any] = {
            "time": _when(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
            **({"run_id": named[1]} if named else {}),
            **_ids.get(),
            **_trace_ids(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            trace = [without_credentials(each) for each in _trace(record.exc_info)]
            line["exception"] = {"type": record.exc_info[0].__qualname__, "trace": trace}
        return json.dumps(line, ensure_ascii=False, default=str)


def _when(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _trace_ids() -> dict[str, str]:
    from opentelemetry import trace

    found = trace.get_current_span().get_span_context()
    if not found.is_valid:
        return {}
    return {"trace_id": trace.format_trace_id(found.trace_id), "span_id": trace.format_span_id(found.span_id)}


@cache
def _plain() -> tuple[type[BaseException], ...]:
    """Return the exceptions whose words quote no text of a user; those of others may, as a database's do of a value."""
    import psycopg

    return (CitewellError, OSError, psycopg.OperationalError, TypeError, AttributeError, ImportError)


ExcInfo = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]


def _trace(found: ExcInfo) -> list[str]:
    """Return an exception and its causes, each with its class and then the frames it passed, one a line."""
    lines: list[str] = []
    error = found[1]
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        words = f": {error}" if isinstance(error, _plain()) else ""
        lines.append(f"{type(error).__module__}.{type(error).__qualname__}{words}")
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            lines.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_qualname}")
            trace = trace.tb_next
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return lines
