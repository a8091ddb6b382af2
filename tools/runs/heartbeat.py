"""Extend the leases of runs, stop runs on request, and take over runs that other processes abandoned."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any

from graph.errors import CitewellError, DatabaseUnavailable
from graph.evidence import StopReason
from tools.runs.completion import CompletionRecorder
from tools.runs.event_log import wait_for_wakeup
from tools.runs.leases import Leases, TakenOverRun
from tools.runs.live_run import Run
from tools.runs.notifications import ABANDONED, STOPS, Notifications
from tools.runs.tasks import cancel_and_wait

log = logging.getLogger("citewell.runs")

LEASES, SWEEP = "citewell-leases", "citewell-sweep"
BEATS_PER_LEASE = 3  # lease extensions, and looks for abandoned runs


class Heartbeat:
    """Background tasks that extend leases, stop runs on request and take over abandoned runs."""

    def __init__(
        self,
        leases: Leases,
        recorder: CompletionRecorder,
        notifications: Notifications,
        active: Callable[[], Iterable[Run]],
    ) -> None:
        self._leases = leases
        self._recorder = recorder
        self._notifications = notifications
        self._active = active
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._background: set[asyncio.Task[None]] = set()

    def keep_leases(self) -> None:
        """Start extending leases, three times per lease duration."""
        self._start(LEASES, self._keep_leases)

    def sweep(self, room: Callable[[], int], resume: Callable[[TakenOverRun], Awaitable[None]]) -> None:
        """Start looking for abandoned runs, and resume as many as there is room for."""
        self._start(SWEEP, lambda: self._sweep(room, resume))

    async def stop_sweeping(self) -> None:
        """Stop taking runs over."""
        if (sweep := self._tasks.pop(SWEEP, None)) is not None:
            await cancel_and_wait(sweep)

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work in the background that nobody waits for."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """Cancel all background tasks."""
        await cancel_and_wait(*self._tasks.values(), *self._background)
        self._tasks.clear()

    def _start(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(work(), name=name)

    async def _keep_leases(self) -> None:
        with self._notifications.subscribe(STOPS) as wakeup:
            while True:
                await wait_for_wakeup(wakeup, self._leases.seconds / BEATS_PER_LEASE)
                wakeup.clear()
                runs = list(self._active())
                try:
                    held = await self._leases.extend(runs) if runs else {}
                except DatabaseUnavailable:
                    log.warning("leases of %d runs could not be extended", len(runs))
                    continue
                except Exception:
                    log.exception("leases of %d runs could not be extended", len(runs))
                    continue
                for run in runs:
                    self._settle(run, held)

    def _settle(self, run: Run, held: Mapping[str, StopReason | None]) -> None:
        if run.run_id not in held:
            # While the end is being recorded, this process may have closed the row already.
            if run.task is not None and not run.task.done() and not run.ending:
                log.warning("run %s continues in another process", run.run_id)
                self._recorder.hand_over(run)
        elif (reason := held[run.run_id]) is not None:
            self.in_background(run.cancel(reason))

    async def _sweep(self, room: Callable[[], int], resume: Callable[[TakenOverRun], Awaitable[None]]) -> None:
        with self._notifications.subscribe(ABANDONED) as wakeup:
            while True:
                wakeup.clear()
                try:
                    for taken in await self._leases.take_over(room()) if room() else []:
                        log.info("run %s is taken over, attempt %d", taken.run_id, taken.attempt)
                        await self._resume_one(taken, resume)
                except CitewellError as error:
                    log.warning("abandoned runs could not be taken over: %s", error.message)
                except Exception:
                    log.exception("abandoned runs could not be taken over")
                await wait_for_wakeup(wakeup, self._leases.seconds / BEATS_PER_LEASE)

    async def _resume_one(self, taken: TakenOverRun, resume: Callable[[TakenOverRun], Awaitable[None]]) -> None:
        try:
            await resume(taken)
        except Exception:  # the others taken over with it must not wait for another lease
            log.exception("run %s could not be resumed", taken.run_id)
