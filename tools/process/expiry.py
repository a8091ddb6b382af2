"""Delete what has expired: idle and ephemeral sessions with their checkpoints, and the logs of runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from psycopg.types.json import Jsonb

from graph.errors import DatabaseUnavailable
from tools.auth.audit_log import expire_audit
from tools.auth.document_links import expire_links
from tools.auth.limits import expire_limits
from tools.library.git_cache import remove_unused
from tools.library.job_store import JOB_DAYS, expire_jobs
from tools.library.versions import VERSION_DAYS, expire_versions
from tools.retrieval.selections import delete_selections
from tools.runs.log_days import add_days, expire_events
from tools.runs.verdict_upgrades import VerdictUpgrades
from tools.sessions.pruning import delete_threads
from tools.sessions.shares import expire_shares
from tools.settings import Settings
from tools.spending.charges import Spending
from tools.storage.database import TAKES_CHANGES, Connection, Database

log = logging.getLogger("citewell.sessions")

HOUR_SECONDS = 3600.0
SESSIONS_AT_ONCE = 100
USUAL_DAYS = 7
EVERY_DIALECT = "*"  # that is not named beside it
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
_IDLE = f"SELECT session_id::text FROM sessions WHERE session_id = ANY(%(locked)s) AND NOT {_IN_PROGRESS}"
_DELETE = "DELETE FROM sessions WHERE session_id = ANY(%(idle)s::uuid[]) RETURNING session_id::text, ephemeral"
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
        said = settings.session_days
        named = dict(said) if isinstance(said, dict) else {} if said is None else {EVERY_DIALECT: said}
        usual = {} if EVERY_DIALECT in named else dict.fromkeys(KEPT_DIALECTS)
        everywhere = _days(named.pop(EVERY_DIALECT, USUAL_DAYS))
        return cls(everywhere, {**usual, **{dialect: _days(value) for dialect, value in named.items()}})

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
    database: Database, *, retention: Retention, dry_run: bool = False, spending: Spending | None = None
) -> Expired:
    """Delete sessions unused for longer than they are kept, expired ephemeral ones, old event logs, and ended jobs.

    With ``spending`` also what was spent longer ago than is kept of it.
    Works in batches, each in its own transaction, and never deletes a session with a run in progress. ``dry_run`` only
    counts. Raises DatabaseUnavailable; batches that are already deleted stay deleted.
    """
    if dry_run:
        async with database.connection() as connection:
            idle, ephemeral = await _count(connection, _COUNT, retention)
            events = await expire_events(connection, dry_run=True)
        return Expired(idle, ephemeral, events, await expire_jobs(database, days=JOB_DAYS, dry_run=True))
    await _add_days(database)
    deleted = await _delete_sessions(database, retention)
    events = await _delete_events(database)
    if spending is not None:
        await spending.expire()
    return Expired(len(deleted) - sum(deleted), sum(deleted), events, await expire_jobs(database, days=JOB_DAYS))


@dataclass(frozen=True, slots=True)
class Sweep:
    """Deletes what ``expire`` does, and all else of a deployment whose time is over: the days say when.

    What an exam of a judge has left unsettled, as its process died, is settled with it.
    """

    database: Database
    retention: Retention
    link_days: int
    audit_days: int
    spending: Spending
    git_caches: Path

    async def hourly(self) -> None:
        """Sweep now and every hour until cancelled."""
        while True:
            await self.once()
            await asyncio.sleep(HOUR_SECONDS)

    async def once(self) -> None:
        """Run every step, even if others fail."""
        for kind, step in self._steps().items():
            try:
                count = await step()
            except DatabaseUnavailable as error:
                log.warning("expiring %s failed: %s", kind, error.message)
            except Exception:
                log.exception("expiring %s failed", kind)
            else:
                if count:
                    log.info("removed %d expired: %s", count, kind)

    def _steps(self) -> Mapping[str, Callable[[], Awaitable[int | None]]]:
        return {
            "partitions of the event log": partial(_add_days, self.database),
            "sessions": self._sessions,
            "events": partial(_delete_events, self.database),
            "jobs": partial(expire_jobs, self.database, days=JOB_DAYS),
            "spending": self.spending.expire,
            "links": partial(expire_links, self.database, days=self.link_days),
            "versions": partial(expire_versions, self.database, days=VERSION_DAYS),
            "the audit log": partial(expire_audit, self.database, days=self.audit_days),
            "limits": partial(expire_limits, self.database),
            "shares": partial(expire_shares, self.database),
            "words of judges before their exam": self._settle_verdicts,
            "repositories": partial(asyncio.to_thread, remove_unused, self.git_caches),
        }

    async def _settle_verdicts(self) -> None:
        await VerdictUpgrades(self.database).run()

    async def _sessions(self) -> int:
        return len(await _delete_sessions(self.database, self.retention))


async def _add_days(database: Database) -> None:
    async with database.connection() as connection:
        await add_days(connection)


async def _delete_events(database: Database) -> int:
    async with database.connection() as connection:
        return await expire_events(connection)


async def _delete_sessions(database: Database, retention: Retention) -> list[bool]:
    """Delete expired sessions; return for each deleted one whether it was ephemeral."""
    ephemeral: list[bool] = []
    after = _FIRST
    async with database.connection() as connection:
        while True:
            async with connection.transaction():
                found = await connection.execute(_LOCK, {"days": retention.parameter, "after": after})
                locked = [row[0] for row in await found.fetchall()]
                if not locked:
                    return ephemeral
                idle = [row[0] for row in await (await connection.execute(_IDLE, {"locked": locked})).fetchall()]
                await delete_selections(connection, idle)
                deleted = await (await connection.execute(_DELETE, {"idle": idle})).fetchall()
                await delete_threads(connection, [row[0] for row in deleted])
            ephemeral += [row[1] for row in deleted]
            after = locked[-1]


async def _count(connection: Connection, query: str, retention: Retention) -> tuple[int, ...]:
    row = await (await connection.execute(query, {"days": retention.parameter})).fetchone()
    assert row is not None
    return tuple(row)
