"""The log of runs in partitions by day: made ahead, read one at a time, dropped when no run needs them any more."""

import asyncio
import time
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.postgres.processes import ME, log_of, process
from tools.process.expiry import Expired, Retention, expire
from tools.runs.live_run import new_run_id
from tools.runs.log_days import DAYS_AHEAD, LOG_HOURS, add_days
from tools.sessions.session_store import Sessions
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

WEEK = Retention(7)
TODAY = "(now() AT TIME ZONE 'UTC')::date"
# As processes of the release before this partitioning say it.
OLDER_INSERT = """
INSERT INTO run_events (run_id, seq, type, payload) VALUES (%s, %s, 'queued', '{}') ON CONFLICT (run_id, seq) DO NOTHING
"""
OLDER_SWEEP = """
DELETE FROM run_events WHERE ctid = ANY(array(SELECT run_events.ctid FROM
run_events JOIN runs USING (run_id)
WHERE run_events.created_at < now() - interval '24 hours'
  AND runs.status = 'finished' AND runs.finished_at < now() - interval '24 hours'
 LIMIT 10000))
"""


async def rows(database: Database, query: str, *values: Any) -> list[tuple[Any, ...]]:
    async with database.connection() as connection:
        found = await connection.execute(query.encode(), values or None)
        return await found.fetchall() if found.description else []


async def partitions(database: Database) -> list[str]:
    found = await rows(
        database,
        "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'run_events'::regclass",
    )
    return sorted(name for (name,) in found)


async def day_added(database: Database, ago: int) -> str:
    """Make the partition of a day that is over; return its name."""
    await rows(database, f"SELECT add_log_day({TODAY} - {ago})")
    [(name,)] = await rows(database, f"SELECT 'run_events_' || to_char({TODAY} - {ago}, 'YYYYMMDD')")
    return str(name)


async def logged(
    database: Database, session_id: str, run_id: str, *, ended: str | None, events: int = 3, logged: str = "30 hours"
) -> str:
    """Write a run and its log, the events so long ago, the end, if it has one, too."""
    status, outcome = ("running", None) if ended is None else ("finished", "failed")
    await rows(
        database,
        'INSERT INTO runs (run_id, session_id, workspace, "user", question, status, outcome, stop_reason, finished_at)'
        " SELECT %s, session_id, workspace, \"user\", 'Q', %s, %s, %s, now() - %s::interval FROM sessions"
        " WHERE session_id = %s",
        *(run_id, status, outcome, outcome, ended, session_id),
    )
    await rows(
        database,
        "INSERT INTO run_events (run_id, seq, type, payload, created_at)"
        " SELECT %s, seq, 'queued', '{}', now() - %s::interval FROM generate_series(1, %s) AS seq",
        *(run_id, logged, events),
    )
    return run_id


async def run_id_of(database: Database, ago: int) -> str:
    """Return the id of a run made so many days ago."""
    [(first,)] = await rows(database, f"SELECT first_run_id({TODAY} - {ago})")
    return str(UUID(int=first.int + UUID(new_run_id()).int % (1 << 74)))


async def where(database: Database, run_id: str) -> set[str]:
    """Return the partitions that have events of a run."""
    found = await rows(database, "SELECT DISTINCT tableoid::regclass::text FROM run_events WHERE run_id = %s", run_id)
    return {name for (name,) in found}


