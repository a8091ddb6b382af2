"""Errors over HTTP: RFC 9457 problems, and one table of codes, statuses and meanings, which docs/errors.md shows."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from graph import errors
from graph.errors import CitewellError, NotFound


class RequestTooLarge(CitewellError):
    """The body has more bytes than the route takes."""

    code = "request_too_large"
    suggestion = "Send less at once."


class NotReady(CitewellError):
    """Questions can't be answered at the moment."""

    code = "not_ready"
    retryable = True
    suggestion = "Run `citewell doctor` for the whole picture."


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """An error with its HTTP status. ``beside`` are statuses that HTTP itself asks for, or a route of its own."""

    error: type[CitewellError]
    status: int
    meaning: str
    beside: tuple[int, ...] = ()

    @property
    def code(self) -> str:
        """The code, which is stable."""
        return self.error.code

    @property
    def suggestion(self) -> str:
        """What to do, where the error itself does not say it more precisely."""
        return self.error.suggestion

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed if it is sent again."""
        return self.error.retryable


ERROR_TABLE = (
    ErrorKind(errors.UnknownModel, 400, "No model has the name that the request gives."),
    ErrorKind(errors.NotAuthenticated, 401, "The request does not say who asks, or its key or token is not valid."),
    ErrorKind(errors.NotFound, 404, "There is no such thing, or it is not yours: the two look alike."),
    ErrorKind(errors.SessionBusy, 409, "The session is answering another question."),
    ErrorKind(RequestTooLarge, 413, "The body has more bytes than the route takes: names how many it takes."),
    ErrorKind(errors.BudgetExhausted, 422, "The run has used up a cap of its budget: names the cap."),
    ErrorKind(
        errors.InvalidRequest,
        422,
        "The request is not one that the route takes: names the field and what is wrong with it.",
        beside=(400, 403, 405, 409, 415),
    ),
    ErrorKind(
        errors.UnreadableDocument,
        422,
        "The file is empty, broken, too large, or of a format that is not read: says which.",
    ),
    ErrorKind(errors.ConfigurationError, 500, "The deployment's settings can't work: names the setting."),
    ErrorKind(CitewellError, 500, "Something that nobody foresaw. The log has it, the reply says nothing of it."),
    ErrorKind(errors.ModelReplyInvalid, 502, "The model's reply can't be read."),
    ErrorKind(errors.DatabaseUnavailable, 503, "PostgreSQL can't be reached, or no connection came free in time."),
    ErrorKind(errors.DependencyFailed, 503, "Something outside did not answer, such as the issuer of tokens."),
    ErrorKind(errors.EmbeddingMismatch, 503, "The library was embedded by another model than the one configured."),
    ErrorKind(
        errors.EmbeddingUnavailable,
        503,
        "The embedding endpoint did not answer, where there is no going on without it.",
    ),
    ErrorKind(errors.ModelRefused, 503, "The model's endpoint refused the key, the model or the request."),
    ErrorKind(errors.ModelUnavailable, 503, "The model's endpoint was not reached, is overloaded, or took too long."),
    ErrorKind(
        NotReady,
        503,
        "`GET /readyz`: questions can't be answered. Names each thing that stands in the way.",
    ),
    ErrorKind(errors.Overloaded, 503, "As many runs are going and waiting as this process takes on."),
    ErrorKind(errors.ServerStopping, 503, "The process is being stopped and takes on nothing more."),
    ErrorKind(errors.WebUnavailable, 503, "The web's search endpoint did not answer."),
)
BY_CODE: Mapping[str, ErrorKind] = {kind.code: kind for kind in ERROR_TABLE}


def error_kind(code: str) -> ErrorKind:
    """Return the row of a code; that of an internal error for a code that another version has written."""
    return BY_CODE.get(code, BY_CODE[CitewellError.code])


def error_table_markdown() -> str:
    """Write the table as the manual shows it."""
    rows = ["| Code | Status | Message | Suggestion | Retryable |", "|---|---|---|---|---|"]
    for kind in ERROR_TABLE:
        beside = f", also {', '.join(map(str, kind.beside))}" if kind.beside else ""
        retry = "yes" if kind.retryable else "no"
        rows.append(f"| `{kind.code}` | {kind.status}{beside} | {kind.meaning} | {kind.suggestion} | {retry} |")
    return "\n".join(rows)


log = logging.getLogger("citewell.api")

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
MOST_FAULTS = 10  # that one problem names
LONGEST_NAME = 100  # of a field, as it is told back
LONGEST_DETAIL = 1000


class Problem(BaseModel):
    """What went wrong (RFC 9457). ``code`` is stable; ``detail`` is for people and may be worded anew."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(examples=["urn:citewell:problem:session_busy"])
    title: str
    status: int
    detail: str
    code: str
    suggestion: str
    retryable: bool
    instance: str | None = Field(default=None, description="The run that failed, as urn:uuid, where there was one.")


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the problems that a route may answer with, for OpenAPI."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }


