"""Whether a pooled connection still works, found out without a round trip where that will do."""

import select
import time
from weakref import WeakKeyDictionary

import psycopg
from psycopg_pool import AsyncConnectionPool

ASK_SECONDS = 5.0


class Liveness:
    """Tells a connection that the server has ended from one that can be lent again.

    Asking the server takes a round trip, and a run takes dozens of connections. So one that was asked within the last
    seconds is only looked at: nothing is there to be read from a connection at rest, but from one that was ended.
    """

    def __init__(self) -> None:
        self._asked: WeakKeyDictionary[psycopg.AsyncConnection, float] = WeakKeyDictionary()

    async def check(self, connection: psycopg.AsyncConnection) -> None:
        """Raise OperationalError where the connection is broken."""
        now = time.monotonic()
        asked = self._asked.get(connection)
        if asked is not None and now - asked < ASK_SECONDS and not _readable(connection):
            return
        await AsyncConnectionPool.check_connection(connection)
        self._asked[connection] = now


def _readable(connection: psycopg.AsyncConnection) -> bool:
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
