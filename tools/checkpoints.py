"""Sessions as LangGraph checkpoints in PostgreSQL."""

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

# State holds builtins alone, so no module may be imported on the word of stored bytes (CVE-2026-28277).
BUILTINS_ONLY = JsonPlusSerializer(allowed_msgpack_modules=None)


def saver(pool: AsyncConnectionPool) -> AsyncPostgresSaver:
    """Make a saver for one run over the shared pool; a saver's own lock would serialise runs that share it."""
    return AsyncPostgresSaver(pool, serde=BUILTINS_ONLY)
