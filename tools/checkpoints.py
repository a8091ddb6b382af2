"""Sessions as LangGraph checkpoints in PostgreSQL."""

from typing import Any, cast

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from tools.database import Pool

# State holds builtins alone, so no module may be imported on the word of stored bytes (CVE-2026-28277).
BUILTINS_ONLY = JsonPlusSerializer(allowed_msgpack_modules=None)


def saver(pool: Pool) -> AsyncPostgresSaver:
    """Make a saver for one run over the shared pool; a saver's own lock would serialise runs that share it."""
    # The saver asks its cursors for rows as dicts by itself, whatever the pool's connections give.
    return AsyncPostgresSaver(cast(Any, pool), serde=BUILTINS_ONLY)
