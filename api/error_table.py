"""Every error that a caller may meet, in one table; docs/errors.md shows it."""

from collections.abc import Iterator
from dataclasses import dataclass

from api.errors import STATUS
from graph.errors import CitewellError

MEANINGS = {
    "invalid_request": "The request is not one that the route takes: names the field and what is wrong with it.",
    "unknown_model": "No model has the name that the request gives.",
    "not_authenticated": "The request does not say who asks, or its key or token is not valid.",
    "not_found": "There is no such thing, or it is not yours: the two look alike.",
    "session_busy": "The session is answering another question.",
    "request_too_large": "The body has more bytes than the route takes: names how many it takes.",
    "unreadable_document": "The file is empty, broken, too large, or of a format that is not read: says which.",
    "budget_exhausted": "The run has used up a cap of its budget: names the cap.",
    "internal": "Something that nobody foresaw. The log has it, the reply says nothing of it.",
    "configuration": "The deployment's settings can't work: names the setting.",
    "model_reply_invalid": "The model's reply can't be read.",
    "overloaded": "As many runs are going and waiting as this process takes on.",
    "server_stopping": "The process is being stopped and takes on nothing more.",
    "not_ready": "`GET /readyz`: questions can't be answered. Names each thing that stands in the way.",
    "embedding_mismatch": "The library was embedded by another model than the one configured.",
    "dependency_failed": "Something outside did not answer, such as the issuer of tokens.",
    "database_unavailable": "PostgreSQL can't be reached, or no connection came free in time.",
    "embedding_unavailable": "The embedding endpoint did not answer, where there is no going on without it.",
    "web_unavailable": "The web's search endpoint did not answer.",
    "model_unavailable": "The model's endpoint refused, was not reached, or took too long.",
}
# HTTP's own refusals and those with a status of the route's own.
BESIDE = {"invalid_request": (400, 403, 405, 409, 415)}


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """A code, and what every error of it has in common. ``beside`` are statuses that HTTP itself asks for."""

    code: str
    status: int
    beside: tuple[int, ...]
    meaning: str
    suggestion: str
    retryable: bool


def error_table() -> list[ErrorKind]:
    """Give every kind of error, by status and code."""
    named: dict[str, type[CitewellError]] = {}
    for kind in _with_descendants(CitewellError):
        named.setdefault(kind.code, kind)  # a class that only words an error anew comes after the one that it is of
    kinds = [
        ErrorKind(code, status, BESIDE.get(code, ()), MEANINGS[code], named[code].suggestion, named[code].retryable)
        for code, status in STATUS.items()
    ]
    return sorted(kinds, key=lambda kind: (kind.status, kind.code))


def _with_descendants(kind: type[CitewellError]) -> Iterator[type[CitewellError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _with_descendants(child)


def as_markdown() -> str:
    """Write the table as the manual shows it."""
    rows = ["| Code | Status | Message | Suggestion | Retryable |", "|---|---|---|---|---|"]
    for kind in error_table():
        beside = f", also {', '.join(map(str, kind.beside))}" if kind.beside else ""
        retry = "yes" if kind.retryable else "no"
        rows.append(f"| `{kind.code}` | {kind.status}{beside} | {kind.meaning} | {kind.suggestion} | {retry} |")
    return "\n".join(rows)
