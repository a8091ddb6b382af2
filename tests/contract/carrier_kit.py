"""What every carrier of notifications does. A test class inherits this and gives a carrier, and an outage of it.

That a notification is lost, comes twice or late changes nothing but time: whole runs are read through carriers that do
all of that.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from graph.events import RunFinished, payload
from tests.fakes import HeldFamily
from tests.postgres.processes import ME, log_of, process
from tools.process.engines import carriers_of
from tools.runs.event_log import RunLogs
from tools.runs.notifications import EVERYBODY, Carrier, Notifications, PostgresCarrier
from tools.settings import RunSettings, Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

Outage = Callable[[], AbstractAsyncContextManager[None]]


class Heard:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.payloads: asyncio.Queue[str] = asyncio.Queue()
        self.at = asyncio.Event()

    def wake(self, payload: str) -> None:
        self.payloads.put_nowait(payload)

    def joined(self) -> None:
        self.at.set()


@asynccontextmanager
async def listening(carrier: Carrier) -> AsyncIterator[Heard]:
    heard = Heard()
    task = asyncio.create_task(carrier.listen(heard))
    try:
        await heard.at.wait()
        yield heard
    finally:
        task.cancel()
        await asyncio.wait([task])


class Losing:
    """A carrier that loses all that arrives."""

    def __init__(self, carrier: Carrier) -> None:
        self.carrier = carrier
        self.delivered = 0

    def sending(self) -> Any:
        return self.carrier.sending()

    async def listen(self, listener: Notifications) -> None:
        through = Through(listener, self.deliver)
        try:
            await self.carrier.listen(through)
        finally:
            await through.stop()

    async def deliver(self, wake: Callable[[str], None], payload: str) -> None:
        self.delivered += 1


class Doubling(Losing):
    """A carrier that delivers twice, the second time later."""

    async def deliver(self, wake: Callable[[str], None], payload: str) -> None:
        self.delivered += 1
        wake(payload)
        await asyncio.sleep(0.01)
        wake(payload)


class Late(Losing):
    """A carrier that delivers late, every other one later than the next."""

    async def deliver(self, wake: Callable[[str], None], payload: str) -> None:
        self.delivered += 1
        await asyncio.sleep(0.02 if self.delivered % 2 else 0.05)
        wake(payload)


class Through:
    """A listener between a carrier and another listener."""

    def __init__(
        self, listener: Notifications, deliver: Callable[[Callable[[str], None], str], Awaitable[None]]
    ) -> None:
        self._listener = listener
        self._deliver = deliver
        self._under_way: set[asyncio.Future[None]] = set()

    def joined(self) -> None:
        self._listener.joined()

    def wake(self, payload: str) -> None:
        delivering = asyncio.ensure_future(self._deliver(self._listener.wake, payload))
        self._under_way.add(delivering)
        delivering.add_done_callback(self._under_way.discard)

    async def stop(self) -> None:
        for delivering in list(self._under_way):
            delivering.cancel()


class CarrierContract:
    @pytest.fixture
    def runs(self) -> dict[str, Any]:
        """The settings of runs that choose this carrier."""
        return {}

    @pytest.fixture
    async def notifications(self, carrier: Carrier) -> AsyncIterator[Notifications]:
        opened = Notifications(carrier, owner=str(uuid4()))
        yield opened
        await opened.close()

    async def test_those_of_one_moment_are_one(self, carrier: Carrier, notifications: Notifications) -> None:
        async with listening(carrier) as heard, asyncio.timeout(60):
            for number in range(3):
                notifications.notify("one", f"run {number}")
            assert set((await heard.payloads.get()).split(",")) == {"one", "run 0", "run 1", "run 2"}
            for number in range(400):
                notifications.notify(f"run {number}")
            assert await heard.payloads.get() == EVERYBODY
            assert heard.payloads.empty()

    async def test_a_waiter_is_woken_as_it_listens_and_by_each_notification(self, carrier: Carrier) -> None:
        telling, told = Notifications(carrier), Notifications(carrier)
        with told.subscribe("run") as wakeup, told.subscribe("other") as other:
            async with asyncio.timeout(60):
                await asyncio.gather(wakeup.wait(), other.wait())  # what came before is not known
                wakeup.clear()
                other.clear()
                telling.notify("run", "another")
                await wakeup.wait()
                assert not other.is_set()
        await telling.close()
        await told.close()

    async def test_a_process_hears_that_it_is_followed(self, carrier: Carrier, monkeypatch: pytest.MonkeyPatch) -> None:
        owner = str(uuid4())
        telling, told = Notifications(carrier, owner=owner), Notifications(carrier)
        monkeypatch.setattr("tools.runs.notifications.FOLLOWED_SECONDS", 0.0)  # or it would count as followed at first
        with telling.subscribe("its") as its, told.subscribe("run") as wakeup:
            async with asyncio.timeout(60):
                await asyncio.gather(its.wait(), wakeup.wait())
                monkeypatch.setattr("tools.runs.notifications.FOLLOWED_SECONDS", 30.0)
                await self.sent_all(telling, carrier)
                wakeup.clear()
                telling.notify_followers("run")  # which nobody follows
                await self.sent_all(telling, carrier)
                assert not wakeup.is_set()
                told.follow(owner)
                await wakeup.wait()  # as the process has heard of it
                wakeup.clear()
                telling.notify_followers("run")
                await wakeup.wait()
        await telling.close()
        await told.close()

    async def test_processes_that_follow_each_other_at_once_hear_each_other(
        self, carrier: Carrier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        owners = str(uuid4()), str(uuid4())
        one, other = (Notifications(carrier, owner=owner) for owner in owners)
        monkeypatch.setattr("tools.runs.notifications.FOLLOWED_SECONDS", 0.0)  # or both would count as followed
        with one.subscribe("of other") as at_one, other.subscribe("of one") as at_other:
            async with asyncio.timeout(60):
                await asyncio.gather(at_one.wait(), at_other.wait())
                at_one.clear()
                at_other.clear()
                monkeypatch.setattr("tools.runs.notifications.FOLLOWED_SECONDS", 30.0)
                one.follow(owners[1])
                other.follow(owners[0])
                await asyncio.gather(at_one.wait(), at_other.wait())  # as both have heard of it
                at_one.clear()
                at_other.clear()
                one.notify_followers("of one")
                other.notify_followers("of other")
                assert one._unsent  # the key, or everybody
                assert other._unsent
                await asyncio.gather(at_one.wait(), at_other.wait())
        await one.close()
        await other.close()

    async def sent_all(self, notifications: Notifications, carrier: Carrier) -> None:
        async with listening(carrier) as heard:
            notifications.notify("last")
            while "last" not in await heard.payloads.get():
                pass

    async def test_what_was_told_last_is_sent_before_the_process_ends(self, carrier: Carrier) -> None:
        telling = Notifications(carrier)
        async with listening(carrier) as heard, asyncio.timeout(60):
            telling.notify("last")
            await telling.close()
            assert await heard.payloads.get() == "last"

    async def test_after_an_outage_it_goes_on(
        self, carrier: Carrier, outage: Outage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tools.runs.notifications.RETRY_SECONDS", 0.05)
        telling, told = Notifications(carrier), Notifications(carrier)
        with told.subscribe("run") as wakeup:
            async with asyncio.timeout(60):
                await wakeup.wait()
                telling.notify("run")  # connects
                for _ in range(2):
                    async with outage():
                        wakeup.clear()
                        telling.notify("run")
                    await wakeup.wait()
                    await asyncio.sleep(0)
        await telling.close()
        await told.close()

    @pytest.mark.parametrize(
        ("faulty", "poll"), [(Losing, 0.05), (Doubling, 600.0), (Late, 600.0)], ids=["lost", "doubled", "late"]
    )
    async def test_a_log_is_read_whole_whatever_becomes_of_notifications(
        self,
        carrier: Carrier,
        runs: dict[str, Any],
        settings: Settings,
        database: Database,
        faulty: type[Losing],
        poll: float,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """With a poll of ten minutes only notifications can have brought the rest."""
        monkeypatch.setattr("tools.runs.event_log.POLL_SECONDS", poll)
        between = faulty(carrier)
        logs = RunLogs(database, Workspaces(database), Notifications(between))
        async with process(settings, **runs) as at, asyncio.timeout(60):
            session_id = await at.session()
            for _ in range(3):
                run = await at.ask(session_id)
                stored = await logs.find(ME, run.run_id)
                assert stored is not None
                read = await log_of(stored)
                assert [payload(each) for each in read] == [payload(each) for each in await log_of(run)]
                assert [each.seq for each in read] == list(range(1, len(read) + 1))
                assert run.task is not None
                await run.task
        await logs.notifications.close()
        assert between.delivered

    async def test_a_run_is_followed_to_the_process_that_takes_it_over(
        self,
        carrier: Carrier,
        runs: dict[str, Any],
        settings: Settings,
        database: Database,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("tools.runs.event_log.POLL_SECONDS", 600.0)
        logs = RunLogs(database, Workspaces(database), Notifications(carrier))
        async with process(settings, **runs) as second, asyncio.timeout(60):
            async with process(settings, HeldFamily(), **runs) as first:
                run = await first.ask(await first.session())
                stored = await logs.find(ME, run.run_id)
                assert stored is not None
                reading = asyncio.create_task(log_of(stored))
                while not logs.notifications._named_at:  # noqa: ASYNC110 - no event tells of it
                    await asyncio.sleep(0.01)
            second.runner.take_over_abandoned()
            read = await reading
        assert isinstance(read[-1].event, RunFinished)
        assert [each.seq for each in read] == list(range(1, len(read) + 1))
        await logs.notifications.close()

    async def test_the_settings_choose_it(self, carrier: Carrier, runs: dict[str, Any], database: Database) -> None:
        opened = Notifications(PostgresCarrier(database.url), *carriers_of(RunSettings(**runs)))
        async with listening(carrier) as heard, asyncio.timeout(60):
            opened.notify("chosen")
            assert await heard.payloads.get() == "chosen"
        await opened.close()
