"""End a run: build its final message, and record exactly one terminal event in one transaction.

Every citation of the message is sliced from the segment's own text, never copied from the writer's output.
"""

import logging
from collections.abc import Coroutine, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, cast

from answers.citations import build_claim, describe_nearest, describe_sources, nearest_sources, show_quotes
from answers.marks import decided, marked_citations, with_marks
from answers.quoted_runs import quoted_once
from answers.standing import RunView
from answers.surroundings import leaves, read_around
from graph.errors import CitewellError, DatabaseUnavailable, ServerStopping
from graph.events import RunFailed, RunFinished
from graph.evidence import (
    Citation,
    Claim,
    Cost,
    FamilyName,
    Identity,
    Message,
    SectionClaim,
    Segment,
    Spent,
    answer_text,
    section_of,
)
from graph.ports import SegmentReader
from graph.rows import ClaimRow, SourceRow
from graph.state import State
from tools.runs.event_log import RunLogs
from tools.runs.ledger import Ledger
from tools.runs.live_run import LogLine, Run
from tools.runs.verdict_upgrades import VerdictUpgrades
from tools.sessions.checkpoints import CheckpointRow
from tools.sessions.run_request import Superseded
from tools.sessions.settled_claims import is_unexamined
from tools.storage.database import retry_while_unavailable

log = logging.getLogger("citewell.runs")


async def finished_message(state: State, reader: SegmentReader, identity: Identity, family: FamilyName) -> Message:
    """Build a run's message with its sources and quoted citations; leave out spans that are not in their segment."""
    nearest = _nearest_rows(state) if state.outcome == "abstained" else []
    grounded = any(section["text"] and section.get("grounded", True) for section in state.sections)
    rows = nearest or (state.sources if grounded else [])
    read = await reader.read_segments([row["segment_id"] for row in rows], identity)
    segments = {segment.segment_id: segment for segment in read}
    around = await read_around(reader, read, identity, rows) if _leave(state.claims, segments) else segments
    passages = {near["proof"]["segment_id"]: near for near in reversed(state.nearest)} if nearest else {}
    if nearest:
        found = [row for row in rows if row["segment_id"] in segments]
        described = [describe_nearest(row, segments[(key := row["segment_id"])], passages.get(key)) for row in found]
    else:
        described = describe_sources(rows, segments)
    kept = (index for index, section in enumerate(state.sections) if section["text"])
    positions = {index: position for position, index in enumerate(kept)}  # in the message, by those in the events
    indices = {row["segment_id"]: row["index"] for row in state.sources}
    claims = [
        SectionClaim(
            **build_claim(row, state.sections[row["section_index"]], around, indices),
            section_index=positions[row["section_index"]],
        )
        for row in ([] if nearest else state.claims)
        if row["section_index"] in positions
    ]
    for each in claims:
        for citation in each["citations"]:
            citation["section_index"] = each["section_index"]
    citations = quoted_once(claims)
    show_quotes(described, citations, around)
    show_quotes(described, [each for claim in claims for each in marked_citations(claim)], around)
    message = Message(
        answer=answer_text(state.sections),
        sections=with_marks((section for section in state.sections if section["text"]), claims),
        citations=citations,
        sources=[] if nearest else described,
        family=family,
        claims=claims,
        disagreements=state.disagreements,
    )
    if nearest:
        message["nearest"] = described
    if state.assessment is not None:
        message["assessment"] = state.assessment
    if state.refusal is not None and state.outcome == "abstained":
        message["refusal"] = state.refusal
    if state.pages is not None:
        message["pages"] = state.pages
    return message


def _leave(claims: Sequence[ClaimRow], segments: Mapping[str, Segment]) -> bool:
    return any("highlight" in proof or leaves(proof, segments) for row in claims for proof in row["proofs"])


def _nearest_rows(state: State) -> list[SourceRow]:
    return [
        SourceRow(**{**row, "index": i})
        for i, row in enumerate(nearest_sources(state.candidates, state.repeated, state.nearest), start=1)
    ]


