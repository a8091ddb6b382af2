"""The log of runs by day: partitions are made ahead, and dropped when no run of their day needs them any more.

A run's id begins with the time at which it was made, so that the id alone says which partition has its events. Days
without a partition are in the default one, where events are deleted one by one.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date

from psycopg import errors, sql

from tools.storage.database import Connection, value_of

log = logging.getLogger("citewell.runs")

LOG_HOURS = 24  # that the log of a finished run is kept for at least
DAYS_AHEAD = 3
EVENTS_AT_ONCE = 10_000
LOCK_TIMEOUT = "200ms"  # that readers and writers of the log may wait behind us, where something else holds the table
DEFAULT = "run_events_default"

_MISSING = """
SELECT day FROM (SELECT (now() AT TIME ZONE 'UTC')::date + ahead AS day FROM generate_series(0, %s) AS ahead) AS days
WHERE to_regclass('run_events_' || to_char(day, 'YYYYMMDD')) IS NULL ORDER BY day
"""
_OLD = f"""
SELECT day FROM (
    SELECT to_date(right(relname, 8), 'YYYYMMDD') AS day FROM pg_inherits JOIN pg_class ON oid = inhrelid
    WHERE inhparent = 'run_events'::regclass AND relname ~ '^run_events_[0-9]{{8}}$'
) AS days
WHERE day < (now() AT TIME ZONE 'UTC' - interval '{LOG_HOURS} hours')::date ORDER BY day
"""
_OF_DAY = "run_id >= first_run_id(%(day)s::date) AND run_id < first_run_id(%(day)s::date + 1)"
_NEEDS_LOG = f"(status <> 'finished' OR finished_at > now() - interval '{LOG_HOURS} hours')"
_IS_NEEDED = f"SELECT EXISTS (SELECT FROM runs WHERE {_OF_DAY} AND {_NEEDS_LOG})"
_IS_WRITTEN = f"SELECT EXISTS (SELECT FROM runs WHERE {_OF_DAY} AND status <> 'finished')"
_OVER = f"""
FROM {{table}} AS events WHERE created_at < now() - interval '{LOG_HOURS} hours'
    AND NOT EXISTS (SELECT FROM runs WHERE runs.run_id = events.run_id AND {_NEEDS_LOG})
"""
_DELETE = f"DELETE FROM {{table}} WHERE ctid = ANY (array(SELECT ctid {_OVER} LIMIT {EVENTS_AT_ONCE}))"


async def add_days(connection: Connection) -> None:
    """Make the partitions of today and of the days to come that are not there yet.

    A day stays in the default partition if that has some of it already, and is tried again later if something holds
    the table.
    """
    missing = await (await connection.execute(_MISSING, [DAYS_AHEAD])).fetchall()
    for (day,) in missing:
        try:
            async with _alone(connection):
                await connection.execute("SELECT add_log_day(%s)", [day])
        except (errors.CheckViolation, errors.DuplicateTable):
            log.info("the log of %s has no partition of its own", day)
        except errors.LockNotAvailable:
            log.info("the partition of the log of %s is made later: the log is in use", day)


async def expire_events(connection: Connection, *, dry_run: bool = False) -> int:
    """Drop the days whose runs have all ended more than 24 hours ago; return how many events went, or would go.

    Where a run still needs its day, and in the default partition, the old events of others are deleted.
    """
    total = 0
    kept = []
    for day in await _old_days(connection):
        try:
            dropped = None if await _holds(connection, _IS_NEEDED, day) else await _drop(connection, day, dry_run)
        except errors.LockNotAvailable:
            log.info("the log of %s is dropped later: it is in use", day)
            continue
        except errors.UndefinedTable:  # another process has dropped it
            continue
        if dropped is None:
            kept.append(day)
        total += dropped or 0
    for table in (sql.Identifier(DEFAULT), *map(_table, kept)):
        total += await _delete(connection, table, dry_run)
    return total


async def _drop(connection: Connection, day: date, dry_run: bool) -> int | None:
    """Drop a day; return how many events it had, or None where a run of a process with a wrong clock came into it."""
    events: int = await value_of(connection, sql.SQL("SELECT count(*) FROM {table}").format(table=_table(day)))
    if dry_run:
        return events
    async with _alone(connection):
        await connection.execute("LOCK TABLE ONLY run_events IN ACCESS EXCLUSIVE MODE")
        if await _holds(connection, _IS_WRITTEN, day):
            return None
        await connection.execute(sql.SQL("DROP TABLE {}").format(_table(day)))
    return events


async def _delete(connection: Connection, table: sql.Identifier, dry_run: bool) -> int:
    if dry_run:
        return int(await value_of(connection, sql.SQL(f"SELECT count(*) {_OVER}").format(table=table)))
    total = 0
    while True:
        deleted = (await connection.execute(sql.SQL(_DELETE).format(table=table))).rowcount
        total += deleted
        if deleted < EVENTS_AT_ONCE:
            return total


@asynccontextmanager
async def _alone(connection: Connection) -> AsyncIterator[None]:
    """Open a transaction that waits for no lock for long, and in which no other process changes the partitions."""
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext('log days'))")
        yield


async def _old_days(connection: Connection) -> list[date]:
    return [day for (day,) in await (await connection.execute(_OLD)).fetchall()]


async def _holds(connection: Connection, question: str, day: date) -> bool:
    return bool(await value_of(connection, question, {"day": day}))


def _table(day: date) -> sql.Identifier:
    return sql.Identifier(f"run_events_{day:%Y%m%d}")
