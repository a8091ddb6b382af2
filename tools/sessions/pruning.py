"""What sessions keep of their checkpoints, and delete with themselves: statements alone, which need no LangGraph."""

from collections.abc import Sequence

from tools.storage.database import Connection, value_of

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")

# A blob is used by the run that wrote it and by later runs of its branch. So only these kept checkpoints can share a
# blob with a deleted one: the parent of a deleted one, and those newer than the oldest deleted one.
# The session's row is locked first, as by every statement that deletes sessions: another order could deadlock.
_PRUNE = """
WITH held AS MATERIALIZED (
    SELECT 1 FROM sessions WHERE session_id = %(session_id)s FOR NO KEY UPDATE
), idle AS MATERIALIZED (
    SELECT 1 FROM held WHERE NOT EXISTS (
        SELECT 1 FROM runs WHERE session_id = %(session_id)s AND status = 'running'
    )
), kept AS MATERIALIZED (
    SELECT checkpoint_id FROM messages
    WHERE session_id = %(session_id)s AND role = 'assistant' AND checkpoint_id IS NOT NULL
    UNION
    SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = %(thread_id)s AND checkpoint_ns = ''
), deleted AS (
    DELETE FROM checkpoints
    WHERE thread_id = %(thread_id)s AND checkpoint_ns = '' AND EXISTS (SELECT 1 FROM idle)
      AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.checkpoint_id = checkpoints.checkpoint_id)
    RETURNING checkpoint_id, parent_checkpoint_id, checkpoint -> 'channel_versions' AS versions
), written AS (
    DELETE FROM checkpoint_writes
    WHERE thread_id = %(thread_id)s AND checkpoint_ns = '' AND EXISTS (SELECT 1 FROM idle)
), needed AS MATERIALIZED (
    SELECT DISTINCT named.key AS channel, named.value AS version
    FROM checkpoints JOIN kept USING (checkpoint_id)
    CROSS JOIN LATERAL jsonb_each_text(checkpoint -> 'channel_versions') AS named
    WHERE thread_id = %(thread_id)s AND checkpoint_ns = ''
      AND (checkpoint_id >= (SELECT min(checkpoint_id) FROM deleted)
           OR checkpoint_id IN (SELECT parent_checkpoint_id FROM deleted))
), freed AS MATERIALIZED (
    SELECT DISTINCT named.key AS channel, named.value AS version
    FROM deleted CROSS JOIN LATERAL jsonb_each_text(versions) AS named
    EXCEPT SELECT channel, version FROM needed
), blobs AS (
    DELETE FROM checkpoint_blobs USING freed
    WHERE thread_id = %(thread_id)s AND checkpoint_ns = ''
      AND checkpoint_blobs.channel = freed.channel AND checkpoint_blobs.version = freed.version
)
SELECT count(*) FROM deleted
"""


async def prune_thread(connection: Connection, session_id: str) -> int:
    """Delete a thread's checkpoints except the last of each finished run, and return how many were deleted.

    Nothing is deleted while a run of the session is in progress: call it after the end of a run is committed.
    """
    # Not prepared: a generic plan would scan the checkpoints of all threads.
    thread = {"session_id": session_id, "thread_id": session_id}  # a uuid in our tables, text in the saver's
    return int(await value_of(connection, _PRUNE, thread, prepare=False))


async def delete_threads(connection: Connection, session_ids: Sequence[str]) -> None:
    """Delete all checkpoints of some sessions; call it in the transaction that deletes the sessions."""
    for table in TABLES:
        await connection.execute(f"DELETE FROM {table} WHERE thread_id = ANY(%s)", [list(session_ids)])
