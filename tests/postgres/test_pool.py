"""What a pool gets back from tasks that are cancelled, however often and at whatever point."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from random import Random

import psycopg
import pytest

from tools.storage.database import Connection, Pool

MOST_STEPS = 30  # of the event loop before a task is cancelled: by then each of them has ended
Work = Callable[[Connection], Awaitable[None]]


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    async with Pool(database_url, min_size=1, max_size=1, timeout=10, kwargs={"autocommit": True}) as pool:
        yield pool


async def in_a_pipeline(connection: Connection) -> None:
    async with connection.pipeline():
        await connection.execute("SELECT set_config('enable_seqscan', 'off', true)", prepare=True)
        await (await connection.execute("SELECT pg_sleep(0.002)")).fetchall()


async def in_a_transaction_in_a_pipeline(connection: Connection) -> None:
    async with connection.pipeline(), connection.transaction():
        await (await connection.execute("SELECT pg_sleep(0.002)")).fetchone()
        await connection.execute("SELECT 1")


async def in_a_transaction(connection: Connection) -> None:
    async with connection.transaction():
        await connection.execute("SELECT pg_sleep(0.002)")


@pytest.mark.parametrize("work", [in_a_pipeline, in_a_transaction_in_a_pipeline, in_a_transaction])
@pytest.mark.parametrize("cancels", [1, 3])
async def test_what_is_done_after_a_cancelled_task_is_done(
    pool: Pool, database_url: str, work: Work, cancels: int
) -> None:
    async def borrow() -> None:
        async with pool.connection() as connection:
            await work(connection)

    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as other:
        await other.execute("CREATE TABLE done (step integer)")
        for steps in range(MOST_STEPS):
            task = asyncio.create_task(borrow())
            for _ in range(steps):
                await asyncio.sleep(0)
            for _ in range(cancels):
                task.cancel()
                await asyncio.sleep(0)
            await asyncio.wait([task])
            async with pool.connection() as connection:
                await connection.execute("INSERT INTO done VALUES (%s)", [steps])
                assert await (await connection.execute("SELECT 7")).fetchone() == (7,)
            found = await other.execute("SELECT count(*) FROM done")
            assert await found.fetchone() == (steps + 1,), "it is committed, and others see it"


async def test_no_connection_is_lost_on_its_way_back(pool: Pool) -> None:
    """While others wait for the only connection, all are cancelled thrice, at whatever points of getting and giving it.

    The points are of the clock: a pool that loses connections is found out in every third run or so.
    """

    async def borrow() -> None:
        async with pool.connection() as connection:
            await in_a_transaction_in_a_pipeline(connection)

    async def cancelled(*pauses: float) -> None:
        task = asyncio.create_task(borrow())
        for seconds in pauses:
            await asyncio.sleep(seconds)
            task.cancel()
        await asyncio.wait([task])

    chance = Random(7)
    for _ in range(60):
        await asyncio.gather(*[cancelled(chance.uniform(0, 0.012), chance.uniform(0, 0.001), 0) for _ in range(8)])
        async with pool.connection() as connection:
            assert await (await connection.execute("SELECT 7")).fetchone() == (7,)
