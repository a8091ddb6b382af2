"""What each exit code means; docs/cli.md shows this table."""

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended, for scripts."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    CONFIGURATION = 3
    NOT_FOUND = 4
    UNAVAILABLE = 5
    REFUSED = 6
    ABSTAINED = 7
    BUDGET = 8
    WORSE = 9
    INTERRUPTED = 130
    TERMINATED = 143


BY_CODE = {
    "internal": Exit.UNEXPECTED,
    "invalid_request": Exit.USAGE,
    "unknown_model": Exit.USAGE,
    "configuration": Exit.CONFIGURATION,
    "embedding_mismatch": Exit.CONFIGURATION,
    "not_found": Exit.NOT_FOUND,
    "session_busy": Exit.UNAVAILABLE,
    "not_authenticated": Exit.USAGE,
    "overloaded": Exit.UNAVAILABLE,
    "server_stopping": Exit.UNAVAILABLE,
    "dependency_failed": Exit.UNAVAILABLE,
    "database_unavailable": Exit.UNAVAILABLE,
    "model_unavailable": Exit.UNAVAILABLE,
    "model_refused": Exit.UNAVAILABLE,
    "model_reply_invalid": Exit.UNAVAILABLE,
    "embedding_unavailable": Exit.UNAVAILABLE,
    "web_unavailable": Exit.UNAVAILABLE,
    "unreadable_document": Exit.REFUSED,
    "budget_exhausted": Exit.BUDGET,
}
