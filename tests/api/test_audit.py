"""The audit log: who asked, read, changed and was refused, in batches that no answer waits for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from psycopg.errors import UndefinedTable

from api.app import create_app
from graph.entrypoint import Citewell
from graph.errors import DatabaseUnavailable, InvalidRequest
from tests.api.conftest import HANDBOOK, TRAVEL, new_session
from tests.api.serving import client_of
from tests.api.test_scopes import ASKED, KEYS, bearer, scoped
from tools.auth.api_keys import ApiKeys, KeyTerms, key_id
from tools.auth.audit_log import AuditEntry, AuditLog, StoredEntry, expire_audit
from tools.auth.identities import EVERYTHING
from tools.settings import AuditSettings, Settings

QUESTION = str(ASKED["question"])


@pytest.fixture
def keys(citewell: Citewell) -> ApiKeys:
    return ApiKeys(citewell.library.database, citewell.library.workspaces)


@asynccontextmanager
async def audited(settings: Settings, citewell: Citewell, **audit: object) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment with keys; leaving it stops the server, which writes what is waiting."""
    configured = settings.model_copy(update={"auth": KEYS, "audit": AuditSettings(**audit)})
    async with client_of(create_app(configured, citewell=citewell)) as client:
        yield client


async def entries(citewell: Citewell) -> list[StoredEntry]:
    return (await AuditLog(citewell.library.database).list(limit=200)).entries[::-1]


async def test_it_says_who_did_what_and_who_was_refused_and_holds_no_text(
    settings: Settings, citewell: Citewell, keys: ApiKeys
) -> None:
    key = await keys.create("default", "ann", terms=scoped("ask", "read"))
    async with audited(settings, citewell) as client:
        session_id = await new_session_of(client, key)
        run = (await client.post(f"/api/sessions/{session_id}/runs", json=ASKED, headers=bearer(key))).json()
        await client.get(f"/api/documents/{HANDBOOK}", headers=bearer(key))
        await client.delete(f"/api/documents/{HANDBOOK}", headers=bearer(key))
        await client.get("/api/documents/00000000-0000-4000-8000-000000000000", headers=bearer(key))
        await client.get("/api/documents", headers=bearer("cw_" + "x" * 43))
        await client.get("/healthz")
    found = await entries(citewell)
    named = [(each.action, each.request, each.target, each.outcome, each.reason) for each in found]
    assert named == [
        ("change", "POST /api/sessions", None, "done", None),
        ("ask", "POST /api/sessions/{session_id}/runs", run["run_id"], "done", None),
        ("read", "GET /api/documents/{document_id}", HANDBOOK, "done", None),
        ("change", "DELETE /api/documents/{document_id}", HANDBOOK, "refused", "not_permitted"),
        ("read", "GET /api/documents/{document_id}", "00000000-0000-4000-8000-000000000000", "not_found", "not_found"),
        ("read", "GET /api/documents", None, "refused", "not_authenticated"),
    ]
    for entry in found[:-1]:
        assert (entry.workspace, entry.user, entry.credential) == ("default", "ann", f"key:{key_id(key)}")
        assert entry.address == "127.0.0.1"
    assert (found[-1].workspace, found[-1].user, found[-1].credential) == (None, None, None)
    assert QUESTION not in str(found)
    assert key not in str(found)


async def new_session_of(client: httpx.AsyncClient, key: str) -> str:
    client.headers.update(bearer(key))
    session_id = await new_session(client)
    del client.headers["authorization"]
    return session_id


async def test_a_tool_call_is_told_by_its_tool_and_its_refusal_although_the_reply_is_200(
    settings: Settings, citewell: Citewell, keys: ApiKeys
) -> None:
    headers = bearer(await keys.create("default", "ann", terms=scoped("ask")))
    headers |= {"accept": "application/json, text/event-stream"}
    async with audited(settings, citewell, questions=True) as client:
        for name, arguments in (("search", {"query": "leave"}), ("ask", {"question": QUESTION})):
            call = {"name": name, "arguments": arguments}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            assert (await client.post("/mcp", json=message, headers=headers)).status_code == 200
    search, ask = await entries(citewell)
    assert (search.action, search.target, search.outcome) == ("read", "tools/search", "refused")
    assert (ask.action, ask.outcome, ask.question) == ("ask", "done", QUESTION)


async def test_a_comparison_and_cards_are_told_as_asked(settings: Settings, citewell: Citewell, keys: ApiKeys) -> None:
    headers = bearer(await keys.create("default", "ann", terms=scoped("ask")))
    async with audited(settings, citewell, questions=True) as client:
        bodies = {
            "comparisons": {"document_ids": [HANDBOOK, TRAVEL], "question": QUESTION},
            "flashcards": {"document_ids": [HANDBOOK]},
        }
        for path, body in bodies.items():
            assert (await client.post(f"/api/{path}", json=body, headers=headers)).status_code == 200
    compared, made = await entries(citewell)
    assert (compared.action, compared.outcome, compared.question) == ("ask", "done", QUESTION)
    assert (made.action, made.outcome, made.question) == ("ask", "done", None)


