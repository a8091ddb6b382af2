"""Notifications between processes: many at once are one, and a lost connection loses none."""

import asyncio

import psycopg

from tools.runs.notifications import CHANNEL, Notifications

SENDERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE %s"


async def test_notifications_of_the_same_moment_are_one(database_url: str) -> None:
    notifications = Notifications(database_url)
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        await connection.execute(f"LISTEN {CHANNEL}")
        for number in range(3):
            notifications.notify("one", f"run {number}")
        received = [each.payload async for each in connection.notifies(stop_after=1)]
        assert [set(payload.split(",")) for payload in received] == [{"one", "run 0", "run 1", "run 2"}]
        for number in range(400):
            notifications.notify(f"run {number}")
        assert [each.payload async for each in connection.notifies(stop_after=1)] == ["*"]
    await notifications.close()


async def test_a_waiter_is_woken_where_the_senders_connection_was_lost(database_url: str) -> None:
    notifications = Notifications(database_url)
    with notifications.subscribe("first") as first, notifications.subscribe("second") as second:
        async with asyncio.timeout(60):
            await first.wait()  # all are woken as listening begins
            second.clear()
            first.clear()
            notifications.notify("first")
            await first.wait()
            async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
                found = await (await connection.execute(SENDERS, ["%pg_notify(%"])).fetchall()
            assert found == [(True,)]
            notifications.notify("second")
            await second.wait()
    await notifications.close()
