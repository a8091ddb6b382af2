"""Notifications about runs between processes.

A notification only wakes a waiter, which then reads the database: one that is lost costs a poll, one that comes twice
or late a reading, never an event. So those about events go out after their commit, gathered for some milliseconds, on
a channel of the process that answers the run, to which only processes listen that have readers of its runs. They name
that channel to all every few seconds, and a process whose channel nobody names sends nothing on it.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any, Protocol

import psycopg
from psycopg import sql

from tools.concurrency.tasks import cancel_and_wait
from tools.storage.database import CONNECTING
from tools.telemetry.tracing import background_context

log = logging.getLogger("citewell.runs")

CHANNEL = "citewell_runs"  # to which every process listens
EVERYBODY = "*"
ABANDONED = "abandoned"  # the key for processes that take runs over
STOPS = "stops"  # the key for processes whose runs may have been asked to stop
MOST_NAMED = 150  # of 36 characters each, in a notification of less than 8,000 bytes
RETRY_SECONDS = 1.0
GATHER_SECONDS = 0.02  # that keys wait for more of them, to go out as one notification
NAMING_SECONDS = 10.0  # between two times that a process names a channel that it listens to
FOLLOWED_SECONDS = 30.0  # that a process counts as followed once its channel was named
CLOSE_SECONDS = 1.0  # that what is unsent may take at the end

NOTIFY = f"SELECT pg_notify('{CHANNEL}', %s)"  # for what is rare, beside the statement that it is about

Send = Callable[[str, str], Awaitable[None]]


class CarrierLost(Exception):
    """The connection that carries notifications is lost, or can't be made."""


class Carrier(Protocol):
    """Carries notifications between processes. It may lose them, and deliver them twice, late or in another order."""

    async def listen(self, notifications: "Notifications", changed: asyncio.Event) -> None:
        """Deliver what arrives until cancelled. ``changed`` is set when the channels are others; the carrier clears it.

        Raises CarrierLost.
        """
        ...

    def sending(self) -> AbstractAsyncContextManager[Send]:
        """Open what sends a payload on a channel. Opening and sending raise CarrierLost."""
        ...


def channel_of(owner: str) -> str:
    """Name the channel of a process by what the ledger calls it."""
    return f"{CHANNEL}_{owner.replace('-', '')}"