def problem(
    code: str,
    detail: str,
    suggestion: str,
    *,
    retryable: bool = False,
    status: int | None = None,
    run_id: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Make the response of a problem; its status comes from the table unless HTTP itself sets one."""
    status = status or error_kind(code).status
    # What a request brings may be told back in it, half a surrogate pair among others, and has to become bytes.
    detail = shorten(detail.encode("utf-8", "replace").decode())
    body = Problem(
        type=f"urn:citewell:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        suggestion=suggestion,
        retryable=retryable,
        instance=f"urn:uuid:{run_id}" if run_id else None,
    )
    extra = dict(headers or {})
    if retryable and status == HTTPStatus.SERVICE_UNAVAILABLE:
        extra["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return Response(to_json(body.model_dump(exclude_none=True)), status, extra, MEDIA_TYPE)


def shorten(detail: str) -> str:
    """Cut what is told back where a request makes it long."""
    return detail if len(detail) <= LONGEST_DETAIL else f"{detail[:LONGEST_DETAIL]}…"


def problem_of(error: CitewellError) -> Response:
    """Make the response of one of our errors."""
    return problem(error.code, error.message, error.advice, retryable=type(error).retryable)


ROUTES_ADVICE = "The routes, and what they take, are listed at /docs."
_HTTP_KINDS = {
    HTTPStatus.NOT_FOUND.value: (NotFound.code, ROUTES_ADVICE),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE.value: (RequestTooLarge.code, RequestTooLarge.suggestion),
}

Shape = Callable[[Problem], Any]


@dataclass(frozen=True, slots=True)
class ErrorShape:
    """How a dialect tells errors."""

    shape: Shape
    statuses: Mapping[int, int]


SHAPES: dict[str, ErrorShape] = {}  # by the prefix of its paths


def register_error_shape(prefix: str, shape: Shape, *, statuses: Mapping[int, int] | None = None) -> None:
    """Tell the errors of the paths that begin with ``prefix`` in a shape of a dialect's own, as plain JSON.

    ``statuses`` gives the status that the dialect's clients expect in the place of ours.
    """
    SHAPES[prefix] = ErrorShape(shape, statuses or {})


def in_dialect_shape(path: str, response: Response) -> Response:
    """Put a problem into the shape that its path has, or leave it as it is."""
    telling = next((telling for prefix, telling in SHAPES.items() if path.startswith(prefix)), None)
    if telling is None or response.media_type != MEDIA_TYPE:
        return response
    body = to_json(telling.shape(Problem.model_validate_json(bytes(response.body))))
    status = telling.statuses.get(response.status_code, response.status_code)
    kept = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
    return Response(body, status, kept, "application/json")


def install_error_handlers(app: FastAPI) -> None:
    """Answer every error of the app as a problem."""
    app.add_exception_handler(CitewellError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, CitewellError)
    if error_kind(error.code).status >= 500:
        # What we refuse ourselves, as when we are full, needs no trace; what something else did wrong has a cause.
        trace = error if error.__cause__ else None
        log.warning("%s %s: %s: %s", request.method, request.url.path, error.code, error.message, exc_info=trace)
    return in_dialect_shape(request.url.path, problem_of(error))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = error.errors()
    faults = [describe_fault(item) for item in errors[:MOST_FAULTS]]
    if len(errors) > MOST_FAULTS:
        faults.append(f"and {len(errors) - MOST_FAULTS} more")
    response = problem("invalid_request", "; ".join(faults), "Correct the named fields and send the request again.")
    return in_dialect_shape(request.url.path, response)


def describe_fault(error: Mapping[str, Any]) -> str:
    """Say in one line which field is wrong and how, without echoing what was sent."""
    place = [str(part)[:LONGEST_NAME] for part in error["loc"][1:]]
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        message = "this version has no such field"
    elif error["type"] == "json_invalid":
        return "The body is not valid JSON."
    return f"{'.'.join(place) or 'body'}: {message}"


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code, advice = _HTTP_KINDS.get(error.status_code, ("invalid_request", ROUTES_ADVICE))
    response = problem(code, str(error.detail), advice, status=error.status_code, headers=error.headers)
    return in_dialect_shape(request.url.path, response)


async def _unforeseen(request: Request, error: Exception) -> Response:
    # Starlette logs it with its traceback and passes it on after this answer, so the client alone is served here.
    response = problem(
        "internal", "The request failed for an internal reason.", "Report this with the time it happened."
    )
    return in_dialect_shape(request.url.path, response)
