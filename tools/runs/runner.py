"""Start, resume and stop runs. Each is recorded before it starts and ends with exactly one terminal event.

A run is a task of its process, which holds a lease on it; when that process dies, another takes the run over at its
last checkpoint, and the log continues.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from uuid import uuid4

from pydantic import ValidationError

from graph.context import Context
from graph.errors import CitewellError, DatabaseUnavailable, NotFound, ServerStopping, SessionBusy
from graph.events import Queued, RunStarted, TitleChanged
from graph.evidence import Identity
from graph.ports import Resources
from graph.usage import charged_to, use_by_model
from tools.runs.completion import CompletionRecorder, internal_error
from tools.runs.event_log import RunLogs, parse_event
from tools.runs.event_writer import EventWriter
from tools.runs.executor import WAITING_FOR_EACH, Admission, Attempts, Durability, Executor, Graph, run_started
from tools.runs.leases import Heartbeat, Leases, TakenOverRun
from tools.runs.ledger import LEASE_SECONDS, EntryStatus, Ledger, Titled
from tools.runs.live_run import Run, new_run_id
from tools.runs.notifications import Carrier, Notifications, PostgresCarrier
from tools.runs.readings import Load
from tools.runs.verdict_upgrades import VerdictUpgrades
from tools.sessions.run_request import Fork, RunReader, RunRequest, request_from_json
from tools.sessions.titles import SessionTitler
from tools.settings import RunSettings
from tools.spending.charges import Spending
from tools.storage.database import Database
from tools.storage.tenants import Workspaces
from tools.telemetry.logs import log_ids
from tools.telemetry.metrics import RunMetrics

log = logging.getLogger("citewell.runs")

DURABILITY: Durability = "sync"  # a step's checkpoint is there before the next begins: a crash costs one model call


class Runner:
    """Starts runs on the graph and manages each until it ends.

    ``carriers`` carry notifications beside the database's own; the last one sends.
    """

    def __init__(
        self,
        graph: Graph,
        resources: Resources,
        database: Database,
        workspaces: Workspaces,
        settings: RunSettings | None = None,
        *,
        durability: Durability | None = None,
        titling: SessionTitler | None = None,
        spending: Spending | None = None,
        carriers: Sequence[Carrier] = (),
    ):
        settings = settings or RunSettings()
        owner = str(uuid4())
        self._database = database
        self._resources = resources
        self._titling = titling
        self._drain_seconds = settings.drain_seconds
        self._active: dict[str, Run] = {}
        self._stopping = False
        self._close_by = 0.0  # when all has to be done, once it is stopping
        self._spending = spending or Spending(database, workspaces)
        self._ledger = Ledger(database, workspaces, self._spending, owner=owner, lease_seconds=LEASE_SECONDS)
        self._leases = Leases(database, owner, LEASE_SECONDS)
        self._notifications = Notifications(PostgresCarrier(database.url), *carriers, owner=owner)
        self._logs = RunLogs(database, workspaces, self._notifications)
        self._event_writer = EventWriter(database, self._logs.stored, self._notifications)
        self._admission = Admission(settings.max_active, WAITING_FOR_EACH * settings.max_active)
        self._recorder = CompletionRecorder(self._ledger, self._logs, VerdictUpgrades(database))
        attempts = Attempts(graph, resources, database, durability or DURABILITY)
        self._executor = Executor(attempts, self._recorder, self._leases, self._admission, self._notifications)
        self._heartbeat = Heartbeat(self._leases, self._recorder, self._notifications, self._active.values)

    async def start(self, session_id: str, request: RunRequest) -> Run:
        """Record a run, then launch it; it waits for its turn where it can't begin at once.

        Raises UnknownModel, NotFound where the session, or a message that the request names, is not the identity's,
        InvalidRequest for a message of the wrong kind, AlreadyAsked, SessionBusy, Overloaded, SpendingLimitReached,
        ServerStopping, DatabaseUnavailable, DiskLow.
        """
        await self._database.require_room()
        if self._stopping:
            raise ServerStopping("The server is stopping.", suggestion="Ask again in a moment.")
        family = self._resources.families(request.context.model, thinking=request.context.thinking)
        fork = await self._ledger.resolve_position(session_id, request)
        request = fork.request
        run = Run(new_run_id(), session_id, str(uuid4()), request, family.name, family.model, writer=self._event_writer)
        run.fallback = family.fallback
        if family.fallback is not None:
            log.warning("run %s: %s", run.run_id, family.fallback["message"])
        title = self._titling.title_by_rule(request.question, request.context) if self._titling is not None else None
        run.account = await self._spending.open(request.context.identity)
        try:
            run.begun = self._admission.admit()
        except BaseException:
            run.account.close()
            raise
        try:
            identity, interrupts = request.context.identity, request.while_running == "interrupt"
            if interrupts and await self._logs.current(identity, session_id) is not None:
                await self._leases.stop_others(session_id, "interrupted")
            titled = await self._record_start(run, fork, title)
        except BaseException:
            self._executor.release(run)
            run.account.close()
            raise
        if titled == "now" and title is not None:
            run.emit(TitleChanged(title=title))
        await self._launch(run)
        if titled == "not yet" and self._titling is not None:
            self._heartbeat.in_background(self._make_title(run, self._titling, untitled=True))
        return run

    async def cancel_abandoned_predecessors(self, run: Run) -> None:
        """Stop the earlier runs of a run's session, each as soon as nobody follows it any more.

        That is about the runs of this process, and those who follow them here. One that nobody has followed yet goes
        on: its reader may be about to.
        """
        earlier = [each for each in self._active_now() if each.session_id == run.session_id and each is not run]
        for each in earlier:
            each.cancel_when_unread = True
        await asyncio.gather(*(each.cancel("interrupted") for each in earlier if each.abandoned and not each.watchers))

    async def join(self, identity: Identity, run_id: str) -> RunReader:
        """Return a run to read, of this or another process, running or ended.

        Raises NotFound where the identity has no such run.
        """
        run = self.active(run_id)
        if run is not None and run.request.context.identity == identity and run.begins_at == 1:
            return run
        stored = await self._logs.find(identity, run_id)
        if stored is None:
            raise NotFound(f"There is no run {run_id}.")
        return stored

    async def current(self, identity: Identity, session_id: str) -> RunReader | None:
        """Return the running run of a session, else the one that has waited longest, else None."""
        stored = await self._logs.current(identity, session_id)
        return None if stored is None else await self.join(identity, stored.run_id)

    def active(self, run_id: str) -> Run | None:
        """Return a run of this process that has not ended, or None."""
        run = self._active.get(run_id)
        # A task that is done is forgotten by a callback, which may come later.
        return None if run is None or (run.task is not None and run.task.done()) else run

    @property
    def load(self) -> Load:
        """How much of what this process may answer it does."""
        return self._admission.load(leases=len(self._active))

    @property
    def is_stopping(self) -> bool:
        """Whether this process accepts no more runs, since it ends."""
        return self._stopping

    @property
    def is_answering(self) -> bool:
        return bool(self._active)

    def take_over_abandoned(self) -> None:
        """Start taking over runs that other processes have abandoned."""
        self._heartbeat.sweep(lambda: self._admission.room, self._resume)

    async def close(self) -> None:
        """Drain the runs, leave those that are unfinished to other processes, and stop.

        A run that is left stops after its current step or, where that takes as long as the drain again, within it.
        """
        await self.drain()
        await self._executor.close(max(0.0, self._close_by - asyncio.get_running_loop().time()))
        await self._heartbeat.close()
        await self._event_writer.close()
        await self._notifications.close()

    async def drain(self) -> None:
        """Accept no more runs, and wait for the running ones to end or to reach a checkpoint."""
        if not self._stopping:
            self._close_by = asyncio.get_running_loop().time() + 2 * self._drain_seconds
        self._stopping = True
        await self._heartbeat.stop_sweeping()  # or this process would take over the runs that it leaves
        await self._leave_all(run for run in self._active_now() if not run.begun)
        await self._wait_for_tasks(self._drain_seconds)
        running = self._active_now()
        for run in running:
            run.control.request_drain("the process ends")
        await self._wait_for_tasks(self._drain_seconds)
        await self._leave_all(run for run in {*running, *self._active_now()} if not run.has_ended)
        if ended := [run.task for run in self._active_now() if run.has_ended and run.task is not None]:
            await asyncio.wait(ended)  # which are about to be done

    async def _record_start(self, run: Run, fork: Fork, title: str | None) -> Titled:
        """Insert the run into the ledger, as running or queued; return when its session gets its title."""
        if run.begun:
            try:
                return await self._open(run, "running", run_started(run), fork, title)
            except SessionBusy:
                if run.request.while_running == "reject":
                    raise
                self._admission.move_to_waiting()
                run.begun = False
                before = [each for each in self._active_now() if each.session_id == run.session_id and not each.begun]
                run.queue_position = len(before) + 1
        run.queue_position = run.queue_position or self._admission.next_position
        return await self._open(run, "queued", Queued(position=run.queue_position), fork, title)

    async def _open(
        self, run: Run, entry: EntryStatus, event: Queued | RunStarted, fork: Fork, title: str | None
    ) -> Titled:
        first = run.next_line(event)
        try:
            titled = await self._ledger.open(run, first, entry=entry, fork=fork, title=title)
        except BaseException:
            run.last_seq -= 1
            raise
        run.publish([first])
        return titled

    async def _make_title(self, run: Run, titling: SessionTitler, *, untitled: bool = False) -> None:
        with charged_to(run.account), log_ids(run_id=run.run_id):
            request = run.request
            made = await titling.title_session(run.session_id, request.question, request.context, untitled=untitled)
        if made is not None and not run.ending:
            title, run.side_usage["title"] = made
            run.emit(TitleChanged(title=title))
        elif run.account is not None and run.task is not None:
            await asyncio.wait([run.task])
            with suppress(DatabaseUnavailable):
                if run.has_ended:
                    await self._spending.record_late(run.run_id, run.account)

    async def _launch(self, run: Run) -> None:
        self._active[run.run_id] = run
        self._heartbeat.keep_leases()
        run.task = asyncio.create_task(self._executor.run(run), name=f"citewell-run-{run.run_id}")
        run.task.add_done_callback(lambda _: self._forget(run))
        # A task that is cancelled before its first step never runs, and its run would get no terminal event.
        await asyncio.sleep(0)

    async def _resume(self, taken: TakenOverRun) -> None:
        """Resume a run that another process has abandoned, or record its end if it was to be stopped."""
        if (mine := self.active(taken.run_id)) is not None:  # this process let its lease expire
            self._recorder.hand_over(mine)
            await mine.stopped()
        run = Run(
            taken.run_id,
            taken.session_id,
            taken.message_id,
            RunRequest(taken.question, Context()),
            "extractive",
            "",
            writer=self._event_writer,
            attempt=taken.attempt,
            last_seq=taken.last_seq,
            begins_at=taken.last_seq + 1,
            before=tuple(map(parse_event, taken.emitted)),
            fork_checkpoint=taken.fork_checkpoint,
            metrics=RunMetrics(whole=False),
        )
        try:
            run.request = request = request_from_json(taken.request)
            family = self._resources.families(request.context.model, thinking=request.context.thinking)
        except ValidationError:
            log.exception("the request of run %s can't be read", taken.run_id)
            return await self._recorder.record_failed(run, internal_error())
        except CitewellError as error:
            return await self._recorder.record_failed(run, error)
        run.family, run.model, run.fallback = family.name, family.model, family.fallback
        run.account = await self._spending.open(request.context.identity, checked=False)
        if taken.stop_requested is not None:
            run.stop_reason = taken.stop_requested
            try:
                await self._executor.end_stopped(run)
            finally:
                run.account.close()
            return
        run.begun = taken.status == "running"
        self._admission.admit_taken_over(begun=run.begun)
        await self._launch(run)
        if self._titling is not None:  # a title in progress was lost with the other process
            self._heartbeat.in_background(self._make_title(run, self._titling))

    async def _wait_for_tasks(self, seconds: float) -> None:
        if tasks := [run.task for run in self._active_now() if run.task is not None]:
            await asyncio.wait(tasks, timeout=seconds)

    def _active_now(self) -> list[Run]:
        return list(self._active.values())

    async def _leave_all(self, runs: Iterable[Run]) -> None:
        await asyncio.gather(*map(self._leave, runs))

    async def _leave(self, run: Run) -> None:
        run.leave(ServerStopping("The server is stopping."))
        await run.stopped()
        with suppress(DatabaseUnavailable):  # its lease then expires
            if run.account is not None:
                run.account.leave(use_by_model(run.spent))
                await self._spending.record_late(run.run_id, run.account)
            await self._leases.release(run)

    def _forget(self, run: Run) -> None:
        if self._active.get(run.run_id) is run:
            del self._active[run.run_id]
        if run.account is not None:
            run.account.close()
        self._event_writer.forget(run)
