"""A session as its row has it."""

from dataclasses import dataclass
from datetime import datetime

from graph.errors import NotFound

DEFAULT_TITLE = "New Chat"

SESSION = (
    "session_id::text, title, selected_page_ids AS page_ids, ephemeral, dialect, external_id, page_id::text,"
    " created_at, updated_at"
)


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation without its messages.

    ``page_ids`` are the documents last selected in it, ``page_id`` the page of the host that it was begun on.
    """

    session_id: str
    title: str
    page_ids: list[str]
    ephemeral: bool
    dialect: str
    external_id: str | None
    created_at: datetime
    updated_at: datetime
    page_id: str | None = None


def unknown_session(session_id: str) -> NotFound:
    """Give the error for a session that is not there, or not there for whoever asks."""
    return NotFound(f"There is no session {session_id}.")
