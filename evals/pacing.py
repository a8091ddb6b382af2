"""Pacing of an evaluation: the wait for a connection, and progress reports."""

from collections.abc import Callable

from tools.settings import Settings

Progress = Callable[[int, int], None]  # done, total

POOL_TIMEOUT_SECONDS = 30.0  # a deployment reports sooner that it is overloaded


def with_long_pool_timeout(settings: Settings) -> Settings:
    """Return the settings with a long timeout, so that a question waits for a database connection."""
    return settings.model_copy(update={"pool_timeout_seconds": POOL_TIMEOUT_SECONDS})
