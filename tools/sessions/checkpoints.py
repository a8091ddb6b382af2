"""Checkpoints of sessions, as a run writes them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast, get_args

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg.types.json import Jsonb

from graph.evidence import Spent
from graph.rows import FIRST_STEP, Gathering, Outside
from tools.concurrency.tasks import finish_then_cancel
from tools.storage.database import Pool

# State holds builtins only, so stored bytes must never cause a module import (CVE-2026-28277).
BUILTINS_ONLY = JsonPlusSerializer(allowed_msgpack_modules=None)


RUN_ID_KEY = "citewell_run"  # in a checkpoint's metadata: the run that wrote it
PARALLEL_STEPS = get_args(Gathering)
OUTSIDE_STEPS = get_args(Outside)
INLINE = (str, int, float, bool)  # values that stand in the checkpoint's own row
WaitUntilCommitted = Callable[[], Awaitable[None]]
Step = tuple[RunnableConfig, Checkpoint, CheckpointMetadata]  # what a checkpoint is saved with
CheckpointRow = dict[str, Any]  # the parameters of ``STORE_BLOBS`` and ``STORE_STEP``


# The two parts of what stores a checkpoint, for who stores more by the same statement.
STORE_BLOBS = """
    INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    SELECT %(thread)s::text, %(namespace)s::text, channel, version, type, blob
    FROM unnest(%(channels)b::text[], %(versions)b::text[], %(blob_types)b::text[], %(blobs)b::bytea[])
        AS changed (channel, version, type, blob)
    ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING
