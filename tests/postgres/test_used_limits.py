"""Limits of credentials, as they are counted in the database."""

import asyncio
from datetime import time, timedelta, timezone

import pytest

from graph.errors import RateLimited
from graph.evidence import Identity
from tools.auth.identities import Grant, Limits
from tools.auth.limits import UsedLimits, expire_limits
from tools.storage.database import Database


def limited(credential: str = "key:one", **limits: int) -> Grant:
    return Grant(Identity(), ("default",), credential=credential, limits=Limits(**limits))


async def refused(database: Database, grant: Grant, address: str = "203.0.113.7") -> int:
    """Return the seconds to wait that a request is told, 0 if it is let through."""
    try:
        await UsedLimits(database).take_request(grant, address)
    except RateLimited as error:
        return error.retry_after
    return 0


async def test_a_minutes_requests_may_come_at_once_and_then_one_a_step(database: Database) -> None:
    grant = limited(a_minute=7)
    waits = await asyncio.gather(*(refused(database, grant) for _ in range(20)))
    assert waits.count(0) == 7
    assert set(waits) - {0} <= set(range(1, 10))  # a seventh of a minute
    async with database.connection() as connection:
        await connection.execute("UPDATE used_limits SET full_at = full_at - interval '18 seconds'")
    assert [await refused(database, grant) > 0 for _ in range(3)] == [False, False, True]
    assert not await refused(database, limited("key:two", a_minute=7))
    assert not await refused(database, limited())


async def test_an_address_over_its_limit_uses_up_nothing_of_the_others(database: Database) -> None:
    grant = limited(a_minute=4, a_minute_by_address=2)
    assert [await refused(database, grant, "203.0.113.7") > 0 for _ in range(5)] == [False, False, True, True, True]
    assert [await refused(database, grant, "203.0.113.8") > 0 for _ in range(2)] == [False, False]
    assert await refused(database, grant, "203.0.113.9")  # in all
    same = limited("key:two", a_minute_by_address=1)
    for first, second, is_same in (
        ("2001:db8:1:2::3", "2001:db8:1:2:ffff::4", True),
        ("2001:db8:1:2::3", "2001:db8:1:3::3", False),
        ("::ffff:198.51.100.1", "198.51.100.1", True),
        ("fe80::1%eth0", "fe80::2", True),
    ):
        async with database.connection() as connection:
            await connection.execute("DELETE FROM used_limits")
        assert not await refused(database, same, first)
        assert (await refused(database, same, second) > 0) == is_same, (first, second)


@pytest.mark.usefixtures("same_day")
async def test_runs_are_counted_by_the_day_and_given_back_where_none_begins(database: Database) -> None:
    grant, used = limited(runs_a_day=2), UsedLimits(database)
    for _ in range(3):
        await used.take_run(grant)
        await used.give_back_run(grant)
    await used.take_run(grant)
    await used.take_run(grant)
    with pytest.raises(RateLimited, match="2 questions a day") as error:
        await used.take_run(grant)
    assert 1 <= error.value.retry_after <= 86_400
    await expire_limits(database)
    with pytest.raises(RateLimited):
        await used.take_run(grant)
    async with database.connection() as connection:
        await connection.execute("UPDATE used_limits SET full_at = full_at - interval '1 day'")
    await expire_limits(database)
    async with database.connection() as connection:
        assert await (await connection.execute("SELECT 1 FROM used_limits")).fetchone() is None
    await used.take_run(grant)


async def test_a_day_of_runs_begins_where_the_deployment_says(database: Database) -> None:
    """Limits of spending went by the deployment's time zone, and those of keys by UTC."""
    zone = timezone(timedelta(hours=5, minutes=30))
    for _ in range(2):
        await UsedLimits(database, zone).take_run(limited(runs_a_day=2))
    with pytest.raises(RateLimited, match=r"a day .UTC.05:30."):
        await UsedLimits(database, zone).take_run(limited(runs_a_day=2))
    async with database.connection() as connection:
        rows = await (await connection.execute("SELECT full_at, used FROM used_limits")).fetchall()
    ((ends, used),) = rows
    assert (ends.astimezone(zone).time(), used) == (time(), 2)
    await UsedLimits(database, zone).give_back_run(limited(runs_a_day=2))
    await UsedLimits(database, zone).take_run(limited(runs_a_day=2))
