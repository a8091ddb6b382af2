"""Notifications about runs between processes, by LISTEN and NOTIFY.

A notification only wakes a waiter, which then reads the database: a lost one costs a poll, never an event.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tools.runs.tasks import cancel_and_wait
from tools.storage.database import CONNECTING
from tools.telemetry.tracing import background_context

log = logging.getLogger("citewell.runs")

CHANNEL = "citewell_runs"
EVERYBODY = "*"
ABANDONED = "abandoned"  # the key for processes that take runs over
STOPS = "stops"  # the key for processes whose runs may have been asked to stop
MOST_NAMED = 150  # of 36 characters each, in a notification of less than 8,000 bytes
RETRY_SECONDS = 1.0

NOTIFY = f"SELECT pg_notify('{CHANNEL}', %s)"


def notification_payload(keys: list[str]) -> str:
    """Return the payload that wakes the waiters of these runs or sessions."""
    return ",".join(keys) if len(keys) <= MOST_NAMED else EVERYBODY


class Notifications:
    """A listener on its own connection, opened at the first subscription."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._listening: asyncio.Task[None] | None = None

    @contextmanager
    def subscribe(self, key: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set by each notification for ``key``, a run or session; the waiter clears it."""
        if self._listening is None:
            self._listening = asyncio.create_task(
                self._listen(), name="citewell-notifications", context=background_context()
            )
        wakeup = asyncio.Event()
        self._waiting[key].add(wakeup)
        try:
            yield wakeup
        finally:
            self._waiting[key].discard(wakeup)
            if not self._waiting[key]:
                del self._waiting[key]

    def wake(self, payload: str) -> None:
        """Wake the subscribers of the keys in a payload."""
        keys = list(self._waiting) if payload == EVERYBODY else payload.split(",")
        for key in keys:
            for wakeup in self._waiting.get(key, ()):
                wakeup.set()

    async def close(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            await cancel_and_wait(self._listening)
            self._listening = None

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, **CONNECTING
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self.wake(EVERYBODY)  # notifications sent before it listened are lost
                    async for notification in connection.notifies():
                        self.wake(notification.payload)
            except (psycopg.Error, OSError) as error:
                log.warning("not listening for notifications of runs: %s", type(error).__name__)
            await asyncio.sleep(RETRY_SECONDS)
