"""Settings under which a busy machine slows an evaluation down and does not fail its questions."""

from tools.settings import Settings

PATIENCE = 30.0  # seconds; a deployment tells its callers sooner that it is too busy


def patient(settings: Settings) -> Settings:
    """Give the settings with which a question waits its turn for a connection to the database."""
    return settings.model_copy(update={"pool_timeout_seconds": PATIENCE})
