"""HTTP errors: RFC 9457 problems, and the table of codes, statuses and meanings in docs/errors.md."""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import compile_path

from graph import errors
from graph.errors import CitewellError, NotFound
from graph.events import RunFailed

log = logging.getLogger("citewell.api")


class RequestTooLarge(CitewellError):
    """The body is larger than the route accepts."""

    code = "request_too_large"
    suggestion = "Send less at once."


class NotReady(CitewellError):
    """Questions can't be answered at the moment."""

    code = "not_ready"
    retryable = True
    suggestion = "Run `citewell doctor` for details."


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """An error with its HTTP status."""

    error: type[CitewellError]
    status: int
    meaning: str

    @property
    def code(self) -> str:
        """The code, which is stable."""
        return self.error.code

    @property
    def suggestion(self) -> str:
        """The default advice; an error may carry a more precise one."""
        return self.error.suggestion

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed on a retry."""
        return self.error.retryable


_MEANINGS: Mapping[int, Mapping[type[CitewellError], str]] = {  # by status
    400: {errors.UnknownModel: "No model has the requested name."},
    401: {
        errors.LoginFailed: "The issuer's answer does not prove who logs in; names what is wrong.",
        errors.NotAuthenticated: "The request has no credentials, or its key or token is not valid.",
    },
    403: {
        errors.CrossSiteRequest: "Another site's page made the browser send this, and a cookie with it.",
        errors.NotPermitted: "The credentials don't allow this; names the scope or the right that is missing.",
        errors.UntrustedProxy: "Headers name a user, but do not come from a trusted proxy.",
    },
    404: {errors.NotFound: "It does not exist, or it is not yours; both get the same reply."},
    409: {
        errors.SessionBusy: "The session is answering another question.",
        errors.SourceBusy: "The source is being synced already, or its readers were changed during its sync.",
    },
    413: {RequestTooLarge: "The body is larger than the route accepts; names the limit."},
    421: {errors.WorkspaceMoved: "The workspace is in another database now, which this service does not serve."},
    422: {
        errors.BudgetExhausted: "The run has reached a cap of its budget; names the cap.",
        errors.DocumentTooExpensive: "Reading the file takes more time or memory than allowed, its text is too large, "
        "or it ended its reader.",
        errors.InvalidRequest: "The request is not valid for the route; names the field and what is wrong with it.",
        errors.UnreadableDocument: "The file is empty, broken, too large, or in an unsupported format; names the "
        "reason.",
    },
    429: {
        errors.QueueFull: "As many of your files wait as a user may have.",
        errors.RateLimited: "The credentials have used up a limit; names it.",
        errors.SpendingLimitReached: "A limit of runs, tokens or money a day is used up; names whose it is, and when "
        "the next day begins.",
    },
    500: {
        errors.ConfigurationError: "The deployment's settings can't work; names the setting.",
        CitewellError: "An unexpected error. The log has the details; the reply has none.",
    },
    502: {errors.ModelReplyInvalid: "The model's reply can't be read."},
    503: {
        errors.DatabaseBusy: "PostgreSQL is well, but all connections of the process stayed in use.",
        errors.DatabaseUnavailable: "PostgreSQL can't be reached, or took too long.",
        errors.DependencyFailed: "An outside service did not answer, such as the token issuer.",
        errors.DiskLow: "The database's disk is almost full: nothing new is stored or asked until it has room.",
        errors.EmbeddingMismatch: "The library was embedded by a model other than the configured one.",
        errors.EmbeddingUnavailable: "The embedding endpoint did not answer, and the request can't continue without "
        "it.",
        errors.IndexUnavailable: "The index of candidates did not answer; only commands say so.",
        errors.IssuerUnavailable: "The issuer by which people log in did not answer, or not as it must.",
        errors.McpUnavailable: "An MCP server that is a search source did not answer, or its tool failed.",
        errors.ModelRefused: "The model's endpoint refused the key, the model or the request.",
        errors.ModelUnavailable: "The model's endpoint can't be reached, is overloaded, or took too long.",
        NotReady: "`GET /readyz`: questions can't be answered; names each reason.",
        errors.Overloaded: "The process has as many active and waiting runs, or files to look into, as it accepts.",
        errors.RerankerRefused: "The reranker endpoint refused the key, the address or the request.",
        errors.RerankerUnavailable: "The reranker endpoint did not answer, or its reply can't be read.",
        errors.ServerStopping: "The process is stopping and accepts nothing new.",
        errors.WebUnavailable: "The web search endpoint, or the site of a page to fetch, did not answer; names the "
        "reason.",
        errors.WorkspaceMoving: "The workspace is just being moved to another database, and takes no changes for some "
        "seconds.",
    },
}
ERROR_TABLE = tuple(
    ErrorKind(error, status, meaning) for status, meanings in _MEANINGS.items() for error, meaning in meanings.items()
)
BY_CODE: Mapping[str, ErrorKind] = {kind.code: kind for kind in ERROR_TABLE}


def error_kind(code: str) -> ErrorKind:
    """Return the row of a code; that of an internal error for a code that only another version knows."""
    return BY_CODE.get(code, BY_CODE[CitewellError.code])


MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
QUEUE_RETRY_AFTER_SECONDS = 10
LONGEST_CLIENT_WAIT = 60  # seconds, above which clients don't wait as Retry-After says
MOST_FAULTS = 10  # listed in one problem
LONGEST_NAME = 100  # of a field, echoed in a problem
LONGEST_DETAIL = 1000


class Problem(BaseModel):
    """An error (RFC 9457). ``code`` is stable; ``detail`` is for people and may be reworded."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(examples=["urn:citewell:problem:session_busy"])
    title: str
    status: int
    detail: str
    code: str
    suggestion: str
    retryable: bool
    instance: str | None = Field(default=None, description="The failed run as urn:uuid, if there was one.")


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of a route that may answer with these statuses."""
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
    retry_after: int | None = None,
) -> Response:
    """Return a problem as a response; its status comes from the table unless ``status`` is set.

    ``retry_after`` is the seconds until a retry may succeed, where they are known better than by the status.
    """
    status = status or error_kind(code).status
    # The detail may quote the request, lone surrogates included, and must be encodable.
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
        extra.setdefault("Retry-After", str(retry_after or RETRY_AFTER_SECONDS))
    elif retryable and status == HTTPStatus.TOO_MANY_REQUESTS:
        extra.setdefault("Retry-After", str(retry_after or QUEUE_RETRY_AFTER_SECONDS))
    if retry_after is not None and retry_after > LONGEST_CLIENT_WAIT:
        extra["X-Should-Retry"] = "false"  # else the SDKs of OpenAI and others try again after a second
    return Response(to_json(body.model_dump(exclude_none=True)), status, extra, MEDIA_TYPE)


def run_problem(end: RunFailed, run_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the failed end of a run as a response."""
    return problem(end.code, end.message, end.suggestion, retryable=end.retryable, run_id=run_id, headers=headers)


