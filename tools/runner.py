"""Runs are started, kept going and ended here: entered before they start, ended by exactly one terminal event."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Literal, cast
from uuid import uuid4

from langgraph.graph.state import CompiledStateGraph

from graph.context import Context
from graph.errors import CitewellError, DatabaseUnavailable, NotFound
from graph.events import BudgetCaps, RunFailed, RunFinished, RunStarted
from graph.evidence import Identity
from graph.ports import Resources
from graph.state import InputState, State
from tools.checkpoints import saver
from tools.database import Database, database_errors
from tools.ledger import Ledger, LedgerEntry
from tools.messages import finished_message, partial_message
from tools.runs import Run, RunReader, RunRequest
from tools.workspaces import Workspaces

log = logging.getLogger("citewell.runs")

RECURSION_FUSE = 40
HEARTBEAT_SECONDS = 10.0
Durability = Literal["sync", "async", "exit"]
Graph = CompiledStateGraph[State, Context, InputState, State]


class Runner:
    """Starts runs on the graph and sees each to its end."""

    def __init__(
        self,
        graph: Graph,
        resources: Resources,
        database: Database,
        workspaces: Workspaces,
        *,
        durability: Durability = "async",
    ):
        self._graph = graph
        self._resources = resources
        self._database = database
        self._ledger = Ledger(database, workspaces)
        self._durability: Durability = durability
        self._active: dict[str, Run] = {}
        self._heartbeat: asyncio.Task[None] | None = None

    async def start(self, session_id: str, request: RunRequest) -> Run:
        """Record the run, then set it going.

        Raises UnknownModel, NotFound where the session is not the identity's, SessionBusy, DatabaseUnavailable.
        """
        context = request.context
        family = self._resources.families(context.model, thinking=context.thinking)
        run = Run(str(uuid4()), session_id, str(uuid4()), request, family.name, family.model)
        entry = LedgerEntry(
            run.run_id,
            session_id,
            request.question,
            {
                "page_ids": list(request.page_ids),
                "selected_text": request.selected_text,
                "context": asdict(context),
            },
        )
        await self._ledger.open(entry, context.identity)
        run.tell(
            RunStarted(
                question=request.question,
                message_id=run.message_id,
                family=family.name,
                model=family.model,
                budget=BudgetCaps(
                    model_calls=context.max_model_calls, tokens=context.max_tokens, seconds=context.max_seconds
                ),
            )
        )
        self._active[run.run_id] = run
        if self._heartbeat is None:
            self._heartbeat = asyncio.create_task(self._keep_leases(), name="citewell-leases")
        run.task = asyncio.create_task(self._drive(run), name=f"citewell-run-{run.run_id}")
        run.task.add_done_callback(lambda _: self._active.pop(run.run_id, None))
        # A task that is cancelled before its first step never runs at all, and its run would have no end.
        await asyncio.sleep(0)
        return run

    async def join(self, identity: Identity, run_id: str) -> RunReader:
        """Give a run to read, be it of this process or of another, going on or ended.

        Raises NotFound.
        """
        run = self._active.get(run_id)
        if run is None or run.request.context.identity != identity:
            raise NotFound(f"There is no run {run_id}.")
        return run

    async def current(self, identity: Identity, session_id: str) -> RunReader | None:
        """Give the run that a session is answering or that waits in it, the oldest first; None where there is none."""
        for run in self._active.values():
            if run.session_id == session_id and run.request.context.identity == identity:
                return run
        return None

    def active(self, run_id: str) -> Run | None:
        """Give a run of this process that has not ended."""
        return self._active.get(run_id)

    async def close(self) -> None:
        """Stop every run of this process and record that."""
        await asyncio.gather(*(run.cancel("server_stopped") for run in list(self._active.values())))
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            with suppress(asyncio.CancelledError):
                await self._heartbeat

    async def _drive(self, run: Run) -> None:
        try:
            state = await self._answer(run)
        except asyncio.CancelledError:
            end = self._cancelled(run)
        except CitewellError as error:
            end = self._failed(run, error)
        except Exception:
            log.exception("run %s failed", run.run_id)
            end = self._failed(run, _ours())
        else:
            end = self._answered(run, state)
        # A cancel that comes while the end is being recorded comes too late: half a record would be no end at all.
        run.tell(await _to_its_end(end))

    async def _answer(self, run: Run) -> State:
        request = run.request
        graph = self._graph.copy({"checkpointer": saver(self._database.pool)})
        values: dict[str, Any] = {}
        config: Any = {"configurable": {"thread_id": run.session_id}, "recursion_limit": RECURSION_FUSE}
        # A plain dict, since a checkpoint keeps the input as it was given and holds nothing but builtins.
        asked: Any = {
            "question": request.question,
            "page_ids": list(request.page_ids),
            "selected_text": request.selected_text,
        }
        with database_errors():
            async for part in graph.astream(
                asked,
                config,
                context=request.context,
                stream_mode=["custom", "values"],
                version="v2",
                durability=self._durability,
            ):
                if part["type"] == "custom":
                    run.tell(part["data"])
                elif part["type"] == "values":
                    begun = bool(values)  # what comes first is the session as the last run left it
                    values = cast(dict[str, Any], part["data"])  # a copied graph has lost its mapper to State
                    run.spent = values.get("spent", {}) if begun else {}
        state = State(**values)
        if not state.outcome:
            raise CitewellError("The graph ended without an outcome.")
        return state

    async def _answered(self, run: Run, state: State) -> RunFinished | RunFailed:
        try:
            return await self._end_of(run, state)
        except CitewellError as error:
            return await self._failed(run, error)
        except Exception:
            log.exception("the end of run %s failed", run.run_id)
            return await self._failed(run, _ours())

    async def _end_of(self, run: Run, state: State) -> RunFinished:
        identity = run.request.context.identity
        message = await finished_message(state, self._resources.reader, identity, run.family)
        outcome = cast(Literal["answered", "abstained"], state.outcome)  # _answer has seen that there is one
        end = RunFinished(outcome=outcome, stop_reason=str(state.stop_reason), message=message, spent=state.spent)
        await self._ledger.finish(run.run_id, run.message_id, end, page_ids=run.request.page_ids)
        return end

    async def _cancelled(self, run: Run) -> RunFinished | RunFailed:
        end = RunFinished(
            outcome="cancelled",
            stop_reason=run.stop_reason,
            message=partial_message(run.sections, run.family),
            spent=run.spent,
        )
        try:
            await self._ledger.finish(run.run_id, run.message_id, end, page_ids=run.request.page_ids)
        except DatabaseUnavailable as error:
            return await self._failed(run, error)
        return end

    async def _failed(self, run: Run, error: CitewellError) -> RunFailed:
        end = RunFailed(
            code=error.code, message=error.message, suggestion=error.advice, retryable=type(error).retryable
        )
        try:
            await self._ledger.fail(run.run_id, end, page_ids=run.request.page_ids)
        except DatabaseUnavailable:
            log.error("run %s failed with %s and could not be recorded", run.run_id, error.code)
        return end

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            try:
                await self._ledger.extend(list(self._active))
            except DatabaseUnavailable:
                log.warning("leases of %d runs could not be extended", len(self._active))


def _ours() -> CitewellError:
    """Say no more than that the fault is ours to mend: its text stays in our log, and the client learns the run id."""
    return CitewellError("The run failed for an internal reason.")


async def _to_its_end(work: Coroutine[Any, Any, RunFinished | RunFailed]) -> RunFinished | RunFailed:
    """Finish work however often the task that waits for it is cancelled."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    return task.result()
