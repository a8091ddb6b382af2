"""Extend leases while runs go on, stop runs on request, and take over runs that other processes abandoned."""

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
BEATS_PER_LEASE = 3  # signs of life, and looks for abandoned runs


class Heartbeat:
    """Extends leases, hears what is to be stopped, and takes abandoned runs over."""

    def __init__(
        self, leases: Leases, endings: CompletionRecorder, bell: Notifications, active: Callable[[], Iterable[Run]]
    ) -> None:
        self._leases = leases
        self._endings = endings
        self._bell = bell
        self._active = active
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._beside: set[asyncio.Task[None]] = set()

    def keep_leases(self) -> None:
        """Say from now on, three times a lease, that this process lives."""
        self._begin(LEASES, self._keep_leases)

    def sweep(self, room: Callable[[], int], go_on: Callable[[TakenOverRun], Awaitable[None]]) -> None:
        """Look from now on for runs that their processes have left, as many as there is room for."""
        self._begin(SWEEP, lambda: self._sweep(room, go_on))

    async def stop_sweeping(self) -> None:
        """Take nothing over any more."""
        if (sweep := self._tasks.pop(SWEEP, None)) is not None:
            await cancel_and_wait(sweep)

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that nobody waits for."""
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def close(self) -> None:
        """Do no more of it."""
        await cancel_and_wait(*self._tasks.values(), *self._beside)
        self._tasks.clear()

    def _begin(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(work(), name=name)

    async def _keep_leases(self) -> None:
        with self._bell.on(STOPS) as rung:
            while True:
                await wait_for_wakeup(rung, self._leases.seconds / BEATS_PER_LEASE)
                rung.clear()
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
            # Of one whose end is being recorded the row may be closed already, by us.
            if run.task is not None and not run.task.done() and not run.ending:
                log.warning("run %s goes on in another process", run.run_id)
                self._endings.hand_over(run)
        elif (reason := held[run.run_id]) is not None:
            self.beside(run.cancel(reason))

    async def _sweep(self, room: Callable[[], int], go_on: Callable[[TakenOverRun], Awaitable[None]]) -> None:
        with self._bell.on(ABANDONED) as rung:
            while True:
                rung.clear()
                try:
                    for taken in await self._leases.take_over(room()) if room() else []:
                        log.info("run %s is taken over, attempt %d", taken.run_id, taken.attempt)
                        await self._each(taken, go_on)
                except CitewellError as error:
                    log.warning("abandoned runs could not be taken over: %s", error.message)
                except Exception:
                    log.exception("abandoned runs could not be taken over")
                await wait_for_wakeup(rung, self._leases.seconds / BEATS_PER_LEASE)

    async def _each(self, taken: TakenOverRun, go_on: Callable[[TakenOverRun], Awaitable[None]]) -> None:
        try:
            await go_on(taken)
        except Exception:  # the others that were taken with it are not to wait for another lease
            log.exception("run %s could not be gone on with", taken.run_id)
