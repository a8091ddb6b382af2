"""Shares: links that show a session or one answer to others until a moment, each time by the opener's own rights.

A share is opened by a token of 256 random bits, which is shown once and stored as its hash. It shows what was there
when it was made, and nothing that is asked later. One that is revoked or over is answered like one that never was.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from graph.errors import InvalidRequest, NotFound, NotPermitted
from graph.evidence import Identity
from tools.sessions.session_rows import own_session
from tools.settings import Settings
from tools.storage.database import TAKES_CHANGES, Database, row_of, rows_of, value_of
from tools.storage.tenants import Workspaces

SHARES_PATH = "/shares/"
TOKEN_BYTES = 32
SHORTEST_SECONDS = 60
DAY_SECONDS = 86_400
MOST_OF_SESSION = 100
_TOKEN = re.compile(r"[\w-]{43}", re.ASCII)
Audience = Literal["workspace", "link"]

_COLUMNS = (
    "share_id::text, CASE WHEN NOT is_whole THEN message_id::text END AS message_id, audience, created_at, expires_at"
)
_LAST = """
SELECT message_id::text FROM messages WHERE session_id = %(session_id)s AND role = 'assistant'
  AND (%(message_id)s::uuid IS NULL OR message_id = %(message_id)s)
ORDER BY created_at DESC, messages.message_id DESC LIMIT 1
"""
_INSERT = f"""
INSERT INTO shares (share_id, token_hash, session_id, message_id, is_whole, audience, spaces, expires_at)
SELECT %(share_id)s, %(token_hash)s, %(session_id)s, %(message_id)s, %(is_whole)s, %(audience)s, %(spaces)s,
       now() + make_interval(secs => %(seconds)s)
WHERE (SELECT count(*) FROM shares WHERE session_id = %(session_id)s AND expires_at > now()) < {MOST_OF_SESSION}
RETURNING {_COLUMNS}
"""
_LIST = f"SELECT {_COLUMNS} FROM shares WHERE session_id = %(session_id)s AND expires_at > now() ORDER BY created_at"
_REVOKE = "DELETE FROM shares WHERE session_id = %(session_id)s AND share_id = %(share_id)s"
_OPEN = """
SELECT share.share_id::text, w.name AS workspace, session."user", share.session_id::text, share.message_id::text,
       share.is_whole, share.audience, share.spaces, share.expires_at,
       (SELECT bool_or(k.revoked_at IS NULL) FROM api_keys AS k
        WHERE k.workspace = session.workspace AND k."user" = session."user") AS has_key
FROM shares AS share JOIN sessions AS session USING (session_id) JOIN workspaces AS w ON w.number = session.workspace
WHERE share.token_hash = %s AND share.expires_at > now()
"""
_EXPIRE = f"""
DELETE FROM shares USING sessions
WHERE sessions.session_id = shares.session_id AND shares.expires_at < now() AND {TAKES_CHANGES}
"""
_OF_USER = """
DELETE FROM shares USING sessions AS session
WHERE session.session_id = shares.session_id AND session.workspace = %(workspace)s
  AND (%(user)s::text IS NULL OR session."user" = %(user)s)
"""


@dataclass(frozen=True, slots=True)
class Share:
    """A share as its owner sees it: of one answer, or with ``message_id`` None of the session."""

    share_id: str
    message_id: str | None
    audience: Audience
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class OpenedShare:
    """What a token opens: a session of a user up to a message, or that one answer.

    ``spaces`` are those that the owner's credentials were restricted to. ``has_key`` is whether the owner has a key
    that is not revoked, None where there never was one.
    """

    share_id: str
    workspace: str
    user: str
    session_id: str
    message_id: str
    is_whole: bool
    audience: Audience
    spaces: list[str] | None
    expires_at: datetime
    has_key: bool | None

    @property
    def owner(self) -> Identity:
        return Identity(self.workspace, self.user)

    @property
    def anyone(self) -> Identity:
        """Somebody who is nobody's reader: no user has this name, and no document names it."""
        return Identity(self.workspace, "", spaces=None if self.spaces is None else tuple(self.spaces))


