"""Bodies of stored messages, kept in memory while their sessions are in use: a body never changes once it is stored.

Reading a long session takes most of its time in writing, sending and parsing a megabyte of JSON. What does change, who
may read a document and what stands in it, is not kept here.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic_core import from_json

T = TypeVar("T")
# Characters of JSON in all. In memory it is about four times that, with what was made of it.
MOST_CHARACTERS = 4_000_000


class StoredBody(dict[str, Any]):
    """The body of a stored message. All who read it share it, so it must not be modified."""

    def __init__(self, fields: Mapping[str, Any], size: int = 0) -> None:
        super().__init__(fields)
        self.size = size
        self._made: dict[Callable[..., Any], Any] = {}

    @classmethod
    def parse(cls, text: str) -> "StoredBody":
        """Read a body from JSON; its ``size`` is that of the text, in characters."""
        return cls(from_json(text), len(text))

    def once(self, make: Callable[[dict[str, Any]], T]) -> T:
        """Return what a function makes of the body, which is kept with it."""
        if make not in self._made:
            self._made[make] = make(self)
        made: T = self._made[make]
        return made


def once(body: dict[str, Any], make: Callable[[dict[str, Any]], T]) -> T:
    """Return what a function makes of a body, made only once of a stored one; the result must not be modified."""
    return body.once(make) if isinstance(body, StoredBody) else make(body)


class RecentBodies:
    """The bodies of the sessions that were read last, ``most`` characters of them at most.

    A key names a message and the version of its row, so a body that was stored anew is another one.
    """

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        self._most = most
        self._sessions: OrderedDict[str, dict[str, StoredBody]] = OrderedDict()
        self._size = 0

    def of(self, session_id: str) -> dict[str, StoredBody]:
        """Return the bodies of a session by key, in a new dictionary."""
        return dict(self._sessions.get(session_id, {}))

    def keep(self, session_id: str, bodies: dict[str, StoredBody]) -> None:
        """Keep the bodies of a session, and drop the sessions that were not read for longest.

        Of a session that is too long by itself the bodies that came last stay: most readers want its newest page.
        """
        self.forget(session_id)
        kept = dict(bodies)
        self._sessions[session_id] = kept
        self._size += _size(kept)
        while self._size > self._most:
            oldest = next(iter(self._sessions))
            if oldest == session_id:
                self._size -= kept.pop(next(iter(kept))).size
            else:
                self.forget(oldest)

    def forget(self, session_id: str) -> None:
        """Drop the bodies of a session, if there are any."""
        self._size -= _size(self._sessions.pop(session_id, {}))


def _size(bodies: Mapping[str, StoredBody]) -> int:
    return sum(body.size for body in bodies.values())