def shorten(detail: str) -> str:
    """Cut a detail at LONGEST_DETAIL characters, since it may quote a long request."""
    return detail if len(detail) <= LONGEST_DETAIL else f"{detail[:LONGEST_DETAIL]}…"


def problem_of(error: CitewellError) -> Response:
    """Return one of our errors as a response."""
    retryable = type(error).retryable
    return problem(error.code, error.message, error.advice, retryable=retryable, retry_after=error.retry_after)


ROUTES_ADVICE = "See /docs for the routes and what they accept."
_HTTP_KINDS = {
    HTTPStatus.NOT_FOUND.value: (NotFound.code, ROUTES_ADVICE),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE.value: (RequestTooLarge.code, RequestTooLarge.suggestion),
}

Shape = Callable[[Problem], Any]


@dataclass(frozen=True, slots=True)
class ErrorShape:
    """A dialect's error format: a function of the problem, and the statuses that replace ours.

    ``names_routes``: the error of a path without a route names the routes below the same prefix.
    """

    shape: Shape
    statuses: Mapping[int, int]
    names_routes: bool = False


SHAPES: dict[str, ErrorShape] = {}  # by the prefix of its paths


def register_error_shape(
    prefix: str, shape: Shape, *, statuses: Mapping[int, int] | None = None, names_routes: bool = False
) -> None:
    """Register a dialect's error format, as plain JSON, for paths that begin with ``prefix``.

    ``statuses`` maps our statuses to those that the dialect's clients expect instead. With ``names_routes`` the error
    of an unknown path names the routes below ``prefix``, for APIs of which only a part is here.
    """
    SHAPES[prefix] = ErrorShape(shape, statuses or {}, names_routes)


def in_dialect_shape(path: str, response: Response) -> Response:
    """Convert a problem to the error format of its path, if it has one."""
    registered = SHAPES.get(_prefix_of(path))
    if registered is None or response.media_type != MEDIA_TYPE:
        return response
    body = to_json(registered.shape(Problem.model_validate_json(bytes(response.body))))
    status = registered.statuses.get(response.status_code, response.status_code)
    kept = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
    return Response(body, status, kept, "application/json")


