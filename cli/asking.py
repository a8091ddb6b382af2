"""Ask one question and follow its run to the end; what `ask` and `demo` have in common."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli.exits import BY_CODE, Exit

if TYPE_CHECKING:
    from graph.events import Envelope, RetrievalDecided, RunFailed, RunFinished
    from tools.runner import Runner
    from tools.running.live import Run
    from tools.runs import RunRequest


@dataclass(frozen=True, slots=True)
class Asked:
    """A run that has ended: what was decided on the way, and how it ended."""

    run: "Run"
    decision: "RetrievalDecided | None"
    end: "RunFinished | RunFailed"

    @property
    def exit_code(self) -> Exit:
        from graph.events import RunFailed

        if isinstance(self.end, RunFailed):
            return BY_CODE[self.end.code]
        return {"answered": Exit.OK, "abstained": Exit.ABSTAINED, "cancelled": Exit.INTERRUPTED}[self.end.outcome]

    def as_json(self) -> dict[str, Any]:
        """Lay out the run for programs; a failed one has an ``error`` and no answer."""
        from graph.events import RunFailed

        run, end = self.run, self.end
        document: dict[str, Any] = {
            "run_id": run.run_id,
            "session_id": run.session_id,
            "message_id": run.message_id,
            "question": run.request.question,
            "standalone_question": self.decision.standalone_question if self.decision else None,
            "needs_retrieval": self.decision.needs_retrieval if self.decision else None,
            "family": run.family,
            "model": run.model,
        }
        if isinstance(end, RunFailed):
            error = {name: getattr(end, name) for name in ("code", "message", "suggestion", "retryable")}
            return {**document, "outcome": "failed", "stop_reason": "error", "error": error}
        message = end.message
        return {
            **document,
            "outcome": end.outcome,
            "stop_reason": end.stop_reason,
            "answer": message["answer"],
            "sections": message["sections"],
            "citations": message["citations"],
            "sources": message["sources"],
            "nearest": message.get("nearest", []),
            "claims": message.get("claims", []),
            "assessment": message.get("assessment"),
            "disagreements": message.get("disagreements", []),
            "spent": end.spent,
        }


async def ask_question(
    runner: "Runner", session_id: str, request: "RunRequest", hear: "Callable[[Envelope], None] | None" = None
) -> Asked:
    """Start a run, tell ``hear`` of each event as it comes, and wait for the end.

    Cancelled, it cancels the run and records that. Raises what ``Runner.start`` raises.
    """
    from graph.events import RetrievalDecided, RunFailed, RunFinished

    run = await runner.start(session_id, request)
    decision: RetrievalDecided | None = None
    try:
        async for envelope in run.events():
            event = envelope.event
            if hear is not None:
                hear(envelope)
            if isinstance(event, RetrievalDecided):
                decision = event
            if isinstance(event, RunFinished | RunFailed):
                return Asked(run, decision, event)
    except asyncio.CancelledError:
        await run.cancel("cancel_requested")
        raise
    raise AssertionError("a log ends with its terminal event")
