"""Errors that callers may see, each with a stable code, a retryable flag and a suggestion."""

from collections.abc import Iterator
from typing import ClassVar

from graph.evidence import Failure
from graph.hidden_credentials import without_credentials
from graph.reasons import Reason, why


class CitewellError(Exception):
    """Base class of every error that callers may see.

    Messages are written for them and contain no internals; addresses in them are told without credentials.
    """

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False
    suggestion: ClassVar[str] = "Report this with the run id."

    def __init__(self, message: str, *, suggestion: str | None = None, retry_after: int | None = None) -> None:
        """``retry_after`` is the seconds until the same request may succeed, where that is known."""
        message = without_credentials(message)
        super().__init__(message)
        self.message = message
        self.advice = without_credentials(suggestion or type(self).suggestion)
        self.retry_after = retry_after


class InvalidRequest(CitewellError):
    """A request that the caller can correct."""

    code = "invalid_request"
    suggestion = "Correct the named field and send the request again."


class NotFound(InvalidRequest):
    """No such document, session, run or workspace that the caller may access."""

    code = "not_found"
    suggestion = "Check the id, and that it belongs to your workspace."


class UnknownModel(InvalidRequest):
    """A model name that no setting defines."""

    code = "unknown_model"
    suggestion = "Use a name that `citewell doctor` lists, or leave the model out."


class SessionBusy(InvalidRequest):
    """A session that already has a run in progress."""

    code = "session_busy"
    retryable = True
    suggestion = "Wait for the session's run to end, or cancel it."


class SourceBusy(InvalidRequest):
    """A source that is being synced already, or whose readers were changed during its sync."""

    code = "source_busy"
    retryable = True
    suggestion = "Wait for its sync to end."


class NotAuthenticated(InvalidRequest):
    """Missing or invalid credentials."""

    code = "not_authenticated"
    suggestion = "Send `Authorization: Bearer ...` with a key of `citewell keys create`, or a valid token."


class LoginFailed(NotAuthenticated):
    """A login that did not identify a person."""

    code = "login_failed"
    suggestion = "Log in again."


class CrossSiteRequest(InvalidRequest):
    """A request that another site's page makes with this one's cookie."""

    code = "cross_site_request"
    suggestion = "Open the service's own page, or let your program send a key or a token instead of a cookie."


class UntrustedProxy(InvalidRequest):
    """Headers that say who somebody is, from an address that may not say so."""

    code = "untrusted_proxy"
    suggestion = "Call through the proxy, or add its address to CITEWELL_HTTP__TRUSTED_PROXIES."


class NotPermitted(InvalidRequest):
    """Good credentials that don't allow the request, with what they lack."""

    code = "not_permitted"
    suggestion = "Use credentials that allow it; `citewell keys create --scope` makes a key."


class RateLimited(CitewellError):
    """As many requests or runs as the credentials allow in a time; ``retry_after`` is in seconds."""

    code = "rate_limited"
    retryable = True
    suggestion = "Try again after the seconds that Retry-After names."


class Overloaded(CitewellError):
    """As many active and queued runs, or files to look into, as this process accepts."""

    code = "overloaded"
    retryable = True
    suggestion = "Try again after the seconds that Retry-After names."


class ServerStopping(CitewellError):
    """A process that is stopping; another process, or the next one, resumes its runs."""

    code = "server_stopping"
    retryable = True
    suggestion = "Rejoin the run, or read its session later: another process, or the next one, finishes the answer."


class UnreadableDocument(CitewellError):
    """A file that can't be ingested, with the reason."""

    code = "unreadable_document"
    suggestion = "Convert the file to Markdown, text, HTML or PDF with text, and add it again."


class DocumentTooExpensive(UnreadableDocument):
    """A file whose reading takes more time or memory than the deployment allows, or ends the process that reads it."""

    code = "document_too_expensive"
    suggestion = "Split the file, or raise the limits under CITEWELL_JOBS__."


class QueueFull(CitewellError):
    """As many files waiting to be ingested as a user may have."""

    code = "queue_full"
    retryable = True
    suggestion = "Wait until some of your files are ingested, or cancel a job."


class BudgetExhausted(CitewellError):
    """A run's cap on calls, tokens or seconds that is used up."""

    code = "budget_exhausted"
    suggestion = "Raise the budget, or ask a narrower question."

    def __init__(self, cap: str) -> None:
        of_day = "No more may be spent on models today."
        super().__init__(of_day if cap == "day" else f"The run's budget of {cap.replace('_', ' ')} is used up.")


class SpendingLimitReached(CitewellError):
    """A limit of runs, tokens or money a day that is used up; the message says until when."""

    code = "spending_limit_reached"
    retryable = True
    suggestion = "Try again once the day is over, or ask whoever runs the deployment for a higher limit."


class EmbeddingMismatch(CitewellError):
    """A library that was embedded by another model."""

    code = "embedding_mismatch"
    suggestion = "Run `citewell reindex`, or set the embedding model the library was built with."


