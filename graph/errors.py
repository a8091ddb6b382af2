"""Errors that callers may see, each with a stable code, whether a retry may help, and what to do."""

from typing import ClassVar

from graph.evidence import Failure


class CitewellError(Exception):
    """Base of every error that callers may see. The message is written for them and holds no internals."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False
    suggestion: ClassVar[str] = "Report this with the run id."

    def __init__(self, message: str, *, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.advice = suggestion or type(self).suggestion


class InvalidRequest(CitewellError):
    code = "invalid_request"
    suggestion = "Correct the named field and send the request again."


class NotFound(InvalidRequest):
    code = "not_found"
    suggestion = "Check the id, and that it belongs to your workspace."


class UnknownModel(InvalidRequest):
    code = "unknown_model"
    suggestion = "Use a name that `citewell doctor` lists, or leave the model out."


class SessionBusy(InvalidRequest):
    code = "session_busy"
    retryable = True
    suggestion = "Wait for the session's run to end, or cancel it."


class NotAuthenticated(InvalidRequest):
    code = "not_authenticated"
    suggestion = "Send `Authorization: Bearer ...` with a key of `citewell keys create`, or a valid token."


class Overloaded(CitewellError):
    code = "overloaded"
    retryable = True
    suggestion = "Try again after the seconds that Retry-After names."


class ServerStopping(CitewellError):
    code = "server_stopping"
    retryable = True
    suggestion = "Join the run again, or read its session: its answer is finished by another process, or by the next."


class UnreadableDocument(CitewellError):
    code = "unreadable_document"
    suggestion = "Convert the file to Markdown, text, HTML or PDF with text, and ingest it again."


class BudgetExhausted(CitewellError):
    code = "budget_exhausted"
    suggestion = "Raise the budget, or ask a narrower question."

    def __init__(self, cap: str) -> None:
        super().__init__(f"The run's budget of {cap.replace('_', ' ')} is used up.")


class EmbeddingMismatch(CitewellError):
    code = "embedding_mismatch"
    suggestion = "Run `citewell reindex`, or set the embedding model the library was built with."


class ConfigurationError(CitewellError):
    code = "configuration"
    suggestion = "Run `citewell doctor` to see every setting and where it came from."


class DependencyFailed(CitewellError):
    code = "dependency_failed"
    retryable = True
    suggestion = "Try again in a moment."


class DatabaseUnavailable(DependencyFailed):
    code = "database_unavailable"
    suggestion = "Check that PostgreSQL runs and CITEWELL_DATABASE_URL points at it, then try again."


class ModelUnavailable(DependencyFailed):
    code = "model_unavailable"
    suggestion = "Check the model endpoint with `citewell doctor`, or choose another model."


class ModelRefused(ModelUnavailable):
    code = "model_refused"
    retryable = False
    suggestion = "Check the key and the name of the model with `citewell doctor`, or choose another model."


class ModelReplyInvalid(DependencyFailed):
    code = "model_reply_invalid"
    suggestion = "Try again, or choose a model that follows a JSON schema."


class EmbeddingUnavailable(DependencyFailed):
    code = "embedding_unavailable"
    suggestion = "Check the embedding endpoint; until then search answers by words alone."


class WebUnavailable(DependencyFailed):
    code = "web_unavailable"
    suggestion = "Check SERPER_API_KEY with `citewell doctor`; until then the library answers alone."


def fallback_failure(error: CitewellError, instead: str) -> Failure:
    """Return what failed, and in a sentence what was done instead."""
    return Failure(code=error.code, message=f"{error.message} {instead}")
