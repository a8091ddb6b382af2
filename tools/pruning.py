"""Let go of checkpoints that no later run needs: of each finished run the last one stays, as a place to fork from.

Pruning is one statement, hence one snapshot of the database. Where a run is going on in the thread in that snapshot,
nothing is deleted; where none is, whatever the snapshot holds was written by runs that have ended, and one that begins
meanwhile goes on from a checkpoint that stays.
"""

from collections.abc import Sequence

from tools.database import Connection

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")

# A blob belongs to the runs of a branch from the one that wrote it on. So what a deleted checkpoint names can be named
# by a kept one only where that is the one its run went on from, or came after the oldest deleted.
# Whoever deletes the session holds its row first: two that deleted in another order could wait for each other.
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
    """Delete what a thread's finished runs left but their last checkpoints; gives how many checkpoints went.

    Nothing is deleted while a run of the session is going on: call it after a run's end is committed.
    """
    # Planned for this thread: a plan for any thread would read the tables of all.
    thread = {"session_id": session_id, "thread_id": session_id}  # a uuid of ours, a text of the saver's
    row = await (await connection.execute(_PRUNE, thread, prepare=False)).fetchone()
    assert row is not None
    return int(row[0])


async def delete_threads(connection: Connection, session_ids: Sequence[str]) -> None:
    """Delete all checkpoints of sessions that go, in the transaction in which they do."""
    for table in TABLES:
        await connection.execute(f"DELETE FROM {table} WHERE thread_id = ANY(%s)", [list(session_ids)])
