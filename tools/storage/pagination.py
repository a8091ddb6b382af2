"""Opaque cursors of paginated lists; a cursor encodes where the last page ended."""

import base64
import json
from datetime import datetime
from uuid import UUID

from graph.errors import InvalidRequest


def encode_cursor(at: datetime, row_id: str) -> str:
    """Return the cursor for the page that starts after a row."""
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), row_id]).encode()).decode()


def decode_cursor(cursor: str | None) -> tuple[datetime | None, str | None]:
    """Return the time and the id of the row that a page ended with; None without a cursor. Raises InvalidRequest."""
    if cursor is None:
        return None, None
    try:
        at, row_id = json.loads(base64.urlsafe_b64decode(cursor))
        return datetime.fromisoformat(at), str(UUID(row_id))
    except (ValueError, TypeError, AttributeError):
        raise invalid_cursor() from None


def invalid_cursor() -> InvalidRequest:
    """Return the error for a cursor that does not come from the list."""
    return InvalidRequest("cursor: it does not come from this list.")
