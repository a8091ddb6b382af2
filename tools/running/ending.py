"""How a run ends: exactly one terminal event, written with the run's messages in one transaction, then told."""

import logging
from collections.abc import Coroutine
from typing import Any, Literal, cast

from graph.errors import CitewellError, DatabaseUnavailable, ServerStopping
from graph.events import RunFailed, RunFinished
from graph.ports import Resources
from graph.state import State
from tools.ledger import Ledger
from tools.messages import finished_message, partial_message
from tools.running.line import Line
from tools.running.live import Run
from tools.running.patience import patiently
from tools.running.stored import RunLogs
from tools.runs import Superseded

log = logging.getLogger("citewell.runs")

Ending = Coroutine[Any, Any, None]


class Endings:
    """Records the ends of runs. A run that another process has taken over is left to it, without an end of ours."""

    def __init__(self, ledger: Ledger, resources: Resources, logs: RunLogs) -> None:
        self._ledger = ledger
        self._resources = resources
        self._logs = logs

    async def answered(self, run: Run, state: State) -> None:
        """End a run whose graph came to its end."""
        await self._or_failed(run, self._answered(run, state))

    async def cancelled(self, run: Run) -> None:
        """End a run that was stopped, with the sections that it had finished."""
        await self._or_failed(run, self._cancelled(run))

    async def failed(self, run: Run, error: CitewellError) -> None:
        """End a run that failed. Where not even that can be recorded, its readers are told all the same."""
        end = RunFailed(
            code=error.code, message=error.message, suggestion=error.advice, retryable=type(error).retryable
        )
        try:
            await self._record(run, end)
        except ServerStopping:
            return  # left to the next process, which fails it, or does better
        except Superseded:
            self.hand_over(run)
        except DatabaseUnavailable:
            log.error("run %s failed with %s and could not be recorded", run.run_id, error.code)
            run.lose(error)
        except Exception:
            log.exception("the failure of run %s could not be recorded", run.run_id)
            run.lose(error)

    def hand_over(self, run: Run) -> None:
        """Let a run's readers follow it wherever it goes on."""
        run.hand_over(self._logs.stored(run))

    async def _or_failed(self, run: Run, ending: Ending) -> None:
        try:
            await ending
        except ServerStopping:
            return  # left to the next process, which ends it
        except Superseded:
            self.hand_over(run)
        except CitewellError as error:
            await self.failed(run, error)
        except Exception:
            log.exception("the end of run %s failed", run.run_id)
            await self.failed(run, ours())

    async def _answered(self, run: Run, state: State) -> None:
        identity = run.request.context.identity
        message = await patiently(
            lambda: finished_message(state, self._resources.reader, identity, run.family), unless=lambda: _hurried(run)
        )
        outcome = cast(Literal["answered", "abstained"], state.outcome)  # an attempt ends with an outcome or raises
        spent = {**state.spent, **run.beside}
        await self._record(
            run, RunFinished(outcome=outcome, stop_reason=str(state.stop_reason), message=message, spent=spent)
        )

    async def _cancelled(self, run: Run) -> None:
        message = partial_message(run.sections, run.family)
        spent = {**run.spent, **run.beside}
        await self._record(
            run, RunFinished(outcome="cancelled", stop_reason=run.stop_reason, message=message, spent=spent)
        )

    async def _record(self, run: Run, end: RunFinished | RunFailed) -> None:
        run.ending = True
        try:
            await run.committed()
        except (ServerStopping, Superseded):
            raise
        except CitewellError:
            if isinstance(end, RunFinished):
                raise
            run.drop_uncommitted()
        last = run.next_line(end)
        try:
            # One that was written although the connection broke is found as another's, and told from the log.
            await patiently(lambda: self._write(run, end, last), unless=lambda: _hurried(run))
        except BaseException:
            run.last_seq -= 1
            raise
        run.publish([last])

    async def _write(self, run: Run, end: RunFinished | RunFailed, last: Line) -> None:
        if isinstance(end, RunFinished):
            await self._ledger.finish(run, end, last)
        else:
            await self._ledger.fail(run, end, last)


def _hurried(run: Run) -> bool:
    """Tell whether nobody waits any more for the run to end here."""
    return any((run.left, run.elsewhere, run.failure))


def ours() -> CitewellError:
    """Say no more than that the fault is ours to mend: its text stays in our log, and the client learns the run id."""
    return CitewellError("The run failed for an internal reason.")
