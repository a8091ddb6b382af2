"""What a process holds of its notifications while nothing carries them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import ref

from tools.runs.notifications import CHANNEL, EVERYBODY, MOST_NAMED, Listener, Notifications, Send


class Key(str):
    """The id of a run, of which can be told whether anything holds it."""


class Away:
    """A carrier that can't be reached until it is back."""

    def __init__(self) -> None:
        self.back = asyncio.Event()
        self.sent: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def listen(self, listener: Listener, changed: asyncio.Event) -> None:
        await asyncio.Event().wait()

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[Send]:
        await self.back.wait()

        async def send(channel: str, payload: str) -> None:
            self.sent.put_nowait((channel, payload))

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
        assert await carrier.sent.get() == (CHANNEL, EVERYBODY)
        notifications.notify("one", "another")
        assert await carrier.sent.get() == (CHANNEL, "one,another")
    await notifications.close()


async def test_as_many_as_one_notification_names_are_named_after_an_outage() -> None:
    carrier = Away()
    notifications = Notifications(carrier)
    keys = [str(number) for number in range(MOST_NAMED)]
    for key in (*keys, *keys):
        notifications.notify(key)
    async with asyncio.timeout(60):
        carrier.back.set()
        assert await carrier.sent.get() == (CHANNEL, ",".join(keys))
    await notifications.close()