async def test_an_administrator_reads_the_own_workspaces_log_page_by_page(
    settings: Settings, citewell: Citewell, keys: ApiKeys
) -> None:
    await citewell.library.workspaces.ensure("elsewhere")
    admin = bearer(await keys.create("default", "root", terms=scoped("admin")))
    ann = bearer(await keys.create("default", "ann"))
    bob = bearer(await keys.create("elsewhere", "bob", terms=KeyTerms(EVERYTHING)))
    async with audited(settings, citewell) as client:
        for headers in (ann, ann, bob, ann):
            await client.get("/api/documents", headers=headers)
        await client.get("/api/audit", headers=ann)
        await client.post("/api/documents", json={"text": "New."}, headers=ann)
    async with audited(settings, citewell) as client:
        page = (await client.get("/api/audit", params={"limit": 2}, headers=admin)).json()
        assert [each["request"] for each in page["entries"]] == ["POST /api/documents", "GET /api/audit"]
        assert page["entries"][1]["outcome"] == "refused"
        rest = (await client.get("/api/audit", params={"cursor": page["next_cursor"]}, headers=admin)).json()
        assert [(each["user"], each["times"]) for each in rest["entries"]] == [("ann", 3)]
        assert rest["next_cursor"] is None
        refused = await client.get("/api/audit", params={"outcome": "refused", "user": "ann"}, headers=admin)
        assert len(refused.json()["entries"]) == 1
        theirs = (await client.get("/api/audit", headers=bob)).json()["entries"]
        assert [each["user"] for each in theirs] == ["bob"]
        assert (await client.get("/api/audit", params={"cursor": "x"}, headers=admin)).status_code == 422


async def test_it_is_off_without_authentication_and_old_entries_go(
    settings: Settings, citewell: Citewell, keys: ApiKeys
) -> None:
    async with client_of(create_app(settings, citewell=citewell)) as client:
        assert (await client.get("/api/documents")).status_code == 200
    assert await entries(citewell) == []
    key = await keys.create("default", "ann")
    async with audited(settings, citewell, keep_days=0) as client:
        assert (await client.get("/api/documents", headers=bearer(key))).status_code == 200
    assert await entries(citewell) == []
    async with audited(settings, citewell) as client:
        assert (await client.get("/api/documents", headers=bearer(key))).status_code == 200
    database = citewell.library.database
    assert await expire_audit(database, days=1) == 0
    async with database.connection() as connection:
        await connection.execute("UPDATE audit_log SET at = at - interval '2 days'")
    assert await expire_audit(database, days=1) == 1


def entry(user: str) -> AuditEntry:
    return AuditEntry("default", user, None, "read", "GET /", None, "done", 200, None, None)


async def counts(log: AuditLog) -> list[tuple[str | None, int]]:
    return [(each.user, each.times) for each in (await log.list()).entries[::-1]]


async def test_entries_wait_for_the_next_time_whatever_keeps_them_from_being_written(citewell: Citewell) -> None:
    database = citewell.library.database
    log = AuditLog(database)
    log.record(entry("ann"))
    async with database.connection() as connection:
        await connection.execute("ALTER TABLE audit_log RENAME TO audit_log_in_repair")
        try:
            with pytest.raises(UndefinedTable):
                await log.flush()
        finally:
            await connection.execute("ALTER TABLE audit_log_in_repair RENAME TO audit_log")
    log.record(entry("ann"))
    await log.flush()
    assert await counts(log) == [("ann", 2)]
    await log.flush()
    assert await counts(log) == [("ann", 2)]


async def test_an_entry_that_can_not_be_stored_is_dropped_alone(citewell: Citewell) -> None:
    log = AuditLog(citewell.library.database)
    for user in ("ann", "bob", "\0", "eve", "eve"):
        log.record(entry(user))
    await log.flush()
    assert sorted(await counts(log)) == [("ann", 1), ("bob", 1), ("eve", 2)]
    log.record(entry("ann"))
    await log.flush()
    assert sum(times for _, times in await counts(log)) == 5


_WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'COPY audit_log%'"


@pytest.mark.parametrize("is_cut_short", [False, True])
async def test_what_is_recorded_while_entries_are_written_counts_once_and_within_the_bound(
    citewell: Citewell, is_cut_short: bool
) -> None:
    log = AuditLog(citewell.library.database, most_waiting=2)
    for user in ("ann", "bob"):
        log.record(entry(user))
    async with citewell.library.database.connection() as other, other.transaction():
        await other.execute("LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE")
        writing = asyncio.create_task(log.flush())
        while (waiting := await (await other.execute(_WAITING)).fetchone()) is None:
            await other.execute("SELECT pg_stat_clear_snapshot()")
        for user in ("ann", "cid", "dan"):
            log.record(entry(user))
        if is_cut_short:
            await other.execute("SELECT pg_terminate_backend(%s)", waiting)
            with pytest.raises(DatabaseUnavailable):
                await writing
    if not is_cut_short:
        await writing
    await log.flush()
    expected = [("ann", 2), ("bob", 1)] if is_cut_short else [("ann", 1), ("bob", 1), ("ann", 1)]
    assert await counts(log) == expected


async def test_a_flood_becomes_counts_and_is_bounded(citewell: Citewell) -> None:
    log = AuditLog(citewell.library.database, most_waiting=3)
    for number in range(10):
        log.record(entry(f"user {number}"))
        log.record(entry("user 0"))
    await log.flush()
    assert await counts(log) == [("user 0", 11), ("user 1", 1), ("user 2", 1)]
    with pytest.raises(InvalidRequest):
        await log.list(cursor="-1")
