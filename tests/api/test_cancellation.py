"""A run ends once wherever it is cancelled, as the ledger says, and only when the last of its readers has left."""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from fastapi import Request

from api.dialects.native.encoder import NativeEncoder
from api.stream import RunStream, wait_for_end
from graph.events import TERMINAL, RunFailed, RunFinished
from tests.fakes import HeldFamily
from tests.postgres.test_runs import desk, log_of
from tools.runs.live_run import Run
from tools.storage.database import Database

RUNS = 60


async def test_a_run_ends_once_wherever_it_is_cancelled(database: Database) -> None:
    chance = random.Random(7)
    async with desk(database) as at:
        took = []
        for _ in range(5):
            began = time.perf_counter()
            await log_of(await at.start())
            took.append(time.perf_counter() - began)
        for place in range(RUNS):
            run = await at.start()
            if place:
                await asyncio.sleep(chance.uniform(0, 1.1) * min(took))
            leaving = [asyncio.create_task(run.cancel("client_disconnected")) for _ in range(place % 3)]
            await run.cancel("cancel_requested")
            await asyncio.gather(*leaving)
            async with asyncio.timeout(60):
                log = await log_of(run)
            ends = [envelope.event for envelope in log if isinstance(envelope.event, TERMINAL)]
            assert ends == [log[-1].event]
            [(status, outcome)] = await at.rows(f"SELECT status, outcome FROM runs WHERE run_id = '{run.run_id}'")
            assert (status, outcome) == ("finished", getattr(ends[0], "outcome", "failed"))


class Reader:
    """A client that stays connected until it leaves."""

    def __init__(self) -> None:
        self._left = asyncio.Event()

    def leave(self) -> None:
        self._left.set()

    async def receive(self) -> dict[str, Any]:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def wait(self, run: Run) -> RunFinished | RunFailed:
        """Ask for the finished run as JSON."""
        return await wait_for_end(run, Request({"type": "http"}, self.receive), "cancel")

    async def follow(self, run: Run) -> RunFinished | RunFailed:
        """Ask for the run as a stream, and return its end once the stream is over."""

        async def send(_: Any) -> None:
            """Accept it."""

        await RunStream(run, NativeEncoder(), "cancel")({"type": "http", "method": "POST"}, self.receive, send)
        return await run.finished()


Reading = Callable[[Reader, Run], Coroutine[Any, Any, RunFinished | RunFailed]]


@pytest.mark.parametrize(
    ("leaves", "stays"),
    [(Reader.wait, Reader.follow), (Reader.follow, Reader.wait), (Reader.wait, Reader.wait)],
    ids=["a stream stays", "who waits for JSON stays", "another who waits for JSON stays"],
)
async def test_a_run_goes_on_for_the_reader_that_stays(database: Database, leaves: Reading, stays: Reading) -> None:
    family = HeldFamily()
    async with desk(database, family) as at:
        run = await at.start()
        leaving, staying = Reader(), Reader()
        readings = [asyncio.create_task(leaves(leaving, run)), asyncio.create_task(stays(staying, run))]
        await family.writing.wait()
        leaving.leave()
        async with asyncio.timeout(60):
            while run.watchers > 1:  # noqa: ASYNC110 - no event tells of it
                await asyncio.sleep(0)
        family.released.set()
        ends = await asyncio.gather(*readings)
    assert [getattr(end, "outcome", "failed") for end in ends] == ["answered", "answered"]


@pytest.mark.parametrize("reading", [Reader.wait, Reader.follow])
async def test_a_run_is_cancelled_when_the_last_of_its_readers_leaves(database: Database, reading: Reading) -> None:
    family = HeldFamily()
    async with desk(database, family) as at:
        run = await at.start()
        leaving, staying = Reader(), Reader()
        readings = [asyncio.create_task(each) for each in (Reader.wait(leaving, run), reading(staying, run))]
        await family.writing.wait()
        leaving.leave()
        staying.leave()
        ends = await asyncio.gather(*readings)
    assert [getattr(end, "stop_reason", "") for end in ends] == ["client_disconnected"] * 2
