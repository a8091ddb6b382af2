"""A run from its turn to its end, in a task of its own."""

import asyncio
import logging

from langgraph.errors import GraphDrained

from graph.errors import CitewellError, DatabaseUnavailable
from graph.events import BudgetCaps, Queued, RunStarted
from graph.state import State
from tools.ceasing import whole
from tools.pruning import prune_thread
from tools.running.admission import Admission
from tools.running.attempt import Attempts
from tools.running.bell import Bell
from tools.running.ending import Ending, Endings, ours
from tools.running.leases import Leases
from tools.running.live import Run
from tools.running.patience import patiently
from tools.running.stored import POLL_SECONDS, heard
from tools.runs import Superseded

log = logging.getLogger("citewell.runs")

MOST_ATTEMPTS = 5
RETRY_SECONDS = 0.2


class Driver:
    """Takes runs through the graph, and each to exactly one end, unless another process is to go on with it."""

    def __init__(self, attempts: Attempts, endings: Endings, leases: Leases, admission: Admission, bell: Bell) -> None:
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
                await whole(end)
                await self._prune(run)
        finally:
            self.let_out(run)

    def let_out(self, run: Run) -> None:
        """Count a run no longer among those of this process."""
        if run.begun:
            self._admission.leave()
        else:
            self._admission.wait_no_more()

    async def _to_its_end(self, run: Run) -> Ending | None:
        try:
            if not run.begun:
                await self._turn(run)
            if not run.has_started:
                run.tell(started(run))
            state = await self._answer(run)
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
            return self._endings.failed(run, ours())
        return self._endings.answered(run, state)

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
                if ahead := await patiently(lambda: self._leases.ahead(run), unless=lambda: run.left):
                    moved(ahead)
                    await heard(rung, POLL_SECONDS)
                    continue
                await self._admission.enter(moved)
                run.begun = await self._claimed(run)
        self._admission.wait_no_more()

    async def _claimed(self, run: Run) -> bool:
        claimed = False
        try:
            claimed = await patiently(lambda: self._leases.claim_turn(run), unless=lambda: run.left)
        finally:
            if not claimed:
                self._admission.leave()
        return claimed

    async def _answer(self, run: Run) -> State:
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
                if not await patiently(lambda: self._leases.next_attempt(run)):
                    raise Superseded("Another process has taken this run over.") from error


def started(run: Run) -> RunStarted:
    """Say what a run begins with."""
    context = run.request.context
    return RunStarted(
        question=run.request.question,
        message_id=run.message_id,
        family=run.family,
        model=run.model,
        budget=BudgetCaps(model_calls=context.max_model_calls, tokens=context.max_tokens, seconds=context.max_seconds),
    )
