"""Execute a run from its turn to its end: the graph from its start, from a fork, or from the last checkpoint."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph

from graph.context import Context
from graph.errors import CitewellError, DatabaseUnavailable
from graph.events import EMIT_KEY, BudgetCaps, Queued, RunResumed, RunStarted
from graph.evidence import Section
from graph.ports import Resources, SegmentReader
from graph.state import FIRST_STEP, InputState, State
from tools.retrieval.run_texts import RUN_RESOURCES_KEY, resources_of_run
from tools.runs.admission import Admission
from tools.runs.completion import Completion, CompletionRecorder, internal_error
from tools.runs.event_log import POLL_SECONDS, wait_for_wakeup
from tools.runs.leases import Leases
from tools.runs.live_run import Run
from tools.runs.notifications import Notifications
from tools.runs.retry import retry_while_unavailable
from tools.runs.run_request import Superseded
from tools.runs.tasks import shield_until_done
from tools.sessions.checkpoints import RUN_ID_KEY, run_saver
from tools.sessions.expiry import prune_thread
from tools.storage.database import Database, database_errors

RECURSION_FUSE = 40

Durability = Literal["sync", "async", "exit"]
Graph = CompiledStateGraph[State, Context, InputState, State]


@dataclass(frozen=True, slots=True)
class Answered:
    """How a graph ended, and a reader of the texts that it was answered from."""

    state: State
    reader: SegmentReader


@dataclass(frozen=True, slots=True)
class Attempts:
    """What an attempt is made with."""

    graph: Graph
    resources: Resources
    database: Database
    durability: Durability

    async def answer(self, run: Run) -> Answered:
        """Take the graph from where the run stands to its end, telling what it says.

        An attempt but the first goes on from the run's last checkpoint, and tells which sections still hold. Raises
        CitewellError where a step fails, GraphDrained where the run's control asked for that.
        """
        resources = resources_of_run(self.resources)
        graph = self.graph.copy({"checkpointer": run_saver(self.database.pool, run.committed)})
        config: Any = {
            "configurable": {"thread_id": run.session_id, EMIT_KEY: run.tell, RUN_RESOURCES_KEY: resources},
            "recursion_limit": RECURSION_FUSE,
            "metadata": {RUN_ID_KEY: run.run_id},
        }
        values: dict[str, Any] = {}
        asked: Any = None
        with database_errors():
            if run.attempt > 1:
                values, over = await self._left_off(graph, config, run)
                if over:
                    return Answered(_final_state(values), resources.reader)
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
        return Answered(_final_state(values), resources.reader)

    async def _left_off(self, graph: Any, config: Any, run: Run) -> tuple[dict[str, Any], bool]:
        """Return what the run's last checkpoint holds, if it has one, and whether the graph was at its end."""
        state = await graph.aget_state(config)
        mine = (state.metadata or {}).get(RUN_ID_KEY) == run.run_id
        values: dict[str, Any] = state.values if mine else {}
        sections = _kept_sections(values, state.tasks) if mine else []
        run.tell(RunResumed(attempt=run.attempt, sections=list(range(len(sections)))))
        return values, mine and not state.tasks


def _kept_sections(values: dict[str, Any], tasks: Sequence[Any]) -> list[Section]:
    """Return the sections that are not written anew, those among them of a step whose own checkpoint is not written."""
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


def _final_state(values: dict[str, Any]) -> State:
    state = State(**values)
    if not state.outcome:
        raise CitewellError("The graph ended without an outcome.")
    return state


log = logging.getLogger("citewell.runs")

MOST_ATTEMPTS = 5
RETRY_SECONDS = 0.2


class Executor:
    """Takes runs through the graph, and each to exactly one end, unless another process is to go on with it."""

    def __init__(
        self, attempts: Attempts, endings: CompletionRecorder, leases: Leases, admission: Admission, bell: Notifications
    ) -> None:
        self._attempts = attempts
        self._endings = endings
        self._leases = leases
        self._admission = admission
        self._bell = bell

    async def drive(self, run: Run) -> None:
        """Wait for the run's turn unless it has it, then answer, and record how that ended."""
        try:
            if (end := await self._to_its_end(run)) is not None:
                # A cancel that comes while the end is being recorded comes too late: half a record would be no end.
                await shield_until_done(end)
                await self._prune(run)
        finally:
            self.let_out(run)

    def let_out(self, run: Run) -> None:
        """Count a run no longer among those of this process."""
        if run.begun:
            self._admission.leave()
        else:
            self._admission.wait_no_more()

    async def _to_its_end(self, run: Run) -> Completion | None:
        try:
            if not run.begun:
                await self._turn(run)
            if not run.has_started:
                run.tell(run_started(run))
            answered = await self._answer(run)
        except asyncio.CancelledError:
            if run.elsewhere is not None or run.left is not None:
                return None
            return self._endings.cancelled(run) if run.failure is None else self._endings.failed(run, run.failure)
        except GraphDrained:
            return None  # the process ends, and leaves the run
        except Superseded:
            self._endings.hand_over(run)
            return None
        except CitewellError as error:
            return self._endings.failed(run, error)
        except Exception:
            log.exception("run %s failed", run.run_id)
            return self._endings.failed(run, internal_error())
        return self._endings.answered(run, answered.state, answered.reader)

    async def _prune(self, run: Run) -> None:
        """Let go of checkpoints that nothing needs any more; what is left over goes with the next run's."""
        try:
            async with self._attempts.database.connection() as connection:
                await prune_thread(connection, run.session_id)
        except DatabaseUnavailable as error:
            log.warning("the checkpoints of session %s are not pruned: %s", run.session_id, error.message)

    async def _turn(self, run: Run) -> None:
        """Wait until the run is its session's next and this process has a slot for it; tell its place meanwhile."""

        def moved(place: int) -> None:
            if place != run.place:
                run.place = place
                run.tell(Queued(position=place))

        with self._bell.on(run.session_id) as rung:
            while not run.begun:
                rung.clear()
                if ahead := await retry_while_unavailable(lambda: self._leases.ahead(run), unless=lambda: run.left):
                    moved(ahead)
                    await wait_for_wakeup(rung, POLL_SECONDS)
                    continue
                await self._admission.enter(moved)
                run.begun = await self._claimed(run)
        self._admission.wait_no_more()

    async def _claimed(self, run: Run) -> bool:
        claimed = False
        try:
            claimed = await retry_while_unavailable(lambda: self._leases.claim_turn(run), unless=lambda: run.left)
        finally:
            if not claimed:
                self._admission.leave()
        return claimed

    async def _answer(self, run: Run) -> Answered:
        """Take the graph to its end; a database that was away for a moment costs an attempt, not the run."""
        while True:
            if run.attempt > MOST_ATTEMPTS:
                raise CitewellError("The run was cut off too often.")
            try:
                return await self._attempts.answer(run)
            except DatabaseUnavailable as error:
                log.warning("run %s: attempt %d ended with %s", run.run_id, run.attempt, error.message)
                await asyncio.sleep(RETRY_SECONDS * run.attempt)
                await run.committed()  # what is told under one attempt is not written under the next
                if not await retry_while_unavailable(lambda: self._leases.next_attempt(run)):
                    raise Superseded("Another process has taken this run over.") from error


def run_started(run: Run) -> RunStarted:
    """Say what a run begins with."""
    context = run.request.context
    return RunStarted(
        question=run.request.question,
        message_id=run.message_id,
        family=run.family,
        model=run.model,
        budget=BudgetCaps(model_calls=context.max_model_calls, tokens=context.max_tokens, seconds=context.max_seconds),
    )
