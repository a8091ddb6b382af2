"""Limits of a credential: requests a minute, in all and from one address, and runs a day, shared by all processes.

What is used of a limit by the minute is one moment in time, at which all of it is free again: a request moves it on by
a step, and is refused where that would be more than a minute ahead. So a whole minute's requests may come at once, and
then one a step. Runs are counted by the day, which begins at midnight where spending's does.
"""

from datetime import UTC, tzinfo
from ipaddress import IPv6Address, ip_address
from typing import Any

from graph.errors import RateLimited
from text.counted import counted
from tools.auth.identities import Grant
from tools.spending.accounts import rest_of_day
from tools.storage.database import Connection, Database

MINUTE_SECONDS = 60.0
EXPIRED_AT_ONCE = 10_000
# A limit that a crash sets back by a moment harms nobody, and need not wait for the disk.
_DO_NOT_WAIT = "SET LOCAL synchronous_commit = off"
_TAKE = """
INSERT INTO used_limits AS u (credential, kind, full_at)
VALUES (%(credential)s, %(kind)s, now() + make_interval(secs => %(step)s))
ON CONFLICT (credential, kind) DO UPDATE SET full_at = greatest(u.full_at, now()) + make_interval(secs => %(step)s)
WHERE greatest(u.full_at, now()) + make_interval(secs => %(step)s) <= now() + %(most)s * make_interval(secs => %(step)s)
RETURNING 1
"""
_WAIT = """
SELECT ceil(extract(epoch FROM full_at - now()) - (%(most)s - 1) * %(step)s::float8)::integer
FROM used_limits WHERE credential = %(credential)s AND kind = %(kind)s
"""
_TAKE_RUN = """
INSERT INTO used_limits AS u (credential, kind, full_at, used) VALUES (%(credential)s, 'runs', %(day_ends)s, 1)
ON CONFLICT (credential, kind) DO UPDATE
SET used = CASE WHEN u.full_at = excluded.full_at THEN u.used + 1 ELSE 1 END, full_at = excluded.full_at
WHERE u.full_at <> excluded.full_at OR u.used < %(most)s
RETURNING 1
"""
_GIVE_BACK_RUN = """
UPDATE used_limits SET used = used - 1
WHERE credential = %(credential)s AND kind = 'runs' AND full_at = %(day_ends)s AND used > 0
"""
_EXPIRE = f"""
DELETE FROM used_limits WHERE ctid = ANY(array(
    SELECT ctid FROM used_limits WHERE full_at < now() LIMIT {EXPIRED_AT_ONCE}))
"""


class UsedLimits:
    """What the credentials of a deployment have used of their limits; its days begin at midnight in a time zone."""

    def __init__(self, database: Database, zone: tzinfo = UTC) -> None:
        self._database = database
        self._zone = zone

    async def take_request(self, grant: Grant, address: str) -> None:
        """Count a request, which comes from an IP address. Raises RateLimited, DatabaseUnavailable.

        The address goes first, so that one that is over its limit uses up nothing of what all share.
        """
        limits = grant.limits
        if limits.a_minute_by_address is None and limits.a_minute is None:
            return
        async with self._database.connection() as connection:
            if limits.a_minute_by_address is not None:
                kind = f"address:{client_network(address)}"
                await _take(connection, grant.credential, kind, limits.a_minute_by_address, "from one address")
            if limits.a_minute is not None:
                await _take(connection, grant.credential, "requests", limits.a_minute, "in all")

    async def take_run(self, grant: Grant) -> None:
        """Count a run. Raises RateLimited, DatabaseUnavailable."""
        most = grant.limits.runs_a_day
        if most is None:
            return
        ends, rest = rest_of_day(self._zone)
        row = {"credential": grant.credential, "most": most, "day_ends": ends}
        async with self._database.connection() as connection:
            if not await _counted(connection, _TAKE_RUN, row):
                raise RateLimited(
                    f"These credentials may ask {counted(most, 'question')} a day ({self._zone}), and have.",
                    retry_after=rest,
                )

    async def give_back_run(self, grant: Grant) -> None:
        """Take back the count of a run that did not begin."""
        if grant.limits.runs_a_day is not None:
            ends, _ = rest_of_day(self._zone)
            await self._database.execute(_GIVE_BACK_RUN, {"credential": grant.credential, "day_ends": ends})


async def expire_limits(database: Database) -> None:
    """Delete what is free again; at most 10,000 rows at a time, the rest goes next time."""
    await database.execute(_EXPIRE)


async def _take(connection: Connection, credential: str, kind: str, most: int, what: str) -> None:
    row = {"credential": credential, "kind": kind, "most": most, "step": MINUTE_SECONDS / most}
    if not await _counted(connection, _TAKE, row):
        found = await (await connection.execute(_WAIT, row)).fetchone()
        message = f"These credentials may send {most} requests a minute {what}."
        raise RateLimited(message, retry_after=max(found[0], 1) if found else 1)


async def _counted(connection: Connection, statement: str, row: dict[str, Any]) -> bool:
    async with connection.pipeline(), connection.transaction():
        await connection.execute(_DO_NOT_WAIT)
        return await (await connection.execute(statement, row)).fetchone() is not None


def client_network(address: str) -> str:
    """Return what counts as one address: of IPv6 the first 64 bits, since a household has all that follow."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(parsed, IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped) if mapped else str(IPv6Address(int(parsed) >> 64 << 64))
    return str(parsed)
