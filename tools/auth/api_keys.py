"""API keys: 256 random bits that identify a workspace and a user, shown once and stored as a hash.

A key is too long to be guessed, so its plain SHA-256 is as good as a slow hash, and one indexed read finds it. The
first 64 bits of that hash are the key's id: they identify it in lists and logs, and reveal nothing about the key.
"""

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from graph.errors import InvalidRequest, NotFound, NotPermitted
from graph.evidence import Identity
from tools.auth.identities import (
    MOST_SPACES,
    NO_LIMITS,
    ORDINARY,
    SCOPES,
    Grant,
    Limits,
    Rights,
    Scope,
    checked_identity,
    checked_scopes,
    checked_spaces,
)
from tools.storage.database import TAKES_CHANGES, Database, row_of, rows_of
from tools.storage.tenants import Workspaces

PREFIX = "cw_"
KEY_BYTES = 32
LONGEST_LABEL = 200
USE_RECORDED_SECONDS = 60
_KEY = re.compile(rf"{PREFIX}[\w-]{{43}}", re.ASCII)
_ID = re.compile(r"[0-9a-f]{16}")

PUBLIC_LIMITS = Limits(600, 60, 2000)  # of a public key, where none are given

_KEY_ID = "encode(substring(key_hash FOR 8), 'hex')"
_WITHIN = "(%(within)s::text[] IS NULL OR spaces <@ %(within)s)"  # a key of all spaces is within none
_INSERT = """
INSERT INTO api_keys (key_hash, workspace, "user", label, scopes, spaces, origins, is_public,
                      a_minute, a_minute_by_address, runs_a_day)
VALUES (%(key_hash)s, %(workspace)s, %(user)s, %(label)s, %(scopes)s, %(spaces)s, %(origins)s, %(is_public)s,
        %(a_minute)s, %(a_minute_by_address)s, %(runs_a_day)s)
"""
_FIND = """
SELECT name, "user", scopes, spaces, origins, is_public, a_minute, a_minute_by_address, runs_a_day,
       last_used_at IS NULL OR last_used_at < now() - make_interval(secs => %(interval)s) AS is_due
FROM api_keys JOIN workspaces ON number = workspace
WHERE key_hash = %(key_hash)s AND revoked_at IS NULL
"""
# Repeats the condition, so that only the first of many concurrent requests writes.
_RECORD_USE = f"""
UPDATE api_keys SET last_used_at = now()
WHERE key_hash = %(key_hash)s AND (last_used_at IS NULL OR last_used_at < now() - make_interval(secs => %(interval)s))
  AND {TAKES_CHANGES}
"""
_LIST = f"""
SELECT {_KEY_ID} AS key_id, name AS workspace, "user", label, scopes, spaces, origins, is_public, a_minute,
       a_minute_by_address, runs_a_day, api_keys.created_at, last_used_at, revoked_at
FROM api_keys JOIN workspaces ON number = workspace
WHERE (%(workspace)s::integer IS NULL OR workspace = %(workspace)s) AND {_WITHIN}
ORDER BY api_keys.created_at, key_hash
"""
_ONE = f"{_LIST.partition('WHERE')[0]}WHERE {_KEY_ID} = %(key_id)s AND workspace = %(workspace)s"
_ORIGINS = "SELECT DISTINCT unnest(origins) FROM api_keys WHERE origins <> '{}' AND revoked_at IS NULL"
_REVOKE = f"""
UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
WHERE {_KEY_ID} = %(key_id)s AND (%(workspace)s::integer IS NULL OR workspace = %(workspace)s) AND {_WITHIN}
"""


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """What a new key may do, where, from which web pages, and how often.

    ``spaces`` are ids or slugs, None for all. A key with ``origins`` is sent by the browsers of strangers, so it may
    only ask; ``is_public`` makes the same of one that a server sends for them.
    """

    scopes: frozenset[Scope] = ORDINARY
    spaces: tuple[str, ...] | None = None
    origins: tuple[str, ...] = ()
    is_public: bool = False
    limits: Limits = NO_LIMITS

    @classmethod
    def asked_for(
        cls,
        scopes: Sequence[str] | None,
        spaces: Sequence[str] | None,
        origins: Sequence[str],
        is_public: bool,
        limits: Sequence[int | None],
    ) -> "KeyTerms":
        """Return the terms that somebody asked for, None standing for the default and a limit of 0 for none.

        Raises InvalidRequest.
        """
        public = is_public or bool(origins)
        given: frozenset[Scope] = frozenset({"ask"}) if public else ORDINARY
        if scopes is not None:
            given = checked_scopes(scopes)
            if unknown := [word for word in scopes if word not in SCOPES]:
                raise InvalidRequest(f"scope: {unknown[0]!r} is none of {', '.join(SCOPES)}.")
        defaults = astuple(PUBLIC_LIMITS if public else NO_LIMITS)
        chosen = [
            default if wanted is None else wanted or None for wanted, default in zip(limits, defaults, strict=True)
        ]
        return cls(
            given, None if spaces is None else tuple(spaces), tuple(origins), is_public, Limits(*chosen)
        ).checked()

    def within(self, rights: Rights) -> "KeyTerms":
        """Return the terms, in the spaces of these rights where they name none of their own.

        Raises NotPermitted where they go beyond the rights.
        """
        missing = [scope for scope in SCOPES if scope in self.scopes - rights.scopes]
        if missing:
            raise NotPermitted(
                f"scopes: these credentials don't have {' and '.join(missing)} themselves, so they can't give it.",
                suggestion="Leave it out, or make the key with credentials that have it, or by `citewell keys create`.",
            )
        if rights.spaces is None:
            return self
        beyond = [space for space in self.spaces or () if space not in rights.spaces]
        if beyond:
            raise NotPermitted(
                f"spaces: these credentials are for {', '.join(rights.spaces)} alone, not for {beyond[0]}.",
                suggestion="Leave `spaces` out for a key of the same spaces.",
            )
        return self if self.spaces else replace(self, spaces=rights.spaces)

    def user_for(self, wanted: str | None, maker: Identity) -> str:
        """Return whom a key of these terms authenticates as: by default its maker, or a new user where it shares.

        Who rules some spaces alone makes no key for somebody else, whose sessions may be of other spaces.
        Raises NotPermitted.
        """
        if maker.spaces is not None and wanted not in (None, maker.user):
            raise NotPermitted(
                f"user: these credentials are for {', '.join(maker.spaces)} alone, so they can't act as {wanted}.",
                suggestion="Leave `user` out: the key gets a user of its own. Say in `label` whom it is for.",
            )
        return wanted or self.user() or maker.user

    def user(self) -> str | None:
        """Return a new user for a key that must not share its sessions with anybody, else None."""
        return f"key-{secrets.token_hex(4)}" if self.is_public or self.spaces is not None else None

    def checked(self) -> "KeyTerms":
        """Return the terms with origins as browsers write them. Raises InvalidRequest."""
        if not self.scopes or not self.scopes <= frozenset(SCOPES):
            raise InvalidRequest(f"scope: it is one or several of {', '.join(SCOPES)}.")
        try:
            spaces = None if self.spaces is None else checked_spaces(self.spaces)
        except ValueError as error:
            raise InvalidRequest(f"{error}.") from None
        origins = tuple(dict.fromkeys(normal_origin(origin) for origin in self.origins))
        if len(origins) > MOST_SPACES:
            raise InvalidRequest(f"origin: a key has at most {MOST_SPACES} of them.")
        is_public = self.is_public or bool(origins)
        if is_public and self.scopes != {"ask"}:
            raise InvalidRequest(
                "scope: a public key may only ask, since anybody can take it from the page.",
                suggestion="Give it the scope ask alone, and make another key for your own server.",
            )
        return KeyTerms(self.scopes, spaces, origins, is_public, self.limits)


