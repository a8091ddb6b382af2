"""Logins as they are stored, and as an operator lists and revokes them on the command line."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from graph.errors import NotFound
from graph.evidence import Identity
from tools.auth.identities import Grant
from tools.auth.login_store import LoggedIn, Logins
from tools.auth.oidc import Person
from tools.settings import OidcSettings, Settings
from tools.storage.database import Database

ROOT = Path(__file__).parents[2]
CITEWELL = "from cli.main import main; main()"


def person(user: str) -> Person:
    grant = Grant(Identity("default", user), ("default", "team"), may_create=True, groups=("staff",))
    return Person(grant, user.title(), "id-token")


@pytest.fixture
def logins(database: Database) -> Logins:
    return Logins(database, OidcSettings())


async def test_a_login_stands_for_its_person_until_it_ends(logins: Logins) -> None:
    login, other = await logins.create(person("ann")), await logins.create(person("ann"))
    assert login != other
    assert await logins.find(login) == LoggedIn(person("ann").grant, "Ann")
    assert await logins.lasts(login)
    assert await logins.end(login) == "id-token"
    assert await logins.end(login) is None
    assert await logins.find(login) is None
    assert not await logins.lasts(login)
    assert await logins.find(other) is not None


@pytest.mark.parametrize("login", ["", "x" * 43, "x" * 10_000, "\x00", "é" * 43])
async def test_what_is_no_login_stands_for_nobody(logins: Logins, login: str) -> None:
    assert await logins.find(login) is None


async def test_logins_that_are_over_are_deleted_by_the_next(logins: Logins, database: Database) -> None:
    await logins.create(person("ann"))
    async with database.connection() as connection:
        await connection.execute("UPDATE logins SET last_seen_at = now() - interval '1 year'")
    await logins.create(person("bob"))
    async with database.connection() as connection:
        rows = await (await connection.execute('SELECT "user" FROM logins')).fetchall()
    assert rows == [("bob",)]


@pytest.mark.parametrize("unknown", ["", "0123456789abcdef", "%", "nul \x00"])
async def test_an_id_that_is_none_revokes_nothing(logins: Logins, unknown: str) -> None:
    await logins.create(person("ann"))
    with pytest.raises(NotFound):
        await logins.revoke(unknown)
    assert len(await logins.list()) == 1


async def test_an_operator_lists_and_revokes(logins: Logins, settings: Settings, tmp_path: Path) -> None:
    assert settings.database_url is not None
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CITEWELL_DATA_DIR": str(tmp_path / "data")}
    environment["CITEWELL_DATABASE_URL"] = settings.database_url.get_secret_value()

    async def citewell(*arguments: str) -> tuple[int, Any]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", CITEWELL, "logins", *arguments, "--json"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
            cwd=tmp_path,
        )
        out, _ = await process.communicate()
        return process.returncode or 0, json.loads(out or b"null")

    cookies = [await logins.create(person(user)) for user in ("ann", "ann", "bob")]
    code, listed = await citewell("list")
    first, _, last = listed["logins"]
    assert (code, first["user"], first["groups"], last["name"]) == (0, "ann", ["staff"], "Bob")
    assert not [cookie for cookie in cookies if cookie in json.dumps(listed)]
    assert await citewell("revoke", first["login_id"]) == (0, {"revoked": 1})
    assert [await logins.lasts(cookie) for cookie in cookies] == [False, True, True]
    assert await citewell("revoke", "--user", "ann") == (0, {"revoked": 1})
    assert [await logins.lasts(cookie) for cookie in cookies] == [False, False, True]
    assert (await citewell("revoke"))[0] == 2