class Shares:
    """The shares of a deployment. Those of other people's sessions raise NotFound, as if they did not exist."""

    def __init__(self, database: Database, workspaces: Workspaces, settings: Settings) -> None:
        self._database = database
        self._workspaces = workspaces
        self._settings = settings

    @property
    def audiences(self) -> list[Audience]:
        """For whom sessions can be shared, none where sharing is off."""
        sharing = self._settings.shares
        if not sharing.longest_days:
            return []
        return ["workspace", "link"] if sharing.public else ["workspace"]

    @property
    def longest_seconds(self) -> int:
        return self._settings.shares.longest_days * DAY_SECONDS

    async def create(
        self, identity: Identity, session_id: str, *, expires_in: int, audience: Audience, message: str | None = None
    ) -> tuple[Share, str]:
        """Share a session as it is now, or one answer, and return the share and its token, which nobody sees again.

        Raises NotFound, NotPermitted, InvalidRequest for an audience or a time that the deployment does not allow.
        """
        token = secrets.token_urlsafe(TOKEN_BYTES)
        row = await self._row(identity, session_id)
        async with self._database.connection() as connection, connection.transaction():
            await own_session(connection, row)
            self._check(identity, expires_in, audience)
            named = {**row, "message_id": None if message is None else UUID(message)}
            last = await value_of(connection, _LAST, named)
            if last is None:
                raise (
                    InvalidRequest("session: it has no answer yet that could be shared.")
                    if message is None
                    else NotFound(f"There is no answer {message} in the session.")
                )
            share = {
                **row,
                "share_id": uuid4(),
                "token_hash": _hash(token),
                "message_id": last,
                "is_whole": message is None,
                "audience": audience,
                "spaces": None if identity.spaces is None else list(identity.spaces),
                "seconds": expires_in,
            }
            made = await row_of(connection, Share, _INSERT, share)
        if made is None:
            raise InvalidRequest(
                f"session: it has {MOST_OF_SESSION} shares, and no more are possible.", suggestion="Revoke some."
            )
        return made, token

    async def list(self, identity: Identity, session_id: str) -> list[Share]:
        """List the shares of a session that still open, the oldest first. Raises NotFound."""
        row = await self._row(identity, session_id)
        async with self._database.connection() as connection:
            await own_session(connection, row)
            return await rows_of(connection, Share, _LIST, row)

    async def revoke(self, identity: Identity, session_id: str, share_id: str) -> None:
        """End a share; from then on no process opens it. Raises NotFound."""
        row = await self._row(identity, session_id)
        async with self._database.connection() as connection:
            await own_session(connection, row)
            if not (await connection.execute(_REVOKE, {**row, "share_id": UUID(share_id)})).rowcount:
                raise NotFound(f"There is no share {share_id} of the session.")

    async def revoke_all(self, workspace: str, user: str | None = None) -> int:
        """End the shares of a user in a workspace, or of all its users; return how many. Raises NotFound."""
        row = {"workspace": await self._workspaces.number(workspace), "user": user}
        return await self._database.execute(_OF_USER, row)

    async def open(self, token: str) -> OpenedShare | None:
        """Return what a token opens; None for one that is not valid or not any more.

        The share of somebody who only had keys, and whose keys are all revoked, does not open.
        """
        if not _TOKEN.fullmatch(token) or not self.audiences:
            return None
        async with self._database.connection() as connection:
            found = await row_of(connection, OpenedShare, _OPEN, [_hash(token)])
        if found is None or (self._settings.auth.mode == "keys" and found.has_key is False):
            return None
        return found

    def _check(self, identity: Identity, expires_in: int, audience: Audience) -> None:
        if identity.is_shared:
            raise NotPermitted("A public key shares nothing: its visitors could not take it back.")
        if not self.audiences:
            raise NotPermitted("Sharing is off.", suggestion="Set CITEWELL_SHARES__LONGEST_DAYS.")
        if audience not in self.audiences:
            raise NotPermitted(
                "audience: sessions are shared within the workspace alone.",
                suggestion="Share with `workspace`, or set CITEWELL_SHARES__PUBLIC for links that anybody opens.",
            )
        if not SHORTEST_SECONDS <= expires_in <= self.longest_seconds:
            raise InvalidRequest(f"expires_in: a share lasts {SHORTEST_SECONDS} to {self.longest_seconds} seconds.")

    async def _row(self, identity: Identity, session_id: str) -> dict[str, Any]:
        number = await self._workspaces.number(identity.workspace)
        return {"workspace": number, "user": identity.user, "session_id": session_id}


async def expire_shares(database: Database) -> None:
    """Delete the shares that are over."""
    await database.execute(_EXPIRE)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
