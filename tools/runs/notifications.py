"""Notify other processes of runs by LISTEN and NOTIFY.

A notification only ever wakes a waiter that then reads the database: a lost one costs a poll, never an event.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tools.runs.tasks import cancel_and_wait
from tools.storage.database import CONNECTING

log = logging.getLogger("citewell.runs")

CHANNEL = "citewell_runs"
EVERYBODY = "*"
ABANDONED = "abandoned"  # rung for whoever takes over runs
STOPS = "stops"  # rung for whoever has runs that somebody wants stopped
MOST_NAMED = 150  # of 36 characters each, in a notification of less than 8,000 bytes
RETRY_SECONDS = 1.0

NOTIFY = f"SELECT pg_notify('{CHANNEL}', %s)"


def notification_payload(keys: list[str]) -> str:
    """Write the payload that wakes those who wait for these runs or sessions."""
    return ",".join(keys) if len(keys) <= MOST_NAMED else EVERYBODY


class Notifications:
    """Hears notifications on a connection of its own, from the first time that somebody waits for one."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._hearing: asyncio.Task[None] | None = None

    @contextmanager
    def on(self, key: str) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever a run or session is spoken of; the waiter clears it."""
        if self._hearing is None:
            self._hearing = asyncio.create_task(self._hear(), name="citewell-bell")
        rung = asyncio.Event()
        self._waiting[key].add(rung)
        try:
            yield rung
        finally:
            self._waiting[key].discard(rung)
            if not self._waiting[key]:
                del self._waiting[key]

    def ring(self, payload: str) -> None:
        """Wake those who wait for what a payload names."""
        keys = list(self._waiting) if payload == EVERYBODY else payload.split(",")
        for key in keys:
            for rung in self._waiting.get(key, ()):
                rung.set()

    async def close(self) -> None:
        """Hear no more."""
        if self._hearing is not None:
            await cancel_and_wait(self._hearing)
            self._hearing = None

    async def _hear(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, **CONNECTING
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self.ring(EVERYBODY)  # what was said before it listened
                    async for notification in connection.notifies():
                        self.ring(notification.payload)
            except (psycopg.Error, OSError) as error:
                log.warning("notifications of runs are not heard: %s", type(error).__name__)
            await asyncio.sleep(RETRY_SECONDS)
