"""Notifications about runs between processes, by LISTEN and NOTIFY.

A notification only wakes a waiter, which then reads the database: a lost one costs a poll, never an event. So those
about events go out after their commit, over a connection of their own: PostgreSQL lets only one transaction that
notifies commit at a time, whatever its commit waits for.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

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
GATHER_SECONDS = 0.005  # that keys wait for more of them, to go out as one notification

NOTIFY = f"SELECT pg_notify('{CHANNEL}', %s)"


def notification_payload(keys: list[str]) -> str:
    """Return the payload that wakes the waiters of these runs or sessions."""
    return ",".join(keys) if len(keys) <= MOST_NAMED else EVERYBODY


class Notifications:
    """A listener and a sender, each on its own connection, opened when it is first needed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._listening: asyncio.Task[None] | None = None
        self._sending: asyncio.Task[None] | None = None
        self._unsent: dict[str, None] = {}
        self._more = asyncio.Event()

    @contextmanager
    def subscribe(self, key: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set by each notification for ``key``, a run or session; the waiter clears it."""
        if self._listening is None:
            self._listening = _started(self._listen(), "citewell-notifications")
        wakeup = asyncio.Event()
        self._waiting[key].add(wakeup)
        try:
            yield wakeup
        finally:
            self._waiting[key].discard(wakeup)
            if not self._waiting[key]:
                del self._waiting[key]

    def notify(self, *keys: str) -> None:
        """Wake the waiters of runs or sessions in all processes, some milliseconds later."""
        self._unsent |= dict.fromkeys(keys)
        self._more.set()
        if self._sending is None:
            self._sending = _started(self._send(), "citewell-notifier")

    def wake(self, payload: str) -> None:
        """Wake the subscribers of the keys in a payload."""
        keys = list(self._waiting) if payload == EVERYBODY else payload.split(",")
        for key in keys:
            for wakeup in self._waiting.get(key, ()):
                wakeup.set()

    async def close(self) -> None:
        """Stop listening and sending; what is not sent yet is found by a poll."""
        for task in (self._listening, self._sending):
            if task is not None:
                await cancel_and_wait(task)
        self._listening = self._sending = None

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

    async def _send(self) -> None:
        sending: dict[str, None] = {}
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, **CONNECTING
                ) as connection:
                    await connection.execute("SET synchronous_commit = off")  # a notification is not kept anyway
                    while True:
                        await self._more.wait()
                        await asyncio.sleep(GATHER_SECONDS)
                        self._more.clear()
                        sending, self._unsent = self._unsent, {}
                        await connection.execute(NOTIFY, [notification_payload(list(sending))])
                        sending = {}
            except (psycopg.Error, OSError) as error:
                log.warning("not notifying other processes of runs: %s", type(error).__name__)
                self._unsent |= sending
                self._more.set()
            await asyncio.sleep(RETRY_SECONDS)


def _started(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=name, context=background_context())