"""
STORE_STEP = """
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
VALUES (%(thread)s, %(namespace)s, %(checkpoint_id)s, %(checkpoint_before)s, %(checkpoint)s, %(metadata)s)
ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id)
DO UPDATE SET checkpoint = excluded.checkpoint, metadata = excluded.metadata
"""
_STORE_CHECKPOINT = f"WITH stored AS ({STORE_BLOBS}) {STORE_STEP}"


class RunSaver(AsyncPostgresSaver):
    """A saver for one run, which saves nothing of a step before the step's events are committed.

    Runs that share one would wait for its lock.

    A step with a checkpoint never runs again, so events lost before it would never be emitted again. Also, a process
    whose run another process has taken over learns it when it writes its events, and then leaves the thread alone.

    It saves what cannot be done again for nothing: the checkpoint behind a step that called a model or searched
    outside. The other steps take milliseconds, and a checkpoint one more; a run that is cut off behind them repeats
    them. The last one is left to whoever records the run's end, for the same transaction, unless it holds what somebody
    is paid for. A thread that ``is_new`` has no checkpoint but those of this run.

    Without events to wait for it saves every step.
    """

    def __init__(
        self,
        pool: Pool,
        wait_until_committed: WaitUntilCommitted | None = None,
        *,
        is_new: bool = False,
    ) -> None:
        # The cast is safe: the saver sets the row factory of its cursors itself.
        super().__init__(cast(Any, pool), serde=BUILTINS_ONLY)
        self._pool = pool
        self.saved = 0  # checkpoints
        self._wait_until_committed = wait_until_committed or _nothing_to_commit
        self._every_step = wait_until_committed is None
        self._is_new = is_new
        self._kept_writes = PARALLEL_STEPS if self._every_step else OUTSIDE_STEPS
        self._holds_back = False  # whether there are checkpoints since the last that was saved
        self._parent: str | None = None  # of the first of them
        self._changed: ChannelVersions = {}  # in all of them
        self._last: Step | None = None  # the last of them, if it is behind the first step
        self._paid: dict[str, Spent] = {}
        self._without_writes: set[str] = set()  # checkpoints on which no step's writes are kept

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint of the thread, without a look where it has none yet."""
        return None if self._is_new and not self.saved else await super().aget_tuple(config)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint after the events that precede it are committed, or hold it back until a later one is saved.

        Those before the first step contain only the request, which is in the run's own row: a run without a checkpoint
        starts from there.
        """
        if not self._holds_back:
            self._holds_back, self._parent = True, get_checkpoint_id(config)
        self._changed = {**self._changed, **new_versions}
        requested = metadata.get("source") == "input" or _comes_next(checkpoint, FIRST_STEP)
        self._last = None if requested else (config, checkpoint, metadata)
        if requested or not (self._every_step or self._is_dear(checkpoint)):
            self._without_writes.add(checkpoint["id"])
            return _with_id(config, checkpoint["id"])
        if len(_gathering_next(checkpoint)) == 1:
            self._without_writes.add(checkpoint["id"])  # its checkpoint follows at once, in half the time of both
        return await self._save(config, checkpoint, metadata)

    async def save_last(self) -> None:
        """Save the last checkpoint if it was held back: call it for a run that stops before its end."""
        if self._last is not None:
            await self._save(*self._last)

    def take_last(self) -> CheckpointRow | None:
        """Return the row of the last checkpoint if it was left: call it when the graph has ended."""
        if self._last is None:
            return None
        config, checkpoint, metadata = self._last
        self._last = None
        self.saved += 1
        return self._row(_with_id(config, self._parent), checkpoint, metadata, self._changed)

    async def _save(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> RunnableConfig:
        await self._wait_until_committed()
        # Cancelled halfway, a statement leaves open whether it was done.
        saved = await finish_then_cancel(
            self._store(_with_id(config, self._parent), checkpoint, metadata, self._changed)
        )
        self._holds_back, self._changed, self._last, self._paid = False, {}, None, _paid(checkpoint)
        self.saved += 1
        return saved

    async def _store(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, changed: ChannelVersions
    ) -> RunnableConfig:
        """Write the rows that ``AsyncPostgresSaver.aput`` writes, by one statement instead of one for each channel."""
        async with self._pool.connection() as connection:
            await connection.execute(_STORE_CHECKPOINT, self._row(config, checkpoint, metadata, changed))
        return _with_id(config, checkpoint["id"])

    def _row(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, changed: ChannelVersions
    ) -> CheckpointRow:
        place, values = config["configurable"], checkpoint["channel_values"]
        inline = {name: value for name, value in values.items() if value is None or isinstance(value, INLINE)}
        versions = {name: at for name, at in changed.items() if name in values and name not in inline}
        blobs = self._dump_blobs(place["thread_id"], place["checkpoint_ns"], values, versions)
        return {
            "thread": place["thread_id"],
            "namespace": place["checkpoint_ns"],
            "checkpoint_id": checkpoint["id"],
            "checkpoint_before": place.get("checkpoint_id"),
            "checkpoint": Jsonb({**checkpoint, "channel_values": inline}),
            "metadata": Jsonb(get_serializable_checkpoint_metadata(config, metadata)),
            "channels": [each[2] for each in blobs],
            "versions": [each[3] for each in blobs],
            "blob_types": [each[4] for each in blobs],
            "blobs": [each[5] for each in blobs],
        }

    def _is_dear(self, checkpoint: Checkpoint) -> bool:
        """Whether a checkpoint holds what a model or a search outside gave meanwhile.

        So is one that searches side by side follow, if one of them is outside: what that gives is kept with it.
        """
        gathering = _gathering_next(checkpoint)
        beside = len(gathering) > 1 and not gathering.isdisjoint(OUTSIDE_STEPS)
        return beside or _paid(checkpoint) != self._paid

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save the writes of a parallel step after its events are committed; skip those of a step that runs alone.

        The checkpoint of a step that runs alone follows at once, and saving its writes first would take twice as long.
        """
        kept = any(task_path.endswith(name) for name in self._kept_writes)
        skipped = not kept or get_checkpoint_id(config) in self._without_writes
        if skipped and not any(channel in WRITES_IDX_MAP for channel, _ in writes):
            return
        await self._wait_until_committed()
        await finish_then_cancel(super().aput_writes(config, writes, task_id, task_path))


_NEXT = "branch:to:"  # before the name of a step, the channel that triggers it


def _gathering_next(checkpoint: Checkpoint) -> set[str]:
    return {step for step in PARALLEL_STEPS if _comes_next(checkpoint, step)}


def _paid(checkpoint: Checkpoint) -> dict[str, Spent]:
    """Return what the steps used that others worked for: a model, the web, or an MCP server."""
    spent: dict[str, Spent] = checkpoint["channel_values"].get("spent", {})
    return {step: used for step, used in spent.items() if used["calls"] or step in OUTSIDE_STEPS}


def _comes_next(checkpoint: Checkpoint, step: str) -> bool:
    """Whether a checkpoint is followed by a step, by the channel that triggers the step."""
    return f"{_NEXT}{step}" in checkpoint["channel_values"]


def _with_id(config: RunnableConfig, checkpoint_id: str | None) -> RunnableConfig:
    """Return a configuration that names another checkpoint of the thread, or none."""
    place = {name: value for name, value in config["configurable"].items() if name != "checkpoint_id"}
    return {**config, "configurable": place if checkpoint_id is None else {**place, "checkpoint_id": checkpoint_id}}


async def _nothing_to_commit() -> None:
    pass
