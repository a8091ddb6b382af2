"""API keys as they are stored: hashed, revocable, and noted when they are used."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.auth.api_keys import ApiKeys, key_id
from tools.auth.identities import Limits, Rights
from tools.storage.database import Database
from tools.storage.tenants import Workspaces


@pytest.fixture
def keys(database: Database) -> ApiKeys:
    return ApiKeys(database, Workspaces(database))


async def test_a_key_stands_for_a_user_of_a_workspace(keys: ApiKeys) -> None:
    key, other = await keys.create("default", "ann"), await keys.create("default", "ann")
    assert key.startswith("cw_")
    assert len(key) == 46
    assert key != other
    found = await keys.find(key)
    assert found is not None
    assert found.identity == Identity("default", "ann")


async def test_nothing_stored_gives_a_key_away(keys: ApiKeys, database: Database) -> None:
    key = await keys.create("default", "ann", label="laptop")
    async with database.connection() as connection:
        row = await (await connection.execute("SELECT key_hash, api_keys::text FROM api_keys")).fetchone()
    assert row is not None
    assert row[0] == hashlib.sha256(key.encode()).digest()
    (listed,) = await keys.list()
    for shown in (row[1], repr(listed)):
        assert key not in shown
        assert key[3:15] not in shown
    assert (listed.key_id, listed.workspace, listed.user, listed.label) == (key_id(key), "default", "ann", "laptop")


@pytest.mark.parametrize("key", ["", "cw_", "cw_" + "x" * 43, "cw_" + "x" * 10_000, "cw_\x00", "cw_" + "é" * 43])
async def test_what_is_no_key_stands_for_nobody(keys: ApiKeys, key: str) -> None:
    assert await keys.find(key) is None


async def test_a_revoked_key_stands_for_nobody_and_stays_revoked(keys: ApiKeys, database: Database) -> None:
    key, kept = await keys.create("default", "ann"), await keys.create("default", "bob")
    assert await keys.find(key) is not None
    await ApiKeys(database, Workspaces(database)).revoke(key_id(key))  # as another process would
    assert await keys.find(key) is None
    when = [listed.revoked_at for listed in await keys.list()]
    await keys.revoke(key_id(key))
    assert [listed.revoked_at for listed in await keys.list()] == when
    assert await keys.find(kept) is not None


@pytest.mark.parametrize("unknown", ["", "0123456789abcdef", "%", "nul \x00"])
async def test_an_id_that_is_none_revokes_nothing(keys: ApiKeys, unknown: str) -> None:
    key = await keys.create("default", "ann")
    with pytest.raises(NotFound):
        await keys.revoke(unknown)
    assert await keys.find(key) is not None


async def test_use_is_noted_at_most_once_a_minute(keys: ApiKeys, database: Database) -> None:
    key = await keys.create("default", "ann")

    async def noted() -> datetime | None:
        return (await keys.list())[0].last_used_at

    assert await noted() is None
    await keys.find(key)
    first = await noted()
    assert first is not None
    await keys.find(key)
    assert await noted() == first
    async with database.connection() as connection:
        await connection.execute("UPDATE api_keys SET last_used_at = now() - interval '61 seconds'")
    await keys.find(key)
    again = await noted()
    assert again is not None
    assert datetime.now(UTC) - again < timedelta(seconds=30)


async def test_keys_go_with_their_workspace(keys: ApiKeys, database: Database) -> None:
    workspaces = Workspaces(database)
    await workspaces.create("team")
    key = await keys.create("team", "ann")
    assert [listed.user for listed in await keys.list("team")] == ["ann"]
    assert await keys.list("default") == []
    await workspaces.delete("team")
    assert await keys.find(key) is None
    assert await keys.list() == []


async def test_a_key_for_what_is_not_there_is_refused(keys: ApiKeys) -> None:
    with pytest.raises(NotFound):
        await keys.create("nowhere", "ann")
    for user in ("", " ", "x" * 201, "nul \x00", "line\nend"):
        with pytest.raises(InvalidRequest, match="user"):
            await keys.create("default", user)
    for label in ("x" * 201, "line\nend"):
        with pytest.raises(InvalidRequest, match="label"):
            await keys.create("default", "ann", label=label)
    assert await keys.list() == []


async def test_a_key_from_before_there_were_scopes_may_do_what_it_could(keys: ApiKeys, database: Database) -> None:
    key = await keys.create("default", "ann")
    async with database.connection() as connection:
        await connection.execute("DELETE FROM api_keys")
        number = await Workspaces(database).number("default")
        row = [hashlib.sha256(key.encode()).digest(), number, "ann"]
        await connection.execute('INSERT INTO api_keys (key_hash, workspace, "user") VALUES (%s, %s, %s)', row)
    found = await keys.find(key)
    assert found is not None
    assert found.rights == Rights(frozenset({"ask", "read", "write"}), None)
    assert (found.origins, found.is_public, found.limits) == ((), False, Limits())
