"""Wherever a run is when it is cancelled, and however often, it ends once, and the ledger says the same."""

import asyncio
import random
import time

from graph.events import TERMINAL
from tests.postgres.test_runs import desk, log_of
from tools.storage.database import Database

RUNS = 120


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
