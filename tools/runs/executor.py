"""Run the graph for each admitted question, from its turn to its end."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph

from answers.citations import nearest_sources
from answers.event_loop import yield_to_event_loop
from answers.surroundings import beside
from graph.context import Context
from graph.errors import CitewellError, DatabaseUnavailable, Overloaded
from graph.events import EMIT_KEY, BudgetCaps, Queued, RunResumed, RunStarted
from graph.evidence import Section, Spent
from graph.ports import Resources, SegmentReader
from graph.rows import FIRST_STEP, Turn
from graph.state import ADVANCED_KEY, InputState, State
from graph.usage import charged_to, use_by_model
from tools.concurrency.tasks import cancel_and_wait, shield_until_done
from tools.retrieval.segment_store import RUN_RESOURCES_KEY, RunTexts, resources_of_run
from tools.runs.completion import Completion, CompletionRecorder, internal_error
from tools.runs.event_log import POLL_SECONDS, wait_for_wakeup
from tools.runs.leases import Leases
from tools.runs.live_run import Run
from tools.runs.notifications import Notifications
from tools.runs.readings import Load
from tools.sessions.checkpoints import RUN_ID_KEY, CheckpointRow, RunSaver
from tools.sessions.pruning import prune_thread
from tools.sessions.run_request import Superseded
from tools.sessions.withheld_turns import turns_without_withheld
from tools.storage.database import Database, database_errors, retry_while_unavailable
from tools.telemetry.logs import log_ids
from tools.telemetry.tracing import describe_run, run_span

log = logging.getLogger("citewell.runs")

OnMove = Callable[[int], None]


class Admission:
    """Slots for runs, handed out in the order of the requests.

    A waiting run is counted from the moment it is admitted, even while it waits for its session and has not yet asked
    for a slot.
    """

    def __init__(self, max_active: int, max_waiting: int) -> None:
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._active = 0
        self.waiting = 0
        self._line: list[tuple[asyncio.Future[None], OnMove]] = []

    @property
    def room(self) -> int:
        """The number of runs that could start now."""
        return max(0, self._max_active - self._active - len(self._line))

    def load(self, *, leases: int) -> Load:
        """Return how many runs are active and waiting, of how many may be."""
        return Load(self._active, self.waiting, self._max_active, self._max_waiting, leases)

    @property
    def next_position(self) -> int:
        """The position in the line that the next request for a slot would get, counted from 1."""
        return len(self._line) + 1

    def admit(self) -> bool:
        """Take a free slot and return True, or count the run as waiting and return False.

        Raises Overloaded where there is no slot and no more runs may wait.
        """
        if self.room:
            self._active += 1
            return True
        self._wait()
        return False

    def admit_taken_over(self, *, begun: bool) -> None:
        """Admit a run that another process had already admitted, whether there is room or not."""
        if begun:
            self._active += 1
        else:
            self.waiting += 1

    def move_to_waiting(self) -> None:
        """Release the slot of a run that has to wait after all. Raises Overloaded where no more may wait."""
        self._wait()
        self.release()

    async def acquire(self, on_move: OnMove) -> None:
        """Wait for a slot; ``on_move`` is called with the position in the line, counted from 1, whenever it changes."""
        if self.room:
            self._active += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter = (turn, on_move)
        self._line.append(waiter)
        on_move(len(self._line))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()  # the slot was granted at the same moment
            elif waiter in self._line:
                self._line.remove(waiter)
                self._report_positions()
            raise

    def release(self) -> None:
        """Release a slot to the first in the line."""
        self._active -= 1
        while self._line and self._active < self._max_active:
            turn, _ = self._line.pop(0)
            if not turn.done():
                self._active += 1
                turn.set_result(None)
        self._report_positions()

    def stop_waiting(self) -> None:
        self.waiting -= 1

    def _wait(self) -> None:
        if self.waiting >= self._max_waiting:
            raise Overloaded(
                f"{self._active} runs are active and {self.waiting} are waiting; this process accepts no more."
            )
        self.waiting += 1

    def _report_positions(self) -> None:
        for position, (_, on_move) in enumerate(self._line, start=1):
            on_move(position)


WAITING_FOR_EACH = 4  # runs, of those that a process answers at once: who comes later would wait for minutes
RECURSION_FUSE = 40

Durability = Literal["sync", "async", "exit"]
Graph = CompiledStateGraph[State, Context, InputState, State]


@dataclass(frozen=True, slots=True)
class Answered:
    """The final state of a graph, and a reader of the texts that the run was answered from.

    ``checkpoint`` is the last one, for the run's end to be committed with; None where it is stored.
    """

    state: State
    reader: SegmentReader
    checkpoint: CheckpointRow | None = None


@dataclass(frozen=True, slots=True)
class Attempts:
    """Attempts at running the graph, with the resources they need."""

    graph: Graph
    resources: Resources
    database: Database
    durability: Durability

    async def answer(self, run: Run) -> Answered:
        """Run the graph to its end and emit its events to the run.

        Every attempt but the first resumes from the run's last checkpoint, and emits which sections are still valid.
        Raises CitewellError where a step fails, GraphDrained where the run's control requested a drain.
        """
        texts = RunTexts(self.resources, run.session_id)
        resources = resources_of_run(self.resources, texts)
        saver = self._saver_of(run)
        graph, config = self._graph_of(run, resources, saver)
        config["configurable"][ADVANCED_KEY] = partial(_note, run, texts)
        values: dict[str, Any] = {}
        graph_input: Any = None
        with database_errors():
            if run.attempt > 1:
                values, over = await self._load_checkpoint(graph, config, run)
                if over:
                    return Answered(_final_state(values), resources.reader)
            if not values:
                graph_input = _input(run, await self._known_turns(run))
                if run.fork_checkpoint:
                    config["configurable"]["checkpoint_id"] = run.fork_checkpoint
            try:
                async for now in graph.astream(
                    graph_input,
                    config,
                    context=run.request.context,
                    stream_mode="values",
                    durability=self.durability,
                    control=run.control,
                ):
                    if values:  # the first values are the session as the last run left it
                        _note(run, texts, State(**now))
                    values = now
            except (asyncio.CancelledError, GraphDrained):
                await _save_last(saver, run)
                raise
            else:
                answered = Answered(_final_state(values), resources.reader, saver.take_last())
            finally:
                run.checkpoints += saver.saved
        return answered

    async def _known_turns(self, run: Run) -> list[Turn] | None:
        """Return the turns that replace those that the session remembers, None where it may know its own."""
        if run.fork_checkpoint == "":
            return []
        if run.request.history is not None:
            return list(run.request.history)
        if not run.remembers:
            return None
        identity = run.request.context.identity
        return await turns_without_withheld(self.database, run.session_id, run.run_id, identity)

    def _saver_of(self, run: Run) -> RunSaver:
        is_new = run.attempt == 1 and not run.remembers
        return RunSaver(self.database.pool, run.committed, is_new=is_new)

    def _graph_of(self, run: Run, resources: Resources, saver: RunSaver) -> tuple[Any, Any]:
        graph = copy(self.graph)  # its own method would make and validate the copy anew
        graph.checkpointer = saver
        config = {
            "configurable": {"thread_id": run.session_id, EMIT_KEY: run.emit, RUN_RESOURCES_KEY: resources},
            "recursion_limit": RECURSION_FUSE,
            "metadata": {RUN_ID_KEY: run.run_id},
        }
        return graph, config

    async def restore_spent(self, run: Run) -> None:
        """Restore what the finished steps of a run used, of one that another process left and that ends here."""
        graph, config = self._graph_of(run, self.resources, self._saver_of(run))
        with database_errors():
            state = await graph.aget_state(config)
        if (state.metadata or {}).get(RUN_ID_KEY) == run.run_id:
            run.spent = _spent_so_far(state.values, state.tasks)
            if run.account is not None:
                run.account.restore(use_by_model(run.spent))

    async def _load_checkpoint(self, graph: Any, config: Any, run: Run) -> tuple[dict[str, Any], bool]:
        """Return the values of the run's last checkpoint, empty if it has none, and whether the graph had finished."""
        state = await graph.aget_state(config)
        mine = (state.metadata or {}).get(RUN_ID_KEY) == run.run_id
        values: dict[str, Any] = state.values if mine else {}
        if run.account is not None and run.begins_at > 1:
            run.account.restore(use_by_model(_spent_so_far(values, state.tasks)))
        sections = _kept_sections(values, state.tasks) if mine else []
        run.emit(RunResumed(attempt=run.attempt, sections=list(range(len(sections)))))
        return values, mine and not state.tasks


