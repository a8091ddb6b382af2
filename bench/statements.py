"""Statements that reach PostgreSQL, recorded where psycopg sends them and each called by what it is for."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

# What a run and the reader of a session say to the database, by a part of the text that no other statement has.
KINDS = {
    "run: entered with its first event": "INSERT INTO runs",
    "fork: where the run goes on from": "checkpoint_id = (\n    SELECT max(checkpoint_id)",
    "run: closed": "UPDATE runs SET status = 'finished'",
    "run: messages, last events and last checkpoint": "INSERT INTO messages",
    "run: old checkpoints pruned": "DELETE FROM checkpoint_blobs USING freed",
    "events: a batch committed": "FOR SHARE OF runs",
    "events: other processes notified": "SELECT pg_notify(",
    "checkpoint: the session's last": "as pending_writes",
    "checkpoint: one step": "INSERT INTO checkpoints",
    "checkpoint: writes beside other steps": "INSERT INTO checkpoint_writes",
    "search: planner settings": "set_config('plan_cache_mode'",
    "search: segments": "ranked AS MATERIALIZED",
    "search: documents by title": "d.title_key",
    "search: common words of titles": "JOIN library_statistics AS l USING (workspace)",
    "search: words that the library knows": "FROM vocabulary AS v WHERE v.workspace = l.workspace",
    "segments: read by id": "WITH ORDINALITY AS w (document_id, index, place)",
    "segments: fingerprints": "sha256(string_agg(",
    "pages: read whole": "WITH ORDINALITY AS w (document_id, place)",
    "places: documents by name, or with pages": "ILIKE ANY(%(parts)s",
    "places: pages": "s.page_idx = ANY(%(pages)s",
    "places: what begins so": "f.heading ~* ",
    "places: segments around": "max(index) + ",
    "session: opened": "AS answers\nFROM sessions",
    "session: what is withheld of its turns": "'$.*[*].document_id'",
    "session: a branch": "WITH RECURSIVE branch",
    "session: messages with their bodies": "FROM messages WHERE message_id = ANY",
    "session: rights to documents": "FROM documents AS d\nWHERE d.workspace = %(workspace)s AND d.document_id = ANY",
}
CHECKED = "pool: a connection checked"  # by an empty statement, where it was idle for some seconds
# What workers of jobs ask by the clock, whatever else is done, is not counted.
POLLED = ("WITH busy AS (", "problem = %(problem)s, lease_owner = NULL")


def kind_of(statement: str) -> str:
    """Name a statement by what it is for, or by its first words where it is none of these."""
    found = next((kind for kind, part in KINDS.items() if part in statement), None)
    return found or re.sub(r"\s+", " ", statement).strip()[:60] or CHECKED


@contextmanager
def recorded_statements() -> Iterator[Counter[str]]:
    """Count the statements that are sent inside the block, by kind, without polls; a batch of rows counts as one."""
    counted: Counter[str] = Counter()

    def counting(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        def counts(cursor: Any, query: Any, *arguments: Any, **options: Any) -> Awaitable[Any]:
            statement = query if isinstance(query, str) else query.as_string(cursor)
            if not any(part in statement for part in POLLED):
                counted[kind_of(statement)] += 1
            return original(cursor, query, *arguments, **options)

        return counts

    originals = {name: getattr(psycopg.AsyncCursor, name) for name in ("execute", "executemany", "copy")}
    for name, original in originals.items():
        setattr(psycopg.AsyncCursor, name, counting(original))
    try:
        yield counted
    finally:
        for name, original in originals.items():
            setattr(psycopg.AsyncCursor, name, original)