def partial_message(view: RunView, family: FamilyName) -> Message:
    """Build an interrupted run's message from what stands of its sections, with the proofs of the claims that are kept.

    A section that was still being written is kept up to the last claim that was checked and has not failed.
    """
    standing = [(each, text) for _, each in sorted(view.sections.items()) if (text := each.standing_text)]
    sections = [section_of(text, each.cited_ids, grounded=each.grounded) for each, text in standing]
    claims = [
        decided(_moved_claim(claim, position))
        for position, (each, text) in enumerate(standing)
        for claim in each.claims
        if claim["end"] <= len(text)
    ]
    citations = quoted_once(claims)
    return Message(
        answer=answer_text(sections),
        sections=with_marks(sections, claims),
        citations=citations,
        sources=show_quotes(deepcopy(view.sources), citations, {}) if citations else [],
        family=family,
        claims=claims,
        disagreements=view.disagreements if citations else [],
    )


def _moved_claim(claim: Claim, position: int) -> SectionClaim:
    citations = [Citation(**{**citation, "section_index": position}) for citation in claim["citations"]]
    return SectionClaim(**{**claim, "citations": citations, "section_index": position})


Completion = Coroutine[Any, Any, None]


class CompletionRecorder:
    """Records how runs end, except for runs that another process has taken over and will end itself."""

    def __init__(self, ledger: Ledger, logs: RunLogs, upgrades: VerdictUpgrades) -> None:
        self._ledger = ledger
        self._logs = logs
        self._upgrades = upgrades

    async def record_answered(
        self, run: Run, state: State, reader: SegmentReader, checkpoint: CheckpointRow | None = None
    ) -> None:
        """Record the end of a run whose graph has finished; ``reader`` holds the texts it was answered from.

        A ``checkpoint`` is stored in the same transaction.
        """
        await self._record_or_fail(run, self._write_answered(run, state, reader, checkpoint))

    async def record_cancelled(self, run: Run) -> None:
        """Record the end of a cancelled run, with what stands of its answer."""
        await self._record_or_fail(run, self._write_cancelled(run))

    async def record_failed(self, run: Run, error: CitewellError) -> None:
        """Record the end of a failed run. Its readers get the failure even where it cannot be recorded."""
        end = RunFailed(
            code=error.code, message=error.message, suggestion=error.advice, retryable=type(error).retryable
        )
        try:
            await self._record(run, end)
        except ServerStopping:
            return  # the next process resumes the run, and records its end
        except Superseded:
            self.hand_over(run)
        except DatabaseUnavailable:
            log.error("run %s failed with %s and could not be recorded", run.run_id, error.code)
            run.fail_log(error)
        except Exception:
            log.exception("the failure of run %s could not be recorded", run.run_id)
            run.fail_log(error)

    async def charge_deleted(self, run: Run) -> None:
        """Charge a run that nobody ends, since its session was deleted while it was answered."""
        if run.elsewhere is None or run.account is None:
            return
        try:
            await self._ledger.spending.record_late(run.run_id, run.account, if_deleted=True)
        except DatabaseUnavailable as error:
            log.error("what run %s used is not stored: %s", run.run_id, error.message)

    def hand_over(self, run: Run) -> None:
        """Redirect a run's readers to the stored log, so that they follow it in the process that continues it."""
        run.hand_over(self._logs.stored(run))

    async def _record_or_fail(self, run: Run, completion: Completion) -> None:
        try:
            await completion
        except ServerStopping:
            return  # the next process records its end
        except Superseded:
            self.hand_over(run)
        except CitewellError as error:
            await self.record_failed(run, error)
        except Exception:
            log.exception("the end of run %s failed", run.run_id)
            await self.record_failed(run, internal_error())

    async def _write_answered(
        self, run: Run, state: State, reader: SegmentReader, checkpoint: CheckpointRow | None
    ) -> None:
        identity = run.request.context.identity
        message = await retry_while_unavailable(
            lambda: finished_message(state, reader, identity, run.family),
            unless=lambda: _must_stop(run),
        )
        outcome = cast(Literal["answered", "abstained"], state.outcome)  # an attempt ends with an outcome or raises
        used, cost = {**state.spent, **_beside(run)}, _cost(run)
        end = RunFinished(outcome=outcome, stop_reason=str(state.stop_reason), message=message, spent=used, cost=cost)
        await self._record(run, end, checkpoint)

    async def _write_cancelled(self, run: Run) -> None:
        message, used = partial_message(run.view, run.family), {**run.spent, **_beside(run)}
        end = RunFinished(
            outcome="cancelled", stop_reason=run.stop_reason, message=message, spent=used, cost=_cost(run)
        )
        await self._record(run, end)

    async def _record(self, run: Run, end: RunFinished | RunFailed, checkpoint: CheckpointRow | None = None) -> None:
        run.ending = True
        lines = await run.withdraw() if isinstance(end, RunFinished) else await _commit_what_can_be(run)
        last = run.next_line(end)
        try:
            last = await retry_while_unavailable(
                lambda: self._write(run, end, [*lines, last], checkpoint), unless=lambda: _must_stop(run)
            )
        except BaseException:
            run.last_seq -= 1
            raise
        run.publish([*lines, last])
        if isinstance(end, RunFinished) and any(map(is_unexamined, end.message.get("claims", []))):
            await self._settle(run)

    async def _settle(self, run: Run) -> None:
        """Settle what a judge said in a run during which its exam came to its end."""
        try:
            await self._upgrades.of_message(run.message_id)
        except CitewellError as error:
            log.warning("verdicts of run %s are not settled yet: %s", run.run_id, error.message)

    async def _write(
        self, run: Run, end: RunFinished | RunFailed, lines: Sequence[LogLine], checkpoint: CheckpointRow | None
    ) -> LogLine:
        """Write the end and return its line; it is another one where an earlier write succeeded but lost its reply."""
        try:
            if isinstance(end, RunFinished):
                await self._ledger.finish(run, end, lines, checkpoint)
            else:
                await self._ledger.fail(run, end, lines)
        except Superseded:
            if (stored := await self._logs.stored_end(run)) is None:
                raise
            return LogLine(stored)
        finally:
            self._logs.notifications.notify(run.run_id, run.session_id)
        return lines[-1]


