"""Logins: 256 random bits in a browser's cookie that identify a person until they log out, or for some hours.

The id is stored as a hash, like an API key, and so is known to the browser alone. The issuer's ID token, which logging
out there needs, is encrypted by that id: whoever reads the database has neither.
"""

import hashlib
import re
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb

from graph.errors import NotFound
from graph.evidence import Identity
from tools.auth.identities import Grant
from tools.settings import OidcSettings
from tools.storage.database import Database, rows_of

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

    from tools.auth.oidc import Person

ID_BYTES = 32
SEEN_RECORDED_SECONDS = 60
_LOGIN = re.compile(r"[\w-]{43}", re.ASCII)
_ID = re.compile(r"[0-9a-f]{16}")

_LOGIN_ID = "encode(substring(login_hash FOR 8), 'hex')"
_LASTS = "expires_at > now() AND last_seen_at > now() - make_interval(secs => %(idle)s)"
_DELETE_OVER = f"DELETE FROM logins WHERE NOT ({_LASTS})"
_INSERT = """
INSERT INTO logins (login_hash, "user", name, granted, id_token, expires_at)
VALUES (%(login_hash)s, %(user)s, %(name)s, %(granted)s, %(id_token)s, now() + make_interval(secs => %(longest)s))
"""
_FIND = f"""
SELECT "user", name, granted, last_seen_at < now() - make_interval(secs => %(interval)s) AS is_due
FROM logins WHERE login_hash = %(login_hash)s AND {_LASTS}
"""
# Repeats the condition, so that only the first of many concurrent requests writes.
_RECORD_USE = """
UPDATE logins SET last_seen_at = now()
WHERE login_hash = %(login_hash)s AND last_seen_at < now() - make_interval(secs => %(interval)s)
"""
_LASTS_STILL = f"SELECT 1 FROM logins WHERE login_hash = %(login_hash)s AND {_LASTS}"
_LIST = f"""
SELECT {_LOGIN_ID} AS login_id, "user", name, granted->'workspaces' AS workspaces, granted->'groups' AS groups,
       created_at, last_seen_at, expires_at
FROM logins WHERE {_LASTS} AND (%(user)s::text IS NULL OR "user" = %(user)s)
ORDER BY created_at, login_hash
"""


@dataclass(frozen=True, slots=True)
class Login:
    """A listed login that lasts. ``last_seen_at`` is accurate to the minute."""

    login_id: str
    user: str
    name: str
    workspaces: list[str]
    groups: list[str]
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """What a login allows, and the name that its person is shown."""

    grant: Grant
    name: str


class Logins:
    """The logins of a deployment. They are never cached, so every process refuses one that has ended at once."""

    def __init__(self, database: Database, settings: OidcSettings) -> None:
        self._database = database
        self._times = {"idle": settings.idle_seconds, "longest": settings.longest_seconds}

    async def create(self, person: "Person", *, instead_of: str | None = None) -> str:
        """Create a login and return its id for the cookie; the browser's earlier one ends."""
        login = secrets.token_urlsafe(ID_BYTES)
        grant = person.grant
        row = {
            "login_hash": _hash(login),
            "user": grant.identity.user,
            "name": person.name,
            "granted": Jsonb({"workspaces": list(grant.workspaces or ()), "groups": list(grant.identity.groups)}),
            "id_token": _seal(login).encrypt(person.id_token.encode()),
        }
        async with self._database.connection() as connection, connection.transaction():
            await connection.execute(_DELETE_OVER, self._times)
            if instead_of is not None:
                await connection.execute("DELETE FROM logins WHERE login_hash = %s", [_hash(instead_of)])
            await connection.execute(_INSERT, {**row, **self._times})
        return login

    async def find(self, login: str) -> LoggedIn | None:
        """Return what a login allows, or None if there is none, or it has ended. Its use is recorded once a minute."""
        if not _LOGIN.fullmatch(login):
            return None
        row = {"login_hash": _hash(login), "interval": SEEN_RECORDED_SECONDS, **self._times}
        async with self._database.connection() as connection:
            found = await (await connection.execute(_FIND, row)).fetchone()
            if found is None:
                return None
            user, name, granted, is_due = found
            if is_due:
                await connection.execute(_RECORD_USE, row)
        return LoggedIn(_restored(user, granted), name)

    async def lasts(self, login: str) -> bool:
        """Whether a login has not ended. This does not count as its use."""
        row = {"login_hash": _hash(login), **self._times}
        return await self._database.fetch_one(_LASTS_STILL, row) is not None

    async def end(self, login: str) -> str | None:
        """End a login at once, in every process; return its ID token, or None if there was no such login."""
        from cryptography.fernet import InvalidToken

        row = await self._database.fetch_one(
            "DELETE FROM logins WHERE login_hash = %s RETURNING id_token", [_hash(login)]
        )
        try:
            return None if row is None else _seal(login).decrypt(row[0]).decode()
        except InvalidToken:
            return None

    async def list(self, user: str | None = None) -> list[Login]:
        """List the logins of one user or of all that last, oldest first."""
        async with self._database.connection() as connection:
            return await rows_of(connection, Login, _LIST, {"user": user, **self._times})

    async def revoke(self, login_id: str) -> None:
        """End a login by the id that lists show. Raises NotFound."""
        ended = f"DELETE FROM logins WHERE {_LOGIN_ID} = %s"
        if _ID.fullmatch(login_id) and await self._database.execute(ended, [login_id]):
            return
        raise NotFound(f"There is no login {login_id!r}.", suggestion="See `citewell logins list`.")

    async def revoke_user(self, user: str) -> int:
        return await self._database.execute('DELETE FROM logins WHERE "user" = %s', [user])


def _restored(user: str, granted: dict[str, list[str]]) -> Grant:
    workspaces, groups = (tuple(granted[name]) for name in ("workspaces", "groups"))
    return Grant(Identity(workspaces[0], user, groups), workspaces, may_create=True)


def _hash(login: str) -> bytes:
    return hashlib.sha256(login.encode()).digest()


def _seal(login: str) -> "Fernet":
    """Return the cipher of a login's ID token; its key is another hash of the id than the stored one.

    Its library, of six megabytes, is imported when somebody logs in.
    """
    from cryptography.fernet import Fernet

    return Fernet(urlsafe_b64encode(hashlib.sha256(b"id_token:" + login.encode()).digest()))
