"""Notifications about runs between processes.

A notification only wakes a waiter, which then reads the database: one that is lost costs a poll, one that comes twice
or late a reading, never an event. So those about events go out after their commit, gathered for some milliseconds, and
only from processes that are followed: who reads a run that another process answers names that process every few
seconds, and one that nobody names tells nobody of its events.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any, Protocol

import psycopg

from tools.concurrency.tasks import cancel_and_wait
from tools.storage.database import CONNECTING
from tools.telemetry.tracing import background_context

log = logging.getLogger("citewell.runs")

CHANNEL = "citewell_runs"
EVERYBODY = "*"
ABANDONED = "abandoned"  # the key for processes that take runs over
STOPS = "stops"  # the key for processes whose runs may have been asked to stop
MOST_NAMED = 150  # of 36 characters each, in a notification of less than 8,000 bytes
RETRY_SECONDS = 1.0
GATHER_SECONDS = 0.02  # that keys wait for more of them, to go out as one notification
NAMING_SECONDS = 10.0  # between two times that a process is named by one that follows it
FOLLOWED_SECONDS = 30.0  # that a process counts as followed once it was named
CLOSE_SECONDS = 1.0  # that what is unsent may take at the end

NOTIFY = f"SELECT pg_notify('{CHANNEL}', %s)"  # for what is rare, beside the statement that it is about

Send = Callable[[str], Awaitable[None]]


class CarrierLost(Exception):
    """The connection that carries notifications is lost, or can't be made."""


class Carrier(Protocol):
    """Carries notifications between processes. It may lose them, and deliver them twice, late or in another order."""

    async def listen(self, notifications: "Notifications") -> None:
        """Deliver what arrives until cancelled. Raises CarrierLost."""
        ...

    def sending(self) -> AbstractAsyncContextManager[Send]:
        """Open what sends a payload. Opening and sending raise CarrierLost."""
        ...


class Notifications:
    """The waiters of a process, and its notifications to others; connections are opened when they are first needed.

    All carriers are listened to, and the last of them sends. ``owner`` is the process in the ledger.
    """

    def __init__(self, *carriers: Carrier, owner: str = "") -> None:
        self._carriers = carriers
        self._owner = owner
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._named_at: dict[str, float] = {}  # when this process last named one that it follows
        self._followed_until = 0.0
        self._named_until = 0.0  # until when it needs to tell followers nothing of before, as it was named
        self._listening: list[asyncio.Task[None]] = []
        self._sending: asyncio.Task[None] | None = None
        self._unsent: dict[str, None] = {}
        self._more = asyncio.Event()
        self._sent = asyncio.Event()
        self._sent.set()

    @contextmanager
    def subscribe(self, key: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set by each notification for ``key``, a run or session; the waiter clears it."""
        if not self._listening:
            self._listening = [_started(self._listen(each), "citewell-notifications") for each in self._carriers]
        wakeup = asyncio.Event()
        self._waiting[key].add(wakeup)
        try:
            yield wakeup
        finally:
            self._waiting[key].discard(wakeup)
            if not self._waiting[key]:
                del self._waiting[key]

    def follow(self, owner: str) -> None:
        """Tell a process that its runs are followed, unless it was told so lately: call it at each poll."""
        now = asyncio.get_running_loop().time()
        self._named_at = {each: at for each, at in self._named_at.items() if now - at < NAMING_SECONDS}
        if owner not in self._named_at:
            self._named_at[owner] = now
            self.notify(owner)

    def notify(self, *keys: str) -> None:
        """Wake the waiters of runs or sessions in all processes, some milliseconds later."""
        if EVERYBODY not in self._unsent:
            self._unsent |= dict.fromkeys(keys)
            if len(self._unsent) > MOST_NAMED or EVERYBODY in self._unsent:
                self._unsent = {EVERYBODY: None}
        self._sent.clear()
        self._more.set()
        if self._sending is None:
            self._sending = _started(self._send(), "citewell-notifier")

    def notify_followers(self, *run_ids: str) -> None:
        """Wake those who follow runs of this process from others, some milliseconds later."""
        if asyncio.get_running_loop().time() < self._followed_until:
            self.notify(*run_ids)

    def wake(self, payload: str) -> None:
        """Wake the subscribers of the keys in a payload, and note whether it may say that this process is followed."""
        everybody = payload == EVERYBODY  # names of followed processes may be among the keys that it stands for
        keys = list(self._waiting) if everybody else payload.split(",")
        if self._owner and (everybody or self._owner in keys):
            now = asyncio.get_running_loop().time()
            self._followed_until = now + FOLLOWED_SECONDS
            if not everybody:  # or two processes would wake each other without end
                if now >= self._named_until:
                    self.notify(EVERYBODY)  # what was committed since they read the log was told to nobody
                self._named_until = self._followed_until
        for key in keys:
            for wakeup in self._waiting.get(key, ()):
                wakeup.set()

    def joined(self) -> None:
        """Wake all who wait, once a carrier listens: what was sent before did not arrive, nor did this one's name."""
        self.wake(EVERYBODY)
        self._named_at.clear()

    async def close(self) -> None:
        """Send what is unsent, unless that takes long, and stop listening; what is lost is found by a poll."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._sent.wait()
        tasks = [*self._listening, *([self._sending] if self._sending is not None else [])]
        await cancel_and_wait(*tasks)
        self._listening, self._sending = [], None

    async def _listen(self, carrier: Carrier) -> None:
        while True:
            try:
                await carrier.listen(self)
            except CarrierLost as lost:
                log.warning("not listening for notifications of runs: %s", lost)
            await asyncio.sleep(RETRY_SECONDS)

    async def _send(self) -> None:
        while True:
            sending: dict[str, None] = {}
            try:
                async with self._carriers[-1].sending() as send:
                    while True:
                        await self._more.wait()
                        await asyncio.sleep(GATHER_SECONDS)
                        self._more.clear()
                        sending, self._unsent = self._unsent, {}
                        await send(",".join(sending))
                        sending = {}
                        if not self._unsent:
                            self._sent.set()
            except CarrierLost as lost:
                log.warning("not notifying other processes of runs: %s", lost)
                self.notify(*sending)
            await asyncio.sleep(RETRY_SECONDS)


def _started(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=name, context=background_context())


class PostgresCarrier:
    """Carries notifications by NOTIFY. PostgreSQL lets only one transaction that notifies commit at a time."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def listen(self, notifications: Notifications) -> None:
        """Deliver what arrives, over a connection of its own."""
        with _psycopg_errors():
            async with await self._connect() as connection:
                connection.add_notify_handler(lambda found: notifications.wake(found.payload))
                await connection.execute(f"LISTEN {CHANNEL}")
                notifications.joined()
                while True:
                    while found := connection.pgconn.notifies():  # also those that came behind the reply to LISTEN
                        notifications.wake(found.extra.decode())
                    await _readable(connection.fileno())  # psycopg's own iterator looks ten times a second
                    connection.pgconn.consume_input()

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[Send]:
        """Open a connection whose commits wait for no disk: a notification is not kept anyway."""
        with _psycopg_errors():
            async with await self._connect() as connection:
                await connection.execute("SET synchronous_commit = off")

                async def send(payload: str) -> None:
                    await connection.execute(NOTIFY, [payload])

                yield send

    async def _connect(self) -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(self._url, autocommit=True, **CONNECTING)


@contextmanager
def _psycopg_errors() -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, OSError) as error:
        raise CarrierLost(type(error).__name__) from error


async def _readable(file: int) -> None:
    """Wait until there is something to read."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(file, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(file)
