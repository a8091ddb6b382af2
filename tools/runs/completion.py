"""End a run: build its finished message, and record exactly one terminal event in one transaction.

Every citation of the message is sliced from the segment's own text, never taken from what a writer wrote.
"""

import logging
from collections.abc import Coroutine
from typing import Any, Literal, cast

from answers.citations import build_claim
from answers.sources import describe_source, nearest_sources
from graph.errors import CitewellError, DatabaseUnavailable, ServerStopping
from graph.events import RunFailed, RunFinished
from graph.evidence import FamilyName, Identity, Message, Section, SectionClaim
from graph.ports import SegmentReader
from graph.state import SourceRow, State, answer_text
from tools.runs.event_log import RunLogs
from tools.runs.ledger import Ledger
from tools.runs.live_run import LogLine, Run
from tools.runs.retry import retry_while_unavailable
from tools.runs.run_request import Superseded


async def finished_message(state: State, reader: SegmentReader, identity: Identity, family: FamilyName) -> Message:
    """Describe a run's sources and quote its citations; a span that does not lie in its segment is left out."""
    near = _nearest_rows(state) if state.outcome == "abstained" else []
    rows = near or state.sources
    segments = {s.segment_id: s for s in await reader.read_segments([row["segment_id"] for row in rows], identity)}
    shown = [describe_source(row, segments[row["segment_id"]]) for row in rows if row["segment_id"] in segments]
    place = _places(state.sections)
    claims = [
        SectionClaim(
            **build_claim(row, state.sections[row["section_index"]], segments),
            section_index=place[row["section_index"]],
        )
        for row in ([] if near else state.claims)
        if row["section_index"] in place
    ]
    for each in claims:
        for citation in each["citations"]:
            citation["section_index"] = each["section_index"]
    message = Message(
        answer=answer_text(state.sections),
        sections=[section for section in state.sections if section["text"]],
        citations=[citation for each in claims for citation in each["citations"]],
        sources=[] if near else shown,
        family=family,
        claims=claims,
        disagreements=state.disagreements,
    )
    if near:
        message["nearest"] = shown
    if state.assessment is not None:
        message["assessment"] = state.assessment
    return message


def _places(sections: list[Section]) -> dict[int, int]:
    """Map the index that events gave a section to its place in the message, which leaves withdrawn ones out."""
    standing = [index for index, section in enumerate(sections) if section["text"]]
    return {index: place for place, index in enumerate(standing)}


def _nearest_rows(state: State) -> list[SourceRow]:
    return [SourceRow(**{**row, "index": i}) for i, row in enumerate(nearest_sources(state.candidates), start=1)]


def partial_message(sections: list[Section], family: FamilyName) -> Message:
    """Lay out what a cut-off run had finished; nothing of it is cited, since nothing of it was proven."""
    return Message(answer=answer_text(sections), sections=sections, citations=[], sources=[], family=family)


log = logging.getLogger("citewell.runs")

Completion = Coroutine[Any, Any, None]


class CompletionRecorder:
    """Records the ends of runs. A run that another process has taken over is left to it, without an end of ours."""

    def __init__(self, ledger: Ledger, logs: RunLogs) -> None:
        self._ledger = ledger
        self._logs = logs

    async def answered(self, run: Run, state: State, reader: SegmentReader) -> None:
        """End a run whose graph came to its end; ``reader`` has the texts that it was answered from."""
        await self._or_failed(run, self._answered(run, state, reader))

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

    async def _or_failed(self, run: Run, ending: Completion) -> None:
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
            await self.failed(run, internal_error())

    async def _answered(self, run: Run, state: State, reader: SegmentReader) -> None:
        identity = run.request.context.identity
        message = await retry_while_unavailable(
            lambda: finished_message(state, reader, identity, run.family),
            unless=lambda: _must_stop(run),
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
            await retry_while_unavailable(lambda: self._write(run, end, last), unless=lambda: _must_stop(run))
        except BaseException:
            run.last_seq -= 1
            raise
        run.publish([last])

    async def _write(self, run: Run, end: RunFinished | RunFailed, last: LogLine) -> None:
        if isinstance(end, RunFinished):
            await self._ledger.finish(run, end, last)
        else:
            await self._ledger.fail(run, end, last)


def _must_stop(run: Run) -> bool:
    """Whether nobody waits any more for the run to end here."""
    return any((run.left, run.elsewhere, run.failure))


def internal_error() -> CitewellError:
    """Say no more than that the fault is ours to mend: its text stays in our log, and the client learns the run id."""
    return CitewellError("The run failed for an internal reason.")
