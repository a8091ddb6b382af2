"""Citewell's own sessions as threads of the LangGraph server: read where they are, and forked beside them.

A session's thread is read from the product's checkpoints. What the server writes to it, it writes to its own store, so
that no run in Studio changes what the session remembers.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
)
from langgraph.checkpoint.memory import InMemorySaver

from api.dialects.langgraph.thread_messages import with_ours
from api.studio.graph_server import opened_library
from graph.evidence import answer_text
from graph.rows import Turn
from tools.sessions.checkpoints import RunSaver


@asynccontextmanager
async def open_checkpointer() -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the checkpointer that langgraph.json names: the server's own store, over the sessions of the library."""
    # The server's own store; the product itself does not have it.
    from langgraph_runtime.checkpoint import Checkpointer  # type: ignore[import-untyped]

    library = await opened_library()
    yield SessionSaver(Checkpointer(), RunSaver(library.database.pool))


class SessionSaver(BaseCheckpointSaver[str]):
    """A checkpointer that writes to its ``own`` store, and also reads the threads of ``sessions``."""

    def __init__(self, own: InMemorySaver, sessions: BaseCheckpointSaver[str]) -> None:
        super().__init__(serde=own.serde)
        self._own = own
        self._sessions = sessions

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return the next version of a value, in the form of the sessions' own."""
        return self._sessions.get_next_version(current, channel)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that is named, or the newest of either store."""
        own = await self._own.aget_tuple(config)
        if own is not None and get_checkpoint_id(config):
            return own
        stored = await self._sessions.aget_tuple(config) if _may_be_session(config) else None
        if stored is None or (own is not None and _id(own) > _id(stored)):
            return own
        return with_messages(stored)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield the checkpoints of a thread from both stores, the newest first."""
        found = [each async for each in self._own.alist(config, filter=filter, before=before, limit=limit)]
        if config is not None and _may_be_session(config):
            stored = self._sessions.alist(config, filter=filter, before=before, limit=limit)
            found += [with_messages(each) async for each in stored]
        for each in sorted(found, key=_id, reverse=True)[:limit]:
            yield each

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint whole, since the values that it has from a session are not in this store."""
        return await self._own.aput(config, checkpoint, metadata, {**checkpoint["channel_versions"], **new_versions})

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store writes beside a checkpoint."""
        await self._own.aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete what this store has of a thread; a session is deleted by Citewell itself."""
        await self._own.adelete_thread(thread_id)

    async def adelete_for_runs(self, run_ids: Iterable[str]) -> None:
        """Delete the checkpoints of runs that were taken back."""
        gone = set(run_ids)
        for namespaces in self._own.storage.values():
            for checkpoints in namespaces.values():
                for checkpoint_id, (_, metadata, _) in list(checkpoints.items()):
                    if self._own.serde.loads_typed(metadata).get("run_id") in gone:
                        del checkpoints[checkpoint_id]


def _id(stored: CheckpointTuple) -> str:
    return stored.checkpoint["id"]


def _may_be_session(config: RunnableConfig) -> bool:
    """Whether a thread may be a session's: these have canonical UUIDs, and no subgraphs."""
    place = config["configurable"]
    thread_id = str(place.get("thread_id", ""))
    try:
        return str(UUID(thread_id)) == thread_id and not place.get("checkpoint_ns")
    except ValueError:
        return False


def with_messages(stored: CheckpointTuple) -> CheckpointTuple:
    """Return a session's checkpoint with the messages that chat clients show, made from the turns that it remembers."""
    checkpoint = stored.checkpoint
    values = checkpoint["channel_values"]
    turns: list[Turn] = list(values.get("turns", []))
    if values.get("outcome"):
        asked = values["asked"]
        turns.append(Turn(question=asked, standalone_question=asked, answer=answer_text(values["sections"])))
    if "messages" in values or not turns:
        return stored
    versions = checkpoint["channel_versions"]
    messages = _messages_of(turns, str(stored.config["configurable"]["thread_id"]))
    shown = {
        **checkpoint,
        "channel_values": {**values, "messages": messages},
        "channel_versions": {**versions, "messages": max(versions.values())},
    }
    return stored._replace(checkpoint=Checkpoint(**shown))  # type: ignore[typeddict-item]


def _messages_of(turns: Sequence[Turn], thread_id: str) -> list[AnyMessage]:
    """Return turns as messages, whose ids stay the same as the thread goes on and old turns are forgotten."""
    made: list[AnyMessage] = []
    seen: dict[str, int] = {}
    for turn in turns:
        said = f"{thread_id}\n{turn['question']}\n{turn['answer']}"
        seen[said] = seen.get(said, 0) + 1
        turn_id = uuid5(NAMESPACE_URL, f"{said}\n{seen[said]}")
        ours = {"question": turn["question"], "outcome": "answered"}
        made.append(HumanMessage(content=turn["question"], id=str(turn_id)))
        made.append(AIMessage(content=turn["answer"], id=f"{turn_id}-answer", additional_kwargs=with_ours(ours)))
    return made