def _note(run: Run, texts: RunTexts, state: State) -> None:
    """Note what a run has used, and let go of the texts that no step will read again."""
    run.spent = state.spent
    if state.rounds:
        texts.let_go(_left_out(state))


def _left_out(state: State) -> set[str]:
    """Return the segments that were graded and are neither sources, beside those, nor what a refusal would name."""
    nearest = nearest_sources(state.candidates, state.repeated, state.nearest)
    kept = {row["segment_id"] for row in (*state.sources, *nearest)}
    return {*state.graded, *state.repeated} - kept - set(beside(kept))


async def _save_last(saver: RunSaver, run: Run) -> None:
    """Save where a stopped run stands; whoever goes on from there can do without, and repeats a few quick steps."""
    try:
        with database_errors():
            await saver.save_last()
    except CitewellError as error:
        log.info("run %s stopped, and its last steps are not saved: %s", run.run_id, error.message)


def _kept_sections(values: dict[str, Any], tasks: Sequence[Any]) -> list[Section]:
    """Return the sections that are kept, including those of a finished step whose checkpoint is not yet written."""
    kept = values.get("sections", [])
    for task in tasks:
        done = isinstance(task.result, dict)
        if task.name in ("__start__", FIRST_STEP) and not done:
            return []  # until the first step clears them, the sections are those of the previous run
        if done:
            kept = task.result.get("sections", kept)
    return list(kept)


