"""Sessions as LangGraph checkpoints in PostgreSQL, saved only after the events that led to them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast, get_args

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    get_checkpoint_id,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph.routing import Gathering
from graph.state import FIRST_STEP
from tools.runs.tasks import finish_then_cancel
from tools.storage.database import Pool

# State holds builtins alone, so no module may be imported on the word of stored bytes (CVE-2026-28277).
BUILTINS_ONLY = JsonPlusSerializer(allowed_msgpack_modules=None)


RUN_ID_KEY = "citewell_run"  # in a checkpoint's metadata: the run that wrote it
PARALLEL_STEPS = get_args(Gathering)
WaitUntilCommitted = Callable[[], Awaitable[None]]


class RunSaver(AsyncPostgresSaver):
    """A saver for one run, which keeps nothing of a step before the step's events are stored.

    A step whose checkpoint is there is never done again, so its events would never be told again either. And a process
    that another has taken the run over from learns it by its events, and then leaves the thread alone.
    """

    def __init__(self, pool: Pool, told: WaitUntilCommitted) -> None:
        # The saver asks its cursors for rows as dicts by itself, whatever the pool's connections give.
        super().__init__(cast(Any, pool), serde=BUILTINS_ONLY)
        self._told = told
        self._held_back: ChannelVersions = {}
        self._parent: str | None = None  # of the first checkpoint that was held back
        self._lone: set[str] = set()  # checkpoints that a single gathering step follows

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint once what led to it is told; hold back those from before the first step.

        They hold what was asked, which is in the run's own row, and a run that has none of its own starts from there.
        """
        if metadata["source"] == "input" or _comes_next(checkpoint, FIRST_STEP):
            self._parent = self._parent if self._held_back else get_checkpoint_id(config)
            self._held_back |= new_versions
            return _with_id(config, checkpoint["id"])
        if self._held_back:
            config, new_versions = _with_id(config, self._parent), {**self._held_back, **new_versions}
            self._held_back = {}
        if sum(_comes_next(checkpoint, step) for step in PARALLEL_STEPS) == 1:
            self._lone.add(checkpoint["id"])
        await self._told()
        # Cut off in the middle, a pipeline of statements breaks its connection, and says so when nobody can hear it.
        return await finish_then_cancel(super().aput(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save what a step wrote once what it said is told, where others may still be at work beside it.

        The checkpoint of a step that runs alone follows at once, and takes twice as long where its writes come first.
        """
        gathers = any(task_path.endswith(name) for name in PARALLEL_STEPS)
        alone = not gathers or get_checkpoint_id(config) in self._lone
        if alone and not any(channel in WRITES_IDX_MAP for channel, _ in writes):
            return
        await self._told()
        await finish_then_cancel(super().aput_writes(config, writes, task_id, task_path))


def _comes_next(checkpoint: Checkpoint, step: str) -> bool:
    """Whether a checkpoint leads to a step, by the channel that triggers it."""
    return f"branch:to:{step}" in checkpoint["channel_values"]


def _with_id(config: RunnableConfig, checkpoint_id: str | None) -> RunnableConfig:
    """Return a configuration that names another checkpoint of the thread, or none."""
    place = {name: value for name, value in config["configurable"].items() if name != "checkpoint_id"}
    return {**config, "configurable": place if checkpoint_id is None else {**place, "checkpoint_id": checkpoint_id}}


def run_saver(pool: Pool, told: WaitUntilCommitted | None = None) -> AsyncPostgresSaver:
    """Make a saver over the shared pool, of which each run has its own: one saver's lock would serialise them."""
    return RunSaver(pool, told or _nothing_to_commit)


async def _nothing_to_commit() -> None:
    pass
