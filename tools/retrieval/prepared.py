"""Statements that are planned once and run with the settings of a search."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg

from tools.database import Connection

EXPLORED = 450  # neighbours that HNSW keeps while it looks
# A plan made once for all parameters: planning takes longer than the search itself in a small workspace.
_SETTINGS = (
    "SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),"
    f" set_config('hnsw.ef_search', '{EXPLORED}', true), set_config('hnsw.iterative_scan', 'strict_order', true)"
)
_PARAMETER = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with numbered parameters, and their names in order."""

    text: str
    parameters: tuple[str, ...]

    async def execute(self, conn: Connection, bound: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run it and fetch all rows, in one round trip and, up to its end, one transaction.

        Within a pipeline of the caller's the transaction ends with that.
        """
        async with conn.pipeline():
            await conn.execute(_SETTINGS, prepare=True)
            cursor = psycopg.AsyncRawCursor(conn)
            values = [bound[name] for name in self.parameters]
            await cursor.execute(self.text, values, prepare=True, binary=True)
            return await cursor.fetchall()


def numbered(text: str) -> Statement:
    """Give a statement's named parameters numbers.

    Once for many searches: psycopg would translate the names of a long statement anew for every one.
    """
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    return Statement(_PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", text), names)