def _prefix_of(path: str) -> str:
    """Return the longest prefix of a path that has an error format; "" where none has."""
    return max((prefix for prefix in SHAPES if path.startswith(prefix)), key=len, default="")


def install_error_handlers(app: FastAPI) -> None:
    """Make the app answer every error with a problem."""
    app.add_exception_handler(CitewellError, _citewell_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _client_left)
    app.add_exception_handler(Exception, _unexpected_error)


async def _citewell_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CitewellError)
    if (audited := getattr(request.state, "audited", None)) is not None:
        audited.reason = error.code
    if error_kind(error.code).status >= 500:
        # Our own refusals, such as Overloaded, need no trace; an error of something else has a cause.
        trace = error if error.__cause__ else None
        log.warning("%s %s: %s: %s", request.method, _told_path(request), error.code, error.message, exc_info=trace)
    return in_dialect_shape(request.url.path, problem_of(error))


async def _invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    faults = [describe_fault(item) for item in found[:MOST_FAULTS]]
    if len(found) > MOST_FAULTS:
        faults.append(f"and {len(found) - MOST_FAULTS} more")
    advice = "Correct the named fields and send the request again."
    if any(_is_no_object(item) for item in found) and "json" not in request.headers.get("content-type", ""):
        advice = "Send it with the header Content-Type: application/json."  # which curl -d alone does not
    return in_dialect_shape(request.url.path, problem("invalid_request", "; ".join(faults), advice))


def _is_no_object(error: Mapping[str, Any]) -> bool:
    return error["loc"] == ("body",) and error["type"] in {"model_attributes_type", "model_type", "dict_type"}


def describe_fault(error: Mapping[str, Any]) -> str:
    """Describe in one line which field is wrong and how, without echoing its value."""
    place = [str(part)[:LONGEST_NAME] for part in error["loc"][1:]]
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        message = "this version has no such field"
    elif error["type"] == "json_invalid":
        return "The body is not valid JSON."
    elif error["loc"] == ("body",) and error["type"] == "missing":
        return "The body is missing: it is a JSON object, {} where all fields are left out."
    elif _is_no_object(error):
        return "The body is not a JSON object."
    return f"{'.'.join(place) or 'body'}: {message}"


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code, advice = _HTTP_KINDS.get(error.status_code, ("invalid_request", ROUTES_ADVICE))
    detail = str(error.detail)
    headers = dict(error.headers or {})
    prefix = _prefix_of(request.url.path)
    names_all = bool(prefix) and SHAPES[prefix].names_routes
    is_there = error.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    if is_there or (error.status_code == HTTPStatus.NOT_FOUND and names_all):
        detail = f"There is no route {request.method} {request.url.path[:LONGEST_NAME]}."
        at = _routes_at(request)
        if there := _routes_below(request.app, prefix) if names_all else list(map(" ".join, at)):
            advice = f"There are: {', '.join(there)}."
        if is_there:
            headers["Allow"] = ", ".join(sorted({method for method, _ in at}))
    response = problem(code, detail, advice, status=error.status_code, headers=headers)
    return in_dialect_shape(request.url.path, response)


def _routes_at(request: Request) -> list[tuple[str, str]]:
    """Return the methods and paths of all routes at a request's path; the router names the methods of one."""
    path = request.url.path
    known = iter_route_contexts(request.app.router.routes)
    fitting = (each for each in known if each.path is not None and compile_path(each.path)[0].match(path))
    return [(method, each.path or "") for each in fitting for method in sorted(each.methods or ())]


def _routes_below(app: FastAPI, prefix: str) -> list[str]:
    known = [context for context in iter_route_contexts(app.router.routes) if (context.path or "").startswith(prefix)]
    return [f"{method} {context.path}" for context in known for method in sorted(context.methods or ())]


def _told_path(request: Request) -> str:
    """Return a request's path as logs tell it: without the token of a signed link, which opens a document."""
    return re.sub(r"\A/links/[^/]+", "/links/{token}", request.url.path)


async def _client_left(request: Request, error: Exception) -> Response:
    log.info("%s %s: the client left before its request was complete", request.method, _told_path(request))
    return Response(status_code=HTTPStatus.BAD_REQUEST)  # which nobody reads


async def _unexpected_error(request: Request, error: Exception) -> Response:
    # No logging here: Starlette logs the traceback and raises the error again after this response.
    # It is around all middleware, so it has this header by itself.
    response = problem(
        "internal",
        "The request failed for an internal reason.",
        "Report this with the time it happened.",
        headers={"X-Content-Type-Options": "nosniff"},
    )
    return in_dialect_shape(request.url.path, response)
