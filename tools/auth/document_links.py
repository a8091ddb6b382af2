"""Links that open one document in a browser, without credentials: signed, for whom they were made, until a day.

A link names a stored grant, the document, and the quote to mark. What it opens is asked for at each click: today's
readers of the document, the user's keys, and the groups that credentials last named.
"""

import hashlib
import secrets
import struct
import time
from binascii import crc32
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

from itsdangerous import BadData, Signer
from itsdangerous.encoding import base64_decode, base64_encode
from psycopg.types.json import Jsonb

from graph.evidence import Identity
from tools.settings import Settings
from tools.storage.database import Connection, Database, value_of
from tools.storage.tenants import Workspaces

LINKS_PATH = "/links/"
SECRET_BYTES = 32
LONGEST_TOKEN = 200
SEEN_SECONDS = 600.0
MOST_SEEN = 10_000  # users whose last credentials are remembered
DAY_SECONDS = 86_400
GROUPS_HOURS = 168  # after the last credentials that named them: a week, so that a link holds over a weekend
# The grant, the document, the day of the end, the segment, and the quote's offsets and checksum (all 0 for none).
_PLACE = struct.Struct(">Q16sIIIII")

_SECRET = "SELECT secret FROM link_secret"
_MAKE_SECRET = "INSERT INTO link_secret (secret) VALUES (%s) ON CONFLICT DO NOTHING"
_ROTATE = """
INSERT INTO link_secret (secret) VALUES (%s)
ON CONFLICT (only_one) DO UPDATE SET secret = excluded.secret, made_at = now()
"""
_SEE = """
INSERT INTO link_grants (workspace, "user", rights) VALUES (%(workspace)s, %(user)s, %(rights)s)
ON CONFLICT (workspace, "user", rights) DO UPDATE SET seen_at = clock_timestamp() RETURNING grant_id
"""
_GRANT = """
SELECT w.name, g."user", g.rights, g.seen_at > now() - make_interval(hours => %(hours)s),
       (SELECT n.rights FROM link_grants AS n WHERE n.workspace = g.workspace AND n."user" = g."user"
        ORDER BY n.seen_at DESC, n.grant_id DESC LIMIT 1),
       (SELECT bool_or(k.revoked_at IS NULL) FROM api_keys AS k
        WHERE k.workspace = g.workspace AND k."user" = g."user")
FROM link_grants AS g JOIN workspaces AS w ON w.number = g.workspace WHERE g.grant_id = %(grant_id)s
"""
_REVOKE = """
DELETE FROM link_grants WHERE workspace = %(workspace)s AND (%(user)s::text IS NULL OR "user" = %(user)s)
"""
_EXPIRE = "DELETE FROM link_grants WHERE seen_at < now() - make_interval(days => %s)"


@dataclass(frozen=True, slots=True)
class LinkedPlace:
    """What a link leads to: a segment of a document, and the offsets of a quote, which are equal where there is none.

    ``checksum`` is that of the quote's words, by which a changed text is told.
    """

    document_id: str
    segment_index: int
    start: int = 0
    end: int = 0
    checksum: int = 0


