"""What goes when its time is over, and what stays."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from tests.conftest import NO_FILE
from tests.entering import entered
from tests.postgres.conversing import ME, store_turn
from tools.process.expiry import Expired, Retention, Sweep, expire
from tools.sessions.checkpoints import PARALLEL_STEPS, RunSaver
from tools.sessions.session_store import Sessions
from tools.settings import Settings
from tools.spending.charges import Spending
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

WEEK = Retention(7)
_KEPT = {
    "sessions": "SELECT session_id::text FROM sessions",
    "messages": "SELECT DISTINCT session_id::text FROM messages",
    "runs": "SELECT DISTINCT session_id::text FROM runs",
    "checkpoints": "SELECT thread_id FROM checkpoints",
    "checkpoint_blobs": "SELECT DISTINCT thread_id FROM checkpoint_blobs",
    "checkpoint_writes": "SELECT thread_id FROM checkpoint_writes",
}


@pytest.fixture
def sessions(database: Database) -> Sessions:
    return Sessions(database, Workspaces(database))


async def run_sql(database: Database, statement: str, *values: Any) -> None:
    async with database.connection() as connection:
        await connection.execute(statement, values)


async def conversed(
    sessions: Sessions,
    database: Database,
    *,
    idle: str = "0 days",
    ephemeral: bool = False,
    dialect: str = "native",
) -> str:
    """Make a session with a message and a checkpoint that has not been used for a time."""
    session_id = (await sessions.create(ME, ephemeral=ephemeral, dialect=dialect)).session_id
    await store_turn(database, session_id, "Q", "A")
    config: Any = {"configurable": {"thread_id": session_id, "checkpoint_ns": ""}}
    thread = RunSaver(database.pool)
    point = {**empty_checkpoint(), "channel_values": {"turns": []}, "channel_versions": {"turns": "1"}}
    config = await thread.aput(config, point, {}, {"turns": "1"})
    await thread.aput_writes(config, [("turns", [])], "task", PARALLEL_STEPS[0])  # those of other steps are not kept
    await run_sql(
        database, "UPDATE sessions SET updated_at = now() - %s::interval WHERE session_id = %s", idle, session_id
    )
    if ephemeral:
        await run_sql(
            database,
            "UPDATE sessions SET expires_at = expires_at - %s::interval WHERE session_id = %s",
            idle,
            session_id,
        )
    return session_id


async def kept(database: Database, table: str) -> set[str]:
    async with database.connection() as connection:
        return {row[0] for row in await (await connection.execute(_KEPT[table])).fetchall()}


async def test_idle_and_ephemeral_sessions_go_with_all_they_hold(sessions: Sessions, database: Database) -> None:
    used = await conversed(sessions, database, idle="6 days 23 hours")
    passing = await conversed(sessions, database, idle="23 hours", ephemeral=True)
    await conversed(sessions, database, idle="7 days 1 minute")
    await conversed(sessions, database, idle="25 hours", ephemeral=True)
    assert await expire(database, retention=WEEK, dry_run=True) == Expired(1, 1, 0)
    assert len(await kept(database, "sessions")) == 4
    assert await expire(database, retention=WEEK) == Expired(1, 1, 0)
    for table in _KEPT:
        assert await kept(database, table) == {used, passing}, table
    assert await expire(database, retention=WEEK) == Expired(0, 0, 0)


USUAL = Retention.of(Settings(**NO_FILE))


@pytest.mark.parametrize(
    ("configured", "kept_dialects"),
    [
        ({}, {"docmost", "conversation", "id_citations"}),
        ({"session_days": 7}, set()),
        ({"session_days": "never"}, {"docmost", "conversation", "id_citations", "docs_chatbot", "native"}),
        ({"session_days": {"docmost": 7, "native": "never"}}, {"conversation", "id_citations", "native"}),
        ({"session_days": {"*": 7, "docs_chatbot": 9}}, {"docs_chatbot"}),
    ],
)
async def test_each_dialect_keeps_its_sessions_as_long_as_is_said(
    sessions: Sessions, database: Database, configured: dict[str, Any], kept_dialects: set[str]
) -> None:
    dialects = ("docmost", "conversation", "id_citations", "docs_chatbot", "native")
    made = {each: await conversed(sessions, database, idle="8 days", dialect=each) for each in dialects}
    retention = Retention.of(Settings(**NO_FILE, **configured))
    await conversed(sessions, database, idle="25 hours", ephemeral=True, dialect="docmost")
    assert await expire(database, retention=retention) == Expired(5 - len(kept_dialects), 1, 0)
    assert await kept(database, "sessions") == {made[each] for each in kept_dialects}


def test_what_is_kept_is_said_in_words() -> None:
    assert str(USUAL) == "7 days or more (docmost: never, conversation: never, id_citations: never)"
    assert str(Retention(None, {"native": 30})) == "never (native: 30)"


async def test_more_than_one_batch_goes(sessions: Sessions, database: Database) -> None:
    await sessions.create(ME)
    await run_sql(
        database,
        'INSERT INTO sessions (session_id, workspace, "user", updated_at) SELECT gen_random_uuid(), workspace, "user",'
        " now() - interval '8 days' FROM sessions, generate_series(1, 230)",
    )
    assert await expire(database, retention=WEEK) == Expired(230, 0, 0)
    assert len(await kept(database, "sessions")) == 1


@pytest.mark.parametrize("status", ["running", "queued"])
async def test_a_session_that_is_answering_stays(sessions: Sessions, database: Database, status: str) -> None:
    session_id = await conversed(sessions, database, idle="8 days")
    gone = await conversed(sessions, database, idle="8 days")
    run_id = (await entered(database, session_id)).run_id
    await run_sql(database, "UPDATE runs SET status = %s WHERE run_id = %s", status, run_id)
    assert await expire(database, retention=WEEK) == Expired(1, 0, 0)
    assert await kept(database, "sessions") == await kept(database, "checkpoints") == {session_id} != {gone}
    long_ago = "now() - interval '2 days'"
    await run_sql(
        database, f"UPDATE runs SET created_at = {long_ago}, lease_until = {long_ago} WHERE run_id = %s", run_id
    )
    assert await expire(database, retention=WEEK) == Expired(1, 0, 0), "nobody goes on with that run any more"


async def test_a_session_that_another_transaction_holds_is_left_to_it(sessions: Sessions, database: Database) -> None:
    session_id = await conversed(sessions, database, idle="8 days")
    async with database.connection() as connection, connection.transaction():
        await connection.execute("SELECT 1 FROM sessions WHERE session_id = %s FOR KEY SHARE", [session_id])
        assert await expire(database, retention=WEEK) == Expired(0, 0, 0)
    assert await expire(database, retention=WEEK) == Expired(1, 0, 0)


async def test_the_log_of_a_finished_run_lives_a_day(sessions: Sessions, database: Database) -> None:
    session_id = await conversed(sessions, database)
    going_on = (await entered(database, session_id)).run_id
    await run_sql(
        database,
        "INSERT INTO run_events (run_id, seq, type, payload, created_at)"
        " SELECT run_id, seq, 'step_started', '{}', now() - interval '25 hours'"
        " FROM runs, generate_series(11, 13) AS seq",
    )
    assert await expire(database, retention=WEEK) == Expired(0, 0, 0)
    await run_sql(database, "UPDATE runs SET finished_at = now() - interval '25 hours' WHERE status = 'finished'")
    assert await expire(database, retention=WEEK, dry_run=True) == Expired(0, 0, 3)
    assert await expire(database, retention=WEEK) == Expired(0, 0, 3)
    async with database.connection() as connection:
        left = await (await connection.execute("SELECT DISTINCT run_id::text FROM run_events")).fetchall()
    assert left == [(going_on,)]


async def test_a_sweep_goes_on_behind_what_fails(
    sessions: Sessions, database: Database, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    await conversed(sessions, database, idle="8 days")
    await run_sql(
        database,
        "INSERT INTO audit_log (at, action, request, outcome, status)"
        " VALUES (now() - interval '99 days', 'read', 'GET /api/documents', 'done', 200)",
    )
    spending = Spending(database, Workspaces(database))
    days = {"link_days": 1, "audit_days": 90}
    sweep = Sweep(database, WEEK, **days, spending=spending, git_caches=tmp_path / "git")
    broken = ("sessions", "link_grants")  # shares are read with their sessions
    for name in broken:
        await run_sql(database, f"ALTER TABLE {name} RENAME TO {name}_in_repair")
    try:
        await sweep.once()
    finally:
        for name in broken:
            await run_sql(database, f"ALTER TABLE {name}_in_repair RENAME TO {name}")
    failed = [record.getMessage() for record in caplog.records if record.name == "citewell.sessions"]
    assert failed == [f"expiring {kind} failed" for kind in ("sessions", "links", "shares")]
    async with database.connection() as connection:
        assert await (await connection.execute("SELECT FROM audit_log")).fetchone() is None
    assert await kept(database, "sessions")
    await sweep.once()
    assert not await kept(database, "sessions")