class ConfigurationError(CitewellError):
    """Settings that can't work."""

    code = "configuration"
    suggestion = "Run `citewell doctor` to see every setting and where it came from."


class DependencyFailed(CitewellError):
    """A failure of something outside Citewell; usually worth a retry."""

    code = "dependency_failed"
    retryable = True
    suggestion = "Try again in a moment."


class DatabaseUnavailable(DependencyFailed):
    """A database that does not answer."""

    code = "database_unavailable"
    suggestion = "Check that PostgreSQL runs and CITEWELL_DATABASE_URL points at it, then try again."


class IssuerUnavailable(DependencyFailed):
    """An issuer by which people log in that does not answer, or not as it must."""

    code = "issuer_unavailable"
    suggestion = "Try again in a moment. If it lasts, check CITEWELL_OIDC__ISSUER and that the server reaches it."


class DatabaseBusy(DatabaseUnavailable):
    """A database that is well, with all connections of this process in use."""

    code = "database_busy"
    suggestion = "Try again after the seconds that Retry-After names; CITEWELL_POOL_SIZE sets how many there are."


class WorkspaceMoving(DatabaseUnavailable):
    """A workspace that is about to be in another database, and takes no changes meanwhile."""

    code = "workspace_moving"
    suggestion = "Try again after the seconds that Retry-After names."


class WorkspaceMoved(InvalidRequest):
    """A workspace that is in another database now, which other processes serve."""

    code = "workspace_moved"
    suggestion = "Ask the service that serves the workspace now; whoever runs the deployment knows its address."


class DiskLow(DependencyFailed):
    """A disk that has no room for anything new; what is stored can be read, and what runs goes on."""

    code = "disk_low"
    suggestion = "Free space on the disk of the data folder."


class ModelUnavailable(DependencyFailed):
    """No reply from a model: unreachable, timed out or rate limited."""

    code = "model_unavailable"
    suggestion = "Check the model endpoint with `citewell doctor`, or choose another model."


class ModelRefused(ModelUnavailable):
    """A key, model or request that the endpoint refuses and would refuse again."""

    code = "model_refused"
    retryable = False
    suggestion = "Check the key and the name of the model with `citewell doctor`, or choose another model."


class ModelContextExceeded(ModelRefused):
    """A request with more tokens than the model's context holds, as its endpoint says."""

    suggestion = "Set `context_tokens` of this model to what its endpoint serves, or ask a shorter question."


class ModelReplyInvalid(DependencyFailed):
    """A model reply that can't be read."""

    code = "model_reply_invalid"
    suggestion = "Try again, or choose a model that follows a JSON schema."


class EmbeddingUnavailable(DependencyFailed):
    """An embedding endpoint that does not answer."""

    code = "embedding_unavailable"
    suggestion = "Check the embedding endpoint; until then, search compares words only."


class IndexUnavailable(DependencyFailed):
    """An index of candidates outside of the database that does not answer in time, or lacks what it should have."""

    code = "index_unavailable"
    suggestion = "Run `citewell doctor`; searches go on without the index meanwhile."


class RerankerUnavailable(DependencyFailed):
    """A reranker endpoint that does not answer, or whose reply can't be read."""

    code = "reranker_unavailable"
    suggestion = "Check the reranker with `citewell doctor`; until then, candidates are kept by their search score."


class RerankerRefused(RerankerUnavailable):
    """A key, address or request that the reranker endpoint refuses and would refuse again."""

    code = "reranker_refused"
    retryable = False
    suggestion = "Check CITEWELL_RERANKER__MODEL and the endpoint's limits."


class WebUnavailable(DependencyFailed):
    """A web search endpoint or result page that does not answer."""

    code = "web_unavailable"
    suggestion = "Check SERPER_API_KEY with `citewell doctor`; until then, answers use the library only."


class McpUnavailable(DependencyFailed):
    """An MCP server that is a search source and does not answer, or whose tool fails."""

    code = "mcp_unavailable"
    suggestion = "Check CITEWELL_MCP_SEARCH, and that the server runs; until then, answers do without it."


def restored_error(code: str, message: str, suggestion: str) -> CitewellError:
    """Return the error of a document again from what was stored or sent of it; an unknown code is an internal error."""
    kind = next((each for each in _kinds(CitewellError) if each.code == code), CitewellError)
    return kind(message, suggestion=suggestion)


def _kinds(kind: type[CitewellError]) -> Iterator[type[CitewellError]]:
    """Yield a kind of error and those below it; one that words its message itself is never stored."""
    if kind.__init__ is CitewellError.__init__:
        yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)


def fallback_failure(error: CitewellError, instead: Reason) -> Failure:
    """Return the failure of an error, with what was done ``instead``."""
    return Failure(code=error.code, message=f"{error.message} {instead}", why=why(instead))
