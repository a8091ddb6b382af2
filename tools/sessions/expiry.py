"""Delete what has expired: idle and ephemeral sessions with their checkpoints, and the logs of runs."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Literal

from psycopg.types.json import Jsonb

from graph.errors import DatabaseUnavailable
from tools.auth.audit_log import expire_audit
from tools.auth.document_links import expire_links
from tools.auth.limits import expire_limits
from tools.library.job_store import expire_jobs
from tools.library.versions import expire_versions
from tools.runs.log_days import add_days, count_old_events, expire_events
from tools.sessions.checkpoints import delete_threads
from tools.sessions.shares import expire_shares
from tools.settings import Settings
from tools.spending.charges import Spending
from tools.storage.database import TAKES_CHANGES, Connection, Database

log = logging.getLogger("citewell.sessions")

HOUR_SECONDS = 3600.0
SESSIONS_AT_ONCE = 100
USUAL_DAYS = 7
KEPT_DIALECTS = ("docmost", "conversation", "id_citations")  # the documents of their clients know no end of a session

# A run whose lease expired more than an hour ago will not be continued.
_IN_PROGRESS = """
EXISTS (SELECT 1 FROM runs WHERE runs.session_id = sessions.session_id AND status <> 'finished'
        AND greatest(runs.created_at, lease_until) > now() - interval '1 hour')
"""
# A dialect with days of its own counts by those, any other by the days under the empty name; null is never.
_DAYS = "(CASE WHEN %(days)s ? dialect THEN %(days)s ->> dialect ELSE %(days)s ->> '' END)::integer"
_OVER = f"""
(expires_at < now() OR NOT ephemeral AND updated_at < now() - make_interval(days => {_DAYS})) AND {TAKES_CHANGES}
"""
_COUNT = f"""
SELECT count(*) FILTER (WHERE NOT ephemeral), count(*) FILTER (WHERE ephemeral) FROM sessions
WHERE {_OVER} AND NOT {_IN_PROGRESS}
"""
# The lock prevents a run from being inserted while its session is deleted. Active runs are checked after it is taken,
# by a separate statement, which sees everything committed until then.
_LOCK = f"""
SELECT session_id FROM sessions WHERE {_OVER} AND session_id > %(after)s
ORDER BY session_id LIMIT {SESSIONS_AT_ONCE} FOR UPDATE SKIP LOCKED
"""
_DELETE = f"""
DELETE FROM sessions WHERE session_id = ANY(%(locked)s) AND NOT {_IN_PROGRESS} RETURNING session_id::text, ephemeral
"""
_FIRST = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Expired:
    """How many idle sessions, ephemeral sessions, events of finished runs and ended jobs were deleted, or would be."""

    sessions: int
    ephemeral_sessions: int
    run_events: int
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class Retention:
    """How many days a session is kept after its last use, by the dialect that it was made in; None is for ever."""

    days: int | None
    by_dialect: Mapping[str, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> "Retention":
        """Return what the settings say; where they say nothing at all, each dialect has its usual days."""
        usual = {} if settings.session_days is not None else dict.fromkeys(KEPT_DIALECTS)
        named = {dialect: _days(value) for dialect, value in settings.session_days_by_dialect.items()}
        return cls(_days(settings.session_days or USUAL_DAYS), {**usual, **named})

    def __str__(self) -> str:
        """Say it in words, such as "7 days or more (docmost: never)"."""
        usual = "never" if self.days is None else f"{self.days} days or more"
        others = [f"{dialect}: {'never' if days is None else days}" for dialect, days in self.by_dialect.items()]
        return f"{usual} ({', '.join(others)})" if others else usual

    @property
    def parameter(self) -> Jsonb:
        """The days by dialect, as the statements take them."""
        return Jsonb({**self.by_dialect, "": self.days})


def _days(value: int | Literal["never"]) -> int | None:
    return None if value == "never" else value


async def expire(
    database: Database,
    *,
    retention: Retention,
    job_days: int = 7,
    dry_run: bool = False,
    spending: Spending | None = None,
) -> Expired:
    """Delete sessions unused for longer than they are kept, expired ephemeral ones, old event logs, and ended jobs.

    With ``spending`` also what was spent longer ago than is kept of it.
    Works in batches, each in its own transaction, and never deletes a session with a run in progress. ``dry_run`` only
    counts. Raises DatabaseUnavailable; batches that are already deleted stay deleted.
    """
    async with database.connection() as connection:
        if dry_run:
            idle, ephemeral = await _count(connection, _COUNT, retention)
            events = await count_old_events(connection)
            return Expired(idle, ephemeral, events, await expire_jobs(database, days=job_days, dry_run=True))
        await add_days(connection)
        deleted = await _delete_sessions(connection, retention)
        events = await expire_events(connection)
    if spending is not None:
        await spending.expire()
    return Expired(len(deleted) - sum(deleted), sum(deleted), events, await expire_jobs(database, days=job_days))


async def expire_hourly(
    database: Database,
    *,
    retention: Retention,
    job_days: int,
    link_days: int,
    version_days: int,
    audit_days: int,
    spending: Spending | None = None,
) -> None:
    """Run ``expire``, and that of all else that ends, now and every hour until cancelled.

    After a database failure, it is tried again at the next hour.
    """
    while True:
        try:
            expired = await expire(database, retention=retention, job_days=job_days, spending=spending)
            await expire_links(database, days=link_days)
            await expire_versions(database, days=version_days)
            await expire_audit(database, days=audit_days)
            await expire_limits(database)
            await expire_shares(database)
        except DatabaseUnavailable as error:
            log.warning("nothing could be expired: %s", error.message)
        else:
            if any(astuple(expired)):
                log.info("expired %d sessions, %d ephemeral ones, %d events, %d jobs", *astuple(expired))
        await asyncio.sleep(HOUR_SECONDS)


async def _delete_sessions(connection: Connection, retention: Retention) -> list[bool]:
    """Delete expired sessions; return for each deleted one whether it was ephemeral."""
    ephemeral: list[bool] = []
    after = _FIRST
    while True:
        async with connection.transaction():
            rows = await (await connection.execute(_LOCK, {"days": retention.parameter, "after": after})).fetchall()
            if not rows:
                return ephemeral
            locked = [row[0] for row in rows]
            deleted = await (await connection.execute(_DELETE, {"locked": locked})).fetchall()
            await delete_threads(connection, [row[0] for row in deleted])
        ephemeral += [row[1] for row in deleted]
        after = locked[-1]


async def _count(connection: Connection, query: str, retention: Retention) -> tuple[int, ...]:
    row = await (await connection.execute(query, {"days": retention.parameter})).fetchone()
    assert row is not None
    return tuple(row)