def normal_origin(origin: str) -> str:
    """Return an origin as browsers write it. Raises InvalidRequest for what is none."""
    written = origin.strip().rstrip("/").lower()
    try:
        parts = urlsplit(written)
        is_origin = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:  # an unclosed bracket
        is_origin = False
    if not is_origin or written != f"{parts.scheme}://{parts.netloc}":
        raise InvalidRequest(
            f"origin: {origin[:LONGEST_LABEL]!r} is not an origin.",
            suggestion="Write it as a browser does, with the port if there is one: https://docs.example.com.",
        )
    default = {"http": ":80", "https": ":443"}[parts.scheme]
    return written.removesuffix(default)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A listed key with its terms. ``last_used_at`` is accurate to the minute."""

    key_id: str
    workspace: str
    user: str
    label: str
    scopes: list[Scope]
    spaces: list[str] | None
    origins: list[str]
    is_public: bool
    a_minute: int | None
    a_minute_by_address: int | None
    runs_a_day: int | None
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


def key_id(key: str) -> str:
    """Return the id of a key, by which it is listed and revoked."""
    return _hash(key)[:8].hex()


class ApiKeys:
    """The keys of a deployment. They are never cached, so every process refuses a revoked key at once."""

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database = database
        self._workspaces = workspaces

    async def create(self, workspace: str, user: str, *, label: str = "", terms: KeyTerms | None = None) -> str:
        """Create a key and return it: this is the only time that it is visible.

        Raises NotFound if the workspace does not exist, InvalidRequest if a name, the label or a term is invalid.
        """
        try:
            identity = checked_identity(workspace, user)
        except ValueError as error:
            raise InvalidRequest(f"{error}.") from None
        if len(label) > LONGEST_LABEL or not label.isprintable():
            raise InvalidRequest(f"label: it may have at most {LONGEST_LABEL} characters, all of them printable.")
        terms = (terms or KeyTerms()).checked()
        key = PREFIX + secrets.token_urlsafe(KEY_BYTES)
        row = {
            "key_hash": _hash(key),
            "workspace": await self._workspaces.number(identity.workspace),
            "user": identity.user,
            "label": label,
            "scopes": [scope for scope in SCOPES if scope in terms.scopes],
            "spaces": None if terms.spaces is None else list(terms.spaces),
            "origins": list(terms.origins),
            "is_public": terms.is_public,
            "a_minute": terms.limits.a_minute,
            "a_minute_by_address": terms.limits.a_minute_by_address,
            "runs_a_day": terms.limits.runs_a_day,
        }
        await self._database.execute(_INSERT, row)
        return key

    async def find(self, key: str) -> Grant | None:
        """Return what a key allows, or None if it does not exist or is revoked.

        The key's last use is recorded at most once a minute.
        """
        if not _KEY.fullmatch(key):
            return None
        row = {"key_hash": _hash(key), "interval": USE_RECORDED_SECONDS}
        async with self._database.connection() as connection:
            found = await (await connection.execute(_FIND, row)).fetchone()
            if found is None:
                return None
            workspace, user, scopes, spaces, origins, is_public, *limits, is_due = found
            if is_due:
                await connection.execute(_RECORD_USE, row)
        return Grant(
            Identity(workspace, user),
            (workspace,),
            rights=Rights(frozenset(scopes), None if spaces is None else tuple(spaces)),
            credential=f"key:{key_id(key)}",
            origins=tuple(origins),
            is_public=is_public,
            limits=Limits(*limits),
        )

    async def origins(self) -> frozenset[str]:
        return frozenset([origin for (origin,) in await self._database.fetch_all(_ORIGINS)])

    async def list(self, workspace: str | None = None, *, within: Sequence[str] | None = None) -> list[ApiKey]:
        """List the keys of one workspace or of all, oldest first, including revoked ones.

        ``within``: only those that are restricted to some of these spaces. Raises NotFound.
        """
        number = None if workspace is None else await self._workspaces.number(workspace)
        row = {"workspace": number, "within": None if within is None else list(within)}
        async with self._database.connection() as connection:
            return await rows_of(connection, ApiKey, _LIST, row)

    async def get(self, workspace: str, key_id: str) -> ApiKey:
        """Return a key of a workspace. Raises NotFound."""
        row = {"key_id": key_id, "workspace": await self._workspaces.number(workspace)}
        async with self._database.connection() as connection:
            found = await row_of(connection, ApiKey, _ONE, row)
        if found is None:
            raise NotFound(f"There is no key {key_id!r}.", suggestion="See `citewell keys list`.")
        return found

    async def revoke(self, key_id: str, workspace: str | None = None, *, within: Sequence[str] | None = None) -> None:
        """Revoke one of the keys that ``list`` gives; a revoked one stays revoked. Raises NotFound."""
        number = None if workspace is None else await self._workspaces.number(workspace)
        row = {"key_id": key_id, "workspace": number, "within": None if within is None else list(within)}
        if _ID.fullmatch(key_id) and await self._database.execute(_REVOKE, row):
            return
        raise NotFound(f"There is no key {key_id!r}.", suggestion="See `citewell keys list`.")


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()