def checksum(quote: str) -> int:
    """Return what a link keeps of the words of a quote."""
    return crc32(quote.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class LinkSigner:
    """Makes the links of one identity. Those of one day end together, so that a reply read again has the same ones."""

    signer: Signer
    grant_id: int
    until_day: int

    def path(self, document_id: str, segment_index: int, *, start: int = 0, quote: str = "") -> str:
        """Return the path of a link to a segment, and to a quote that begins at an offset of the canonical text."""
        place = _PLACE.pack(
            self.grant_id,
            UUID(document_id).bytes,
            self.until_day,
            segment_index,
            start,
            start + len(quote),
            checksum(quote) if quote else 0,
        )
        return f"{LINKS_PATH}{self.signer.sign(base64_encode(place)).decode()}#segment-{segment_index}"


class DocumentLinks:
    """The links of a deployment. They are on where requests are authenticated and links have days to live."""

    def __init__(self, database: Database, workspaces: Workspaces, settings: Settings) -> None:
        self._database = database
        self._workspaces = workspaces
        self._settings = settings
        self._seen: dict[tuple[str, str], tuple[Identity, float]] = {}

    @property
    def are_on(self) -> bool:
        return self._settings.auth.mode != "none" and self._settings.links.days > 0

    async def see(self, identity: Identity) -> None:
        """Record what credentials say of a user, at most every ten minutes while they say the same."""
        if not self.are_on:
            return
        key, now = (identity.workspace, identity.user), time.monotonic()
        known = self._seen.get(key)
        if known is not None and known[0] == identity and now - known[1] < SEEN_SECONDS:
            return
        async with self._database.connection() as connection:
            await self._record(connection, identity)
        self._seen.pop(key, None)
        if len(self._seen) >= MOST_SEEN:
            del self._seen[next(iter(self._seen))]
        self._seen[key] = (identity, now)

    async def signer(self, identity: Identity) -> LinkSigner | None:
        """Return what makes links for an identity; None where links are off, or strangers share it: it opens nothing.

        Raises NotFound, DatabaseUnavailable.
        """
        if not self.are_on or identity.is_shared:
            return None
        async with self._database.connection() as connection:
            grant_id = await self._record(connection, identity)
            secret = await self._secret(connection)
            if secret is None:
                await connection.execute(_MAKE_SECRET, [secrets.token_bytes(SECRET_BYTES)])
                secret = await self._secret(connection)
        assert secret is not None
        return LinkSigner(_signer(secret), grant_id, _today() + self._settings.links.days)

    async def open(self, token: str) -> tuple[Identity, LinkedPlace] | None:
        """Return as whom a link is opened and what it leads to; None for one that is not valid or not any more.

        Raises DatabaseUnavailable.
        """
        if not self.are_on or len(token) > LONGEST_TOKEN:
            return None
        async with self._database.connection() as connection:
            secret = await self._secret(connection)
            place = None if secret is None else _read(token, secret)
            if place is None:
                return None
            grant_id, document, until_day, *rest = place
            row = {"grant_id": grant_id, "hours": GROUPS_HOURS}
            found = await (await connection.execute(_GRANT, row)).fetchone()
        if found is None or _today() > until_day:
            return None
        workspace, user, rights, holds, latest, has_key = found
        identity = _identity(workspace, user, rights)
        if identity.is_shared:
            return None
        if self._settings.auth.mode == "keys" and has_key is not None:
            if not has_key:
                return None
        else:  # somebody whom an issuer or a proxy names
            identity = replace(identity, groups=tuple(g for g in identity.groups if g in latest.get("groups", ())))
        if not holds:
            identity = replace(identity, groups=())
        return identity, LinkedPlace(str(UUID(bytes=document)), *rest)

    async def rotate(self) -> None:
        """End all links of the deployment, by another secret."""
        await self._database.execute(_ROTATE, [secrets.token_bytes(SECRET_BYTES)])

    async def revoke(self, workspace: str, user: str | None = None) -> None:
        """End the links of a user in a workspace, or of all its users. Raises NotFound."""
        row = {"workspace": await self._workspaces.number(workspace), "user": user}
        await self._database.execute(_REVOKE, row)

    async def _secret(self, connection: Connection) -> bytes | None:
        secret: bytes | None = await value_of(connection, _SECRET)
        return secret

    async def _record(self, connection: Connection, identity: Identity) -> int:
        said = {name: value for name, value in asdict(identity).items() if name not in ("workspace", "user")}
        number = await self._workspaces.number(identity.workspace)
        row = {"workspace": number, "user": identity.user, "rights": Jsonb(said)}
        return int(await value_of(connection, _SEE, row))


async def expire_links(database: Database, *, days: int) -> None:
    """Delete the grants that no link which is still valid can name; ``days`` is how long links last."""
    await database.execute(_EXPIRE, [days + 2])


def _signer(secret: bytes) -> Signer:
    return Signer(secret, salt="citewell.document-link", key_derivation="hmac", digest_method=hashlib.sha256)


def _read(token: str, secret: bytes) -> tuple[Any, ...] | None:
    try:
        return _PLACE.unpack(base64_decode(_signer(secret).unsign(token)))
    except (BadData, struct.error, UnicodeError):
        return None


def _identity(workspace: str, user: str, rights: dict[str, Any]) -> Identity:
    held: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in rights.items()}
    return Identity(workspace, user, **{"reads_files": False, **held})  # of grants that do not say so, it is not known


def _today() -> int:
    """Return the number of days since 1970, UTC."""
    return int(time.time()) // DAY_SECONDS
