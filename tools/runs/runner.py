"""Start runs, keep them going and end them: recorded before they start, ended by exactly one terminal event.

A run is a task of its process, which holds a lease on it; when that process dies, another takes the run over at its
last checkpoint, and the log continues.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal
from uuid import uuid4

from pydantic import ValidationError

from graph.context import Context
from graph.errors import CitewellError, DatabaseUnavailable, NotFound, ServerStopping, SessionBusy
from graph.events import Queued, RunStarted, TitleChanged
from graph.evidence import Identity
from graph.ports import Resources
from tools.runs.admission import Admission
from tools.runs.completion import CompletionRecorder, internal_error
from tools.runs.event_log import RunLogs, parse_event
from tools.runs.event_writer import EventWriter
from tools.runs.executor import Attempts, Durability, Executor, Graph, run_started
from tools.runs.heartbeat import Heartbeat
from tools.runs.leases import Leases, TakenOverRun
from tools.runs.ledger import Ledger
from tools.runs.live_run import Run
from tools.runs.notifications import Notifications
from tools.runs.run_request import RunReader, RunRequest, request_from_json
from tools.sessions.branches import Fork
from tools.sessions.titles import SessionTitler
from tools.settings import RunSettings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

log = logging.getLogger("citewell.runs")


class Runner:
    """Starts runs on the graph and sees each to its end."""

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
    ):
        settings = settings or RunSettings()
        owner = str(uuid4())
        self._resources = resources
        self._titling = titling
        self._drain_seconds = settings.drain_seconds
        self._active: dict[str, Run] = {}
        self._stopping = False
        self._ledger = Ledger(database, workspaces, owner=owner, lease_seconds=settings.lease_seconds)
        self._leases = Leases(database, owner, settings.lease_seconds)
        self._bell = Notifications(database.url)
        self._logs = RunLogs(database, workspaces, self._bell)
        self._journal = EventWriter(database, self._logs.stored)
        self._admission = Admission(settings.max_active, settings.max_waiting)
        self._endings = CompletionRecorder(self._ledger, self._logs)
        attempts = Attempts(graph, resources, database, durability or settings.durability)
        self._driver = Executor(attempts, self._endings, self._leases, self._admission, self._bell)
        self._upkeep = Heartbeat(self._leases, self._endings, self._bell, self._active.values)

    async def start(self, session_id: str, request: RunRequest) -> Run:
        """Record the run, then set it going, or have it wait for its turn.

        Raises UnknownModel, NotFound where the session, or a message that is named, is not the identity's,
        InvalidRequest for a message of the wrong kind, SessionBusy, Overloaded, ServerStopping, DatabaseUnavailable.
        """
        if self._stopping:
            raise ServerStopping("The server is stopping.", suggestion="Ask again in a moment.")
        family = self._resources.families(request.context.model, thinking=request.context.thinking)
        request, fork = await self._ledger.place(session_id, request)
        run = Run(str(uuid4()), session_id, str(uuid4()), request, family.name, family.model, journal=self._journal)
        run.fork_checkpoint = fork.fork_checkpoint
        run.begun = self._admission.let_in()
        try:
            if request.while_running == "interrupt":
                await self._interrupt(request.context.identity, session_id)
            untitled = await self._enter(run, fork)
        except BaseException:
            self._driver.let_out(run)
            raise
        await self._set_going(run)
        if untitled and self._titling is not None:
            self._upkeep.beside(self._title(run, self._titling))
        return run

    async def join(self, identity: Identity, run_id: str) -> RunReader:
        """Give a run to read, be it of this process or of another, going on or ended.

        Raises NotFound.
        """
        run = self.active(run_id)
        if run is not None and run.request.context.identity == identity and run.begins_at == 1:
            return run
        stored = await self._logs.find(identity, run_id)
        if stored is None:
            raise NotFound(f"There is no run {run_id}.")
        return stored

    async def current(self, identity: Identity, session_id: str) -> RunReader | None:
        """Give the run that a session answers, or else the one that has waited longest; None where there is none."""
        stored = await self._logs.current(identity, session_id)
        return None if stored is None else await self.join(identity, stored.run_id)

    def active(self, run_id: str) -> Run | None:
        """Give a run of this process that has not ended."""
        return self._active.get(run_id)

    def take_over_abandoned(self) -> None:
        """Go on, from now on, with runs that other processes have left."""
        self._upkeep.sweep(lambda: self._admission.room, self._go_on)

    async def close(self) -> None:
        """Let runs end for a while, leave those that still go on to other processes, and stop.

        A run that is left stops behind the step that it is at, or, where that takes as long again, within it.
        """
        await self.drain()
        await self._upkeep.close()
        await self._journal.close()
        await self._bell.close()

    async def drain(self) -> None:
        """Begin to close: take on no more runs, and see those there are to their ends or their checkpoints."""
        self._stopping = True
        await self._upkeep.stop_sweeping()  # or it would take over what is left to others
        await self._leave_all(run for run in self._active_now() if not run.begun)
        await self._ended_within(self._drain_seconds)
        going_on = self._active_now()
        for run in going_on:
            run.control.request_drain("the process ends")
        await self._ended_within(self._drain_seconds)
        await self._leave_all(run for run in {*going_on, *self._active_now()} if not run.has_ended)

    async def _interrupt(self, identity: Identity, session_id: str) -> None:
        if await self._logs.current(identity, session_id) is not None:
            await self._leases.stop_others(session_id, "interrupted")

    async def _enter(self, run: Run, fork: Fork) -> bool:
        """Write the run into the ledger, as one that begins or one that waits; True where its session is untitled."""
        if run.begun:
            try:
                return await self._open(run, "running", run_started(run), fork)
            except SessionBusy:
                if run.request.while_running == "reject":
                    raise
                self._admission.wait_instead()
                run.begun = False
                before = [each for each in self._active_now() if each.session_id == run.session_id and not each.begun]
                run.place = len(before) + 1
        run.place = run.place or self._admission.next_place
        return await self._open(run, "queued", Queued(position=run.place), fork)

    async def _open(
        self, run: Run, entry: Literal["running", "queued"], event: Queued | RunStarted, fork: Fork
    ) -> bool:
        first = run.next_line(event)
        try:
            untitled = await self._ledger.open(run, first, entry=entry, fork=fork)
        except BaseException:
            run.last_seq -= 1
            raise
        run.publish([first])
        return untitled

    async def _title(self, run: Run, titling: SessionTitler) -> None:
        made = await titling.title_session(run.session_id, run.request.question, run.request.context)
        if made is not None and not run.ending:
            title, run.beside["title"] = made
            run.tell(TitleChanged(title=title))

    async def _set_going(self, run: Run) -> None:
        self._active[run.run_id] = run
        self._upkeep.keep_leases()
        run.task = asyncio.create_task(self._driver.drive(run), name=f"citewell-run-{run.run_id}")
        run.task.add_done_callback(lambda _: self._forget(run))
        # A task that is cancelled before its first step never runs at all, and its run would have no end.
        await asyncio.sleep(0)

    async def _go_on(self, taken: TakenOverRun) -> None:
        """Go on with a run that another process has left; one that was to be stopped is ended."""
        if (mine := self.active(taken.run_id)) is not None:  # which has let its lease run out
            self._endings.hand_over(mine)
            await mine.stopped()
        failure: CitewellError | None = None
        try:
            request = request_from_json(taken.request)
        except ValidationError:
            log.exception("the request of run %s can't be read", taken.run_id)
            request, failure = RunRequest(taken.question, Context()), internal_error()
        run = Run(
            taken.run_id,
            taken.session_id,
            taken.message_id,
            request,
            "extractive",
            "",
            journal=self._journal,
            attempt=taken.attempt,
            last_seq=taken.last_seq,
            begins_at=taken.last_seq + 1,
            before=tuple(map(parse_event, taken.told)),
            fork_checkpoint=taken.fork_checkpoint,
        )
        try:
            family = self._resources.families(request.context.model, thinking=request.context.thinking)
            run.family, run.model = family.name, family.model
        except CitewellError as error:
            failure = failure or error
        if failure is not None:
            await self._endings.failed(run, failure)
            return
        if taken.stop_requested is not None:
            run.stop_reason = taken.stop_requested
            await self._endings.cancelled(run)
            return
        run.begun = taken.status == "running"
        self._admission.let_in_beyond(begun=run.begun)
        await self._set_going(run)
        if self._titling is not None:  # a title that was being made went with the process
            self._upkeep.beside(self._title(run, self._titling))

    async def _ended_within(self, seconds: float) -> None:
        if tasks := [run.task for run in self._active_now() if run.task is not None]:
            await asyncio.wait(tasks, timeout=seconds)

    def _active_now(self) -> list[Run]:
        return list(self._active.values())

    async def _leave_all(self, runs: Iterable[Run]) -> None:
        await asyncio.gather(*map(self._leave, runs))

    async def _leave(self, run: Run) -> None:
        run.leave(ServerStopping("The server is stopping."))
        await run.stopped()
        with suppress(DatabaseUnavailable):  # its lease then ends by itself
            await self._leases.release(run)

    def _forget(self, run: Run) -> None:
        if self._active.get(run.run_id) is run:
            del self._active[run.run_id]
        self._journal.forget(run)
