"""Ids as people type them."""

from uuid import UUID

from graph.errors import NotFound


def as_id(value: str, what: str) -> str:
    """Check that an id is a UUID, as every id of ours is.

    Raises NotFound: nothing has an id of another shape.
    """
    try:
        return str(UUID(value))
    except ValueError:
        raise NotFound(f"There is no {what} {value!r}: ids are UUIDs.") from None