def _spent_so_far(values: dict[str, Any], tasks: Sequence[Any]) -> dict[str, Spent]:
    """Return what the finished steps of a run used; until the first one clears it, the state has the last run's."""
    first = any(task.name in ("__start__", FIRST_STEP) and not isinstance(task.result, dict) for task in tasks)
    return {} if first else values.get("spent", {})


def _input(run: Run, history: list[Turn] | None) -> dict[str, Any]:
    # A plain dict, since a checkpoint stores the input as it is and may hold only builtins.
    request = run.request
    return {
        "question": request.question,
        "page_ids": [*request.page_ids, *request.collected],
        "selected_text": request.selected_text,
        "history": history,
    }


def _final_state(values: dict[str, Any]) -> State:
    state = State(**values)
    if not state.outcome:
        raise CitewellError("The graph ended without an outcome.")
    return state


MAX_ATTEMPTS = 5
RETRY_SECONDS = 0.2


class Executor:
    """Runs the graph for each run, and records exactly one end unless another process is to continue the run."""

    def __init__(
        self,
        attempts: Attempts,
        recorder: CompletionRecorder,
        leases: Leases,
        admission: Admission,
        notifications: Notifications,
    ) -> None:
        self._attempts = attempts
        self._recorder = recorder
        self._leases = leases
        self._admission = admission
        self._notifications = notifications
        self._pruning: set[asyncio.Task[None]] = set()

    async def end_stopped(self, run: Run) -> None:
        """Record the end of a run that another process left, and that was to be stopped, with what it used."""
        await self._attempts.restore_spent(run)
        await self._recorder.record_cancelled(run)
        await self._recorder.charge_deleted(run)

    async def run(self, run: Run) -> None:
        """Wait for the run's turn unless it has begun, answer it, and record how it ended."""
        end: Completion | None = None
        try:
            with (
                log_ids(run_id=run.run_id),
                run_span(run.run_id, run.session_id, run.request.context, attempt=run.attempt) as span,
            ):
                try:
                    with charged_to(run.account):
                        end = await self._run_to_end(run)
                    if end is not None:
                        # Shielded: a cancel while the end is being recorded would leave the run without one.
                        await shield_until_done(end)
                    await shield_until_done(self._recorder.charge_deleted(run))
                finally:
                    describe_run(span, run.request.question, run.model, run.message_id, run.end)
        finally:
            self.release(run)
        if end is not None and (run.attempt > 1 or run.checkpoints > 1):  # else its only checkpoint is its last one
            # Not in the run's own task: the next run need not wait for it, and who cancels the run does not stop it.
            pruning = asyncio.create_task(self._prune(run), name=f"citewell-prune-{run.run_id}")
            self._pruning.add(pruning)
            pruning.add_done_callback(self._pruning.discard)

    async def close(self, seconds: float) -> None:
        """Give the deleting of old checkpoints at most ``seconds`` to end, and stop it."""
        if pruning := list(self._pruning):
            await asyncio.wait(pruning, timeout=seconds)
            await cancel_and_wait(*pruning)

    def release(self, run: Run) -> None:
        """Release the run's slot, or its place among the waiting runs."""
        if run.begun:
            self._admission.release()
        else:
            self._admission.stop_waiting()

    async def _run_to_end(self, run: Run) -> Completion | None:
        try:
            await yield_to_event_loop()  # to the response, which tells that the run has started
            if not run.begun:
                await self._wait_for_turn(run)
            if not run.has_started:
                run.emit(run_started(run))
            answered = await self._answer(run)
        except asyncio.CancelledError:
            if run.elsewhere is not None or run.left is not None:
                return None
            if run.failure is not None:
                return self._recorder.record_failed(run, run.failure)
            return self._recorder.record_cancelled(run)
        except GraphDrained:
            return None  # the process is stopping, and leaves the run to another
        except Superseded:
            self._recorder.hand_over(run)
            return None
        except CitewellError as error:
            return self._recorder.record_failed(run, error)
        except Exception:
            log.exception("run %s failed", run.run_id)
            return self._recorder.record_failed(run, internal_error())
        return self._recorder.record_answered(run, answered.state, answered.reader, answered.checkpoint)

    async def _prune(self, run: Run) -> None:
        """Delete checkpoints that are no longer needed; if that fails, the next run deletes them."""
        with log_ids(run_id=run.run_id):
            try:
                async with self._attempts.database.connection() as connection:
                    await prune_thread(connection, run.session_id)
            except DatabaseUnavailable as error:
                log.warning("the checkpoints of session %s are not pruned: %s", run.session_id, error.message)
            except Exception:
                log.exception("the checkpoints of session %s are not pruned", run.session_id)

    async def _wait_for_turn(self, run: Run) -> None:
        """Wait until the run is next in its session and has a slot, and emit its position in the meantime."""

        def on_move(position: int) -> None:
            if position != run.queue_position:
                run.queue_position = position
                run.emit(Queued(position=position))

        with self._notifications.subscribe(run.session_id) as wakeup:
            while not run.begun:
                wakeup.clear()
                if ahead := await retry_while_unavailable(lambda: self._leases.ahead(run), unless=lambda: run.left):
                    on_move(ahead)
                    await wait_for_wakeup(wakeup, POLL_SECONDS)
                    continue
                await self._admission.acquire(on_move)
                run.begun = await self._claim_turn(run)
        self._admission.stop_waiting()

    async def _claim_turn(self, run: Run) -> bool:
        claimed = False
        try:
            claimed = await retry_while_unavailable(lambda: self._leases.claim_turn(run), unless=lambda: run.left)
        finally:
            if not claimed:
                self._admission.release()
        return claimed

    async def _answer(self, run: Run) -> Answered:
        """Run the graph to its end; a database that is briefly unavailable costs an attempt, not the run."""
        while True:
            if run.attempt > MAX_ATTEMPTS:
                raise CitewellError("The run was cut off too often.")
            try:
                return await self._attempts.answer(run)
            except DatabaseUnavailable as error:
                log.warning("run %s: attempt %d ended with %s", run.run_id, run.attempt, error.message)
                await asyncio.sleep(RETRY_SECONDS * run.attempt)
                await run.committed()  # events of one attempt must not be written under the next
                if not await retry_while_unavailable(lambda: self._leases.next_attempt(run)):
                    raise Superseded("Another process has taken this run over.") from error


def run_started(run: Run) -> RunStarted:
    """Return the event that begins a run."""
    context = run.request.context
    return RunStarted(
        question=run.request.question,
        message_id=run.message_id,
        family=run.family,
        model=run.model,
        budget=BudgetCaps(model_calls=context.max_model_calls, tokens=context.max_tokens, seconds=context.max_seconds),
        release=context.release,
        fallback=run.fallback,
    )