async def _commit_what_can_be(run: Run) -> list[LogLine]:
    """Commit the events before a failure by themselves, and drop those that can't be: the failure may be theirs.

    Return those that the database was away for, to be committed with the end. They may be in the log already, if it is
    the reply that was lost: what takes their numbers instead would not get there.
    """
    try:
        await run.committed()
    except (ServerStopping, Superseded):
        raise
    except DatabaseUnavailable:
        return run.take()
    except CitewellError:
        run.drop_uncommitted()
    return []


def _beside(run: Run) -> dict[str, Spent]:
    """Return what a run used outside of its steps, and so of its budget: its title, and embeddings."""
    embedded = run.account.embedded if run.account is not None else {}
    if not embedded:
        return run.side_usage
    calls = sum(use["calls"] for use in embedded.values())
    tokens = sum(use["input_tokens"] for use in embedded.values())
    return {**run.side_usage, "embed": Spent(calls=calls, tokens=tokens, ms=0.0, models=dict(embedded))}


def _cost(run: Run) -> Cost | None:
    """Return what a run cost so far, with the calls that were cut off."""
    return run.account.gate.settings.total_cost(run.account.used) if run.account is not None else None


def _must_stop(run: Run) -> bool:
    """Whether this process no longer has to record the run's end."""
    return any((run.left, run.elsewhere, run.failure))


def internal_error() -> CitewellError:
    """Return an error without details: the exception stays in the server's log, and the client learns the run id."""
    return CitewellError("The run failed for an internal reason.")