@pytest.fixture(autouse=True)
def days_of_today(database_url: str, same_day: None) -> None:
    """Make the days anew: those of the template are of yesterday where midnight came since."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for (name,) in connection.execute(
            "SELECT relname FROM pg_class WHERE relname ~ '^run_events_[0-9]{8}$'"
        ).fetchall():
            connection.execute(f"DROP TABLE {name}".encode())
        connection.execute(
            f"SELECT add_log_day({TODAY} + ahead) FROM generate_series(0, {DAYS_AHEAD}) AS ahead".encode()
        )


@pytest.fixture
async def session_id(database: Database) -> str:
    return (await Sessions(database, Workspaces(database)).create(ME)).session_id


def test_the_id_of_a_run_begins_with_its_time() -> None:
    before = time.time_ns() // 1_000_000
    made = [UUID(new_run_id()) for _ in range(50)]
    assert len(set(made)) == 50
    assert {(each.version, each.variant) for each in made} == {(7, "specified in RFC 4122")}
    assert all(before <= each.int >> 80 <= time.time_ns() // 1_000_000 for each in made)


async def test_a_run_is_logged_and_read_in_the_partition_of_its_day(settings: Settings) -> None:
    async with process(settings) as at:
        run = await at.ask(await at.session())
        await log_of(run)
        assert run.task is not None
        await run.task
        days = await partitions(at.database)
        assert len(days) == DAYS_AHEAD + 2
        assert days[-1] == "run_events_default"
        [day] = await where(at.database, run.run_id)
        assert day in days[:2], "the day of the migration, or the next if it is midnight"
        plan = await at.rows(
            "EXPLAIN SELECT seq, payload FROM run_events WHERE run_id = %s AND seq > %s ORDER BY seq LIMIT %s",
            *(run.run_id, 0, 500),
        )
        assert "\n".join(line for (line,) in plan).count(f" on {day}") == 1
        assert len([line for (line,) in plan if " on run_events" in line]) == 1
        stored = await at.runner.join(ME, run.run_id)
        assert [envelope.seq for envelope in await log_of(stored)] == list(range(1, run.last_seq + 1))


async def test_an_event_is_logged_once_also_by_a_process_of_the_release_before(
    database: Database, session_id: str
) -> None:
    for run_id in (new_run_id(), str(uuid4())):
        await logged(database, session_id, run_id, ended="0 hours", events=1)
        for seq in (1, 2, 2):
            await rows(database, OLDER_INSERT, run_id, seq)
        found = await rows(database, "SELECT seq FROM run_events WHERE run_id = %s ORDER BY seq", run_id)
        assert found == [(1,), (2,)]
        with pytest.raises(psycopg.errors.UniqueViolation):
            await rows(database, "INSERT INTO run_events (run_id, seq, type, payload) VALUES (%s, 1, 'q', '')", run_id)
    assert await where(database, run_id) == {"run_events_default"}


async def test_days_are_made_ahead_and_a_missing_one_loses_no_event(database: Database, session_id: str) -> None:
    before = await partitions(database)
    for name in before[:-1]:
        await rows(database, f"DROP TABLE {name}")
    early = await logged(database, session_id, new_run_id(), ended="0 hours")
    assert await where(database, early) == {"run_events_default"}
    await expire(database, retention=WEEK)
    days = await partitions(database)
    assert days[-DAYS_AHEAD - 1 :] == before[-DAYS_AHEAD - 1 :], "all but the day of which the default has some already"
    late = await logged(database, session_id, new_run_id(), ended="0 hours")
    for run_id in (early, late):
        assert await rows(database, "SELECT count(*) FROM run_events WHERE run_id = %s", run_id) == [(3,)]


async def test_a_day_is_dropped_when_each_of_its_runs_ended_a_day_ago(database: Database, session_id: str) -> None:
    day, kept = await day_added(database, 4), await partitions(database)
    kept.remove(day)
    for _ in range(4):
        await logged(database, session_id, await run_id_of(database, 4), ended=f"{LOG_HOURS + 1} hours")
    yesterday = await day_added(database, 1)
    recent = await logged(database, session_id, await run_id_of(database, 1), ended="25 hours")
    assert await expire(database, retention=WEEK, dry_run=True) == Expired(0, 0, 12)
    assert day in await partitions(database)
    gone = await asyncio.gather(*(expire(database, retention=WEEK) for _ in range(2)))
    assert sum(each.run_events for each in gone) == 12
    assert await partitions(database) == sorted([*kept, yesterday])
    assert await where(database, recent) == {yesterday}
    assert await expire(database, retention=WEEK) == Expired(0, 0, 0)


@pytest.mark.parametrize("ended", [None, "23 hours"])
async def test_a_day_stays_for_a_run_that_needs_it_and_old_events_of_others_go(
    database: Database, session_id: str, ended: str | None
) -> None:
    day = await day_added(database, 3)
    await logged(database, session_id, await run_id_of(database, 3), ended="50 hours")
    needed = await logged(database, session_id, await run_id_of(database, 3), ended=ended, events=2)
    assert await expire(database, retention=WEEK, dry_run=True) == Expired(0, 0, 3)
    assert await expire(database, retention=WEEK) == Expired(0, 0, 3)
    assert await rows(database, f"SELECT run_id::text, seq FROM {day} ORDER BY seq") == [(needed, 1), (needed, 2)]
    await rows(database, "UPDATE runs SET status = 'finished', outcome = 'failed', stop_reason = 'x'")
    await rows(database, "UPDATE runs SET finished_at = now() - interval '25 hours'")
    assert await expire(database, retention=WEEK) == Expired(0, 0, 2)
    assert day not in await partitions(database)


async def test_a_log_that_is_in_use_is_dropped_another_time_and_holds_nobody_up(
    database: Database, session_id: str
) -> None:
    """A dump holds every table for as long as it takes."""
    day = await day_added(database, 3)
    await rows(database, "DROP TABLE " + (await partitions(database))[-2])
    await logged(database, session_id, await run_id_of(database, 3), ended="50 hours")
    before = await partitions(database)
    async with database.connection() as connection, connection.transaction():
        await connection.execute("LOCK TABLE run_events IN ACCESS SHARE MODE")
        assert await expire(database, retention=WEEK) == Expired(0, 0, 0)
        assert await partitions(database) == before
        await logged(database, session_id, new_run_id(), ended="0 hours")
    assert await expire(database, retention=WEEK) == Expired(0, 0, 3)
    after = await partitions(database)
    assert day not in after
    assert len(after) == len(before), "the one that was missing is there"


async def test_a_run_takes_its_log_along_from_every_partition(database: Database) -> None:
    sessions = Sessions(database, Workspaces(database))
    mine, other = [(await sessions.create(ME)).session_id for _ in range(2)]
    kept = [await logged(database, other, each, ended="0 hours") for each in (new_run_id(), str(uuid4()))]
    for run_id in (new_run_id(), str(uuid4())):
        await logged(database, mine, run_id, ended="0 hours")
    await sessions.delete(ME, mine)
    assert {str(run_id) for (run_id,) in await rows(database, "SELECT DISTINCT run_id FROM run_events")} == set(kept)


async def test_the_sweep_of_the_release_before_deletes_nothing_of_another_partition(
    database: Database, session_id: str
) -> None:
    """It names rows by ctid, and the same ctid is a row in every partition."""
    await logged(database, session_id, str(uuid4()), ended="25 hours")
    going_on = await logged(database, session_id, new_run_id(), ended=None)
    assert len(await rows(database, "SELECT DISTINCT ctid FROM run_events")) == 3
    await rows(database, OLDER_SWEEP)
    assert await rows(database, "SELECT count(*) FROM run_events") == [(6,)]
    assert await expire(database, retention=WEEK) == Expired(0, 0, 3)
    assert await rows(database, "SELECT DISTINCT run_id::text FROM run_events") == [(going_on,)]


async def test_days_that_are_there_cost_one_question(database: Database) -> None:
    async with database.connection() as connection:
        await add_days(connection)
        before = await partitions(database)
        await add_days(connection)
    assert await partitions(database) == before
