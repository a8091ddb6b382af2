"""One attempt at a run: the graph from its start, from a fork, or from the checkpoint where the last attempt stood."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from langgraph.graph.state import CompiledStateGraph

from graph.context import Context
from graph.errors import CitewellError
from graph.events import TELL, RunResumed
from graph.evidence import Section
from graph.state import FIRST_STEP, InputState, State
from tools.checkpoints import RUN, saver
from tools.database import Database, database_errors
from tools.running.live import Run

RECURSION_FUSE = 40

Durability = Literal["sync", "async", "exit"]
Graph = CompiledStateGraph[State, Context, InputState, State]


@dataclass(frozen=True, slots=True)
class Attempts:
    """What an attempt is made with."""

    graph: Graph
    database: Database
    durability: Durability

    async def answer(self, run: Run) -> State:
        """Take the graph from where the run stands to its end, telling what it says.

        An attempt but the first goes on from the run's last checkpoint, and tells which sections still hold. Raises
        CitewellError where a step fails, GraphDrained where the run's control asked for that.
        """
        graph = self.graph.copy({"checkpointer": saver(self.database.pool, run.committed)})
        config: Any = {
            "configurable": {"thread_id": run.session_id, TELL: run.tell},
            "recursion_limit": RECURSION_FUSE,
            "metadata": {RUN: run.run_id},
        }
        values: dict[str, Any] = {}
        asked: Any = None
        with database_errors():
            if run.attempt > 1:
                values, over = await self._left_off(graph, config, run)
                if over:
                    return _ended(values)
            if not values:
                asked = _input(run)
                if run.fork_checkpoint:
                    config["configurable"]["checkpoint_id"] = run.fork_checkpoint
            async for part in graph.astream(
                asked,
                config,
                context=run.request.context,
                stream_mode="values",
                version="v2",
                durability=self.durability,
                control=run.control,
            ):
                begun = bool(values)  # what comes first is the session as the last run left it
                values = cast(dict[str, Any], part["data"])  # a copied graph has lost its mapper to State
                run.spent = values.get("spent", {}) if begun else {}
        return _ended(values)

    async def _left_off(self, graph: Any, config: Any, run: Run) -> tuple[dict[str, Any], bool]:
        """Give what the run's last checkpoint holds, if it has one, and whether the graph was at its end."""
        state = await graph.aget_state(config)
        mine = (state.metadata or {}).get(RUN) == run.run_id
        values: dict[str, Any] = state.values if mine else {}
        sections = _standing(values, state.tasks) if mine else []
        run.tell(RunResumed(attempt=run.attempt, sections=list(range(len(sections)))))
        return values, mine and not state.tasks


def _standing(values: dict[str, Any], tasks: Sequence[Any]) -> list[Section]:
    """Give the sections that are not written anew, those among them of a step whose own checkpoint is not written."""
    standing = values.get("sections", [])
    for task in tasks:
        done = isinstance(task.result, dict)
        if task.name in ("__start__", FIRST_STEP) and not done:
            return []  # until the first step has cleared them, sections are those of the run before
        if done:
            standing = task.result.get("sections", standing)
    return list(standing)


def _input(run: Run) -> dict[str, Any]:
    # A plain dict, since a checkpoint keeps the input as it was given and holds nothing but builtins.
    request = run.request
    history = list(request.history) if request.history is not None else None
    return {
        "question": request.question,
        "page_ids": list(request.page_ids),
        "selected_text": request.selected_text,
        "history": [] if run.fork_checkpoint == "" else history,
    }


def _ended(values: dict[str, Any]) -> State:
    state = State(**values)
    if not state.outcome:
        raise CitewellError("The graph ended without an outcome.")
    return state
