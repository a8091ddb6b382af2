"""What a process holds of its notifications while nothing carries them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import ref

import pytest

from tools.runs.notifications import EVERYBODY, MOST_NAMED, Notifications, Send


class Key(str):
    """The id of a run, of which can be told whether anything holds it."""


class Away:
    """A carrier that can't be reached until it is back."""

    def __init__(self) -> None:
        self.back = asyncio.Event()
        self.sent: asyncio.Queue[str] = asyncio.Queue()

    async def listen(self, listener: Notifications) -> None:
        await asyncio.Event().wait()

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[Send]:
        await self.back.wait()

        async def send(payload: str) -> None:
            self.sent.put_nowait(payload)

        yield send


async def test_of_an_outage_no_more_is_held_than_is_sent_after_it() -> None:
    carrier = Away()
    notifications = Notifications(carrier)
    held: list[ref[Key]] = []
    for number in range(10 * MOST_NAMED):
        key = Key(number)
        held.append(ref(key))
        notifications.notify(key)
        del key
        assert sum(each() is not None for each in held) <= MOST_NAMED
    async with asyncio.timeout(60):
        carrier.back.set()
        assert await carrier.sent.get() == EVERYBODY
        notifications.notify("one", "another")
        assert await carrier.sent.get() == "one,another"
    await notifications.close()


async def test_as_many_as_one_notification_names_are_named_after_an_outage() -> None:
    carrier = Away()
    notifications = Notifications(carrier)
    keys = [str(number) for number in range(MOST_NAMED)]
    for key in (*keys, *keys):
        notifications.notify(key)
    async with asyncio.timeout(60):
        carrier.back.set()
        assert await carrier.sent.get() == ",".join(keys)
    await notifications.close()


async def test_followers_are_notified_as_long_as_one_has_named_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    carrier = Away()
    carrier.back.set()
    notifications = Notifications(carrier, owner="me")
    async with asyncio.timeout(60):
        notifications.notify_followers("run")
        notifications.notify("nobody has")
        assert await carrier.sent.get() == "nobody has"
        notifications.wake("session,me")
        assert await carrier.sent.get() == EVERYBODY  # what they have missed
        notifications.wake("me")
        notifications.notify_followers("run")
        assert await carrier.sent.get() == "run"
        monkeypatch.setattr("tools.runs.notifications.FOLLOWED_SECONDS", 0.0)
        notifications.wake("me")
        notifications.notify_followers("run")
        notifications.notify("it was long ago")
        assert await carrier.sent.get() == "it was long ago"
    await notifications.close()


async def test_a_process_that_is_named_among_everybody_counts_as_followed_and_does_not_answer() -> None:
    carrier = Away()
    carrier.back.set()
    reading, read = Notifications(carrier, owner="me"), Notifications(carrier, owner="other")
    async with asyncio.timeout(60):
        reading.follow("other")
        reading.notify(EVERYBODY)
        read.wake(await carrier.sent.get())
        read.notify_followers("run")
        assert await carrier.sent.get() == "run"
        read.wake("other")
        assert await carrier.sent.get() == EVERYBODY
    await reading.close()
    await read.close()


async def test_a_process_is_named_as_it_is_followed_and_again_at_later_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    carrier = Away()
    carrier.back.set()
    notifications = Notifications(carrier, owner="me")
    async with asyncio.timeout(60):
        notifications.follow("other")
        assert await carrier.sent.get() == "other"
        notifications.follow("other")
        notifications.notify("not again so soon")
        assert await carrier.sent.get() == "not again so soon"
        notifications.joined()  # as after an outage
        notifications.follow("other")
        assert await carrier.sent.get() == "other"
        monkeypatch.setattr("tools.runs.notifications.NAMING_SECONDS", 0.0)
        notifications.follow("other")
        assert await carrier.sent.get() == "other"
    await notifications.close()