class Notifications:
    """The waiters of a process, and its notifications to others; connections are opened when they are first needed.

    All carriers are listened to, and the last of them sends. ``owner`` is the process in the ledger.
    """

    def __init__(self, *carriers: Carrier, owner: str = "") -> None:
        self._carriers = carriers
        self._own = channel_of(owner) if owner else ""
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._followers: dict[str, set[asyncio.Event]] = {}
        self._named_at: dict[str, float] = {}  # when this process last named a channel that it listens to
        self._followed_until = 0.0
        self._changes = [asyncio.Event() for _ in carriers]
        self._listening: list[asyncio.Task[None]] = []
        self._sending: asyncio.Task[None] | None = None
        self._unsent: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._more = asyncio.Event()
        self._sent = asyncio.Event()
        self._sent.set()

    @contextmanager
    def subscribe(self, key: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set by each notification for ``key``, a run or session; the waiter clears it."""
        if not self._listening:
            self._listening = [
                _started(self._listen(*each), "citewell-notifications")
                for each in zip(self._carriers, self._changes, strict=True)
            ]
        wakeup = asyncio.Event()
        self._waiting[key].add(wakeup)
        try:
            yield wakeup
        finally:
            self._waiting[key].discard(wakeup)
            if not self._waiting[key]:
                del self._waiting[key]

    @contextmanager
    def following(self, wakeup: asyncio.Event) -> Iterator[Callable[[str | None], None]]:
        """Yield what is told at each poll which process has the waiter's run, so that its notifications arrive.

        ``wakeup`` is set once they arrive, since what came before did not.
        """
        followed: str | None = None

        def follow(owner: str | None) -> None:
            nonlocal followed
            channel = channel_of(owner) if owner else None
            if channel == followed:
                if channel is not None:
                    self._name(channel)
                return
            if channel is not None:
                self._followers.setdefault(channel, set()).add(wakeup)
            if followed is not None:
                self._followers[followed].discard(wakeup)
                if not self._followers[followed]:
                    del self._followers[followed]
                    self._named_at.pop(followed, None)
            followed = channel
            for changed in self._changes:
                changed.set()

        try:
            yield follow
        finally:
            follow(None)

    def notify(self, *keys: str) -> None:
        """Wake the waiters of runs or sessions in all processes, some milliseconds later."""
        self._gather(CHANNEL, keys)

    def notify_followers(self, *run_ids: str) -> None:
        """Wake those who follow runs of this process from others, some milliseconds later."""
        if asyncio.get_running_loop().time() < self._followed_until:
            self._gather(self._own, run_ids)

    @property
    def channels(self) -> frozenset[str]:
        """The channels to listen to now."""
        return frozenset((CHANNEL, *self._followers))

    def wake(self, payload: str) -> None:
        """Wake the subscribers of the keys in a payload, and note whether it says that this process is followed."""
        keys = list(self._waiting) if payload == EVERYBODY else payload.split(",")
        if self._own and (payload == EVERYBODY or self._own in keys):
            self._note_followers()
        for key in keys:
            for wakeup in self._waiting.get(key, ()):
                wakeup.set()

    def joined(self, channel: str) -> None:
        """Wake those who wait for what is sent on a channel: what was sent before it was listened to did not arrive."""
        if channel == CHANNEL:
            self.wake(EVERYBODY)
        if channel in self._followers:
            self._named_at.pop(channel, None)
            self._name(channel)
        for wakeup in self._followers.get(channel, ()):
            wakeup.set()

    async def close(self) -> None:
        """Send what is unsent, unless that takes long, and stop listening; what is lost is found by a poll."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._sent.wait()
        tasks = [*self._listening, *([self._sending] if self._sending is not None else [])]
        await cancel_and_wait(*tasks)
        self._listening, self._sending = [], None

    def _name(self, channel: str) -> None:
        """Tell the process whose channel this is that it is followed, unless it was told so lately."""
        now = asyncio.get_running_loop().time()
        if now - self._named_at.get(channel, -NAMING_SECONDS) >= NAMING_SECONDS:
            self._named_at[channel] = now
            self.notify(channel)

    def _note_followers(self) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._followed_until:
            self._gather(self._own, [EVERYBODY])  # what was committed since they read the log was told to nobody
        self._followed_until = now + FOLLOWED_SECONDS

    def _gather(self, channel: str, keys: Iterable[str]) -> None:
        unsent = self._unsent[channel]
        if EVERYBODY not in unsent:
            unsent |= dict.fromkeys(keys)
            if len(unsent) > MOST_NAMED or EVERYBODY in unsent:
                self._unsent[channel] = {EVERYBODY: None}
        self._sent.clear()
        self._more.set()
        if self._sending is None:
            self._sending = _started(self._send(), "citewell-notifier")

    async def _listen(self, carrier: Carrier, changed: asyncio.Event) -> None:
        while True:
            try:
                await carrier.listen(self, changed)
            except CarrierLost as lost:
                log.warning("not listening for notifications of runs: %s", lost)
            await asyncio.sleep(RETRY_SECONDS)

    async def _send(self) -> None:
        while True:
            sending: dict[str, dict[str, None]] = {}
            try:
                async with self._carriers[-1].sending() as send:
                    while True:
                        await self._more.wait()
                        await asyncio.sleep(GATHER_SECONDS)
                        self._more.clear()
                        sending, self._unsent = self._unsent, defaultdict(dict)
                        for channel, keys in sending.items():
                            await send(channel, ",".join(keys))
                        sending = {}
                        if not self._unsent:
                            self._sent.set()
            except CarrierLost as lost:
                log.warning("not notifying other processes of runs: %s", lost)
                for channel, keys in sending.items():
                    self._gather(channel, keys)
            await asyncio.sleep(RETRY_SECONDS)


def _started(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=name, context=background_context())


class PostgresCarrier:
    """Carries notifications by NOTIFY. PostgreSQL lets only one transaction that notifies commit at a time."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def listen(self, notifications: Notifications, changed: asyncio.Event) -> None:
        """Deliver what arrives, over a connection of its own."""
        with _psycopg_errors():
            async with await self._connect() as connection:
                connection.add_notify_handler(lambda found: notifications.wake(found.payload))
                joined: frozenset[str] = frozenset()
                while True:
                    changed.clear()
                    wanted = notifications.channels
                    for channel in joined - wanted:
                        await connection.execute(sql.SQL("UNLISTEN {}").format(sql.Identifier(channel)))
                    for channel in wanted - joined:
                        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
                        notifications.joined(channel)
                    joined = wanted
                    while found := connection.pgconn.notifies():  # also those that came behind the reply to LISTEN
                        notifications.wake(found.extra.decode())
                    await _readable(connection.fileno(), changed)
                    connection.pgconn.consume_input()

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[Send]:
        """Open a connection whose commits wait for no disk: a notification is not kept anyway."""
        with _psycopg_errors():
            async with await self._connect() as connection:
                await connection.execute("SET synchronous_commit = off")

                async def send(channel: str, payload: str) -> None:
                    await connection.execute("SELECT pg_notify(%s, %s)", [channel, payload])

                yield send

    async def _connect(self) -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(self._url, autocommit=True, **CONNECTING)


@contextmanager
def _psycopg_errors() -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, OSError) as error:
        raise CarrierLost(type(error).__name__) from error


async def _readable(file: int, changed: asyncio.Event) -> None:
    """Wait until there is something to read, or the event is set."""
    loop = asyncio.get_running_loop()
    loop.add_reader(file, changed.set)
    try:
        await changed.wait()
    finally:
        loop.remove_reader(file)
