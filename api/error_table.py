"""Every error that a caller may meet, in one table: what each means, and its status; docs/errors.md shows it."""

from collections.abc import Mapping
from dataclasses import dataclass

from graph import errors
from graph.errors import CitewellError


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


def kind_of(code: str) -> ErrorKind:
    """Give the row of a code; that of an internal error for a code that another version has written."""
    return BY_CODE.get(code, BY_CODE[CitewellError.code])


def as_markdown() -> str:
    """Write the table as the manual shows it."""
    rows = ["| Code | Status | Message | Suggestion | Retryable |", "|---|---|---|---|---|"]
    for kind in ERROR_TABLE:
        beside = f", also {', '.join(map(str, kind.beside))}" if kind.beside else ""
        retry = "yes" if kind.retryable else "no"
        rows.append(f"| `{kind.code}` | {kind.status}{beside} | {kind.meaning} | {kind.suggestion} | {retry} |")
    return "\n".join(rows)
