"""What answers a question of the command line and shows it: in a process of its own, or in a running server.

``ask_question`` follows the run to its end; the demo uses it too.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cli.command import BY_CODE, Exit, Failed, identity_of
from cli.console import Screen
from cli.local_socket import Asked
from cli.nearest_names import refuse_unknown_spaces, telling_nearest_workspace
from cli.rendering.terminal_run import TerminalRun
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import InvalidRequest, Overloaded, ServerStopping, SpendingLimitReached
from graph.events import Envelope, RetrievalDecided, RunFailed, RunFinished
from tools.runs.live_run import Run
from tools.runs.runner import Runner
from tools.sessions.run_request import RunRequest
from tools.settings import Settings


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """A finished run: its retrieval decision and its terminal event."""

    run: Run
    decision: RetrievalDecided | None
    end: RunFinished | RunFailed

    @property
    def exit_code(self) -> Exit:
        if isinstance(self.end, RunFailed):
            return BY_CODE[self.end.code]
        return {"answered": Exit.OK, "abstained": Exit.ABSTAINED, "cancelled": Exit.INTERRUPTED}[self.end.outcome]

    def as_json(self) -> dict[str, Any]:
        """Return the run as JSON-ready data; a failed run has an ``error`` and no answer."""
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
            "cost": end.cost,
        }


async def ask_question(
    runner: Runner, session_id: str, request: RunRequest, on_event: Callable[[Envelope], None] | None = None
) -> AskOutcome:
    """Start a run, call ``on_event`` for each event, and return the outcome.

    If the task is cancelled, the run is cancelled and recorded as such. Raises what ``Runner.start`` raises.
    """
    run = await runner.start(session_id, request)
    decision: RetrievalDecided | None = None
    try:
        async for envelope in run.events():
            event = envelope.event
            if on_event is not None:
                on_event(envelope)
            if isinstance(event, RetrievalDecided):
                decision = event
            if isinstance(event, RunFinished | RunFailed):
                return AskOutcome(run, decision, event)
    except asyncio.CancelledError:
        await run.cancel("cancel_requested")
        raise
    raise AssertionError("a log ends with its terminal event")


async def answer(citewell: Citewell, settings: Settings, asked: Asked, screen: Screen) -> Failed | Exit:
    """Ask a question as the settings' user, show the answer, and return how the run ended.

    Raises what ``Runner.start`` raises, and NotFound for a workspace that does not exist.
    """
    identity = identity_of(settings)
    context = Context.of(identity, **{**settings.run_knobs, **asked.options})
    session_id = asked.session
    is_new = session_id is None
    library = citewell.library
    async with telling_nearest_workspace(library.workspaces):
        await refuse_unknown_spaces(library.documents, identity, context.spaces)
        await library.workspaces.number(identity.workspace)
    if session_id is None:
        session_id = (await citewell.library.sessions.create(identity)).session_id
    request = RunRequest(asked.question, context, tuple(asked.pages), asked.selected_text.strip())
    shown = None if asked.as_json else TerminalRun(screen.results(), screen.progress())
    try:
        outcome = await ask_question(citewell.runner, session_id, request, None if shown is None else shown.show)
    except (InvalidRequest, SpendingLimitReached, Overloaded, ServerStopping):
        if is_new:  # nothing was asked in it
            await citewell.library.sessions.delete(identity, session_id)
        raise
    finally:
        if shown is not None:
            shown.close()
    document = outcome.as_json()
    if asked.as_json:
        screen.print_json(document)
    elif "error" in document:
        error = document["error"]
        return Failed(error["code"], error["message"], error["suggestion"])
    else:
        named = (("workspace", asked.workspace), ("user", asked.user))
        identity_options = "".join(f" --{name} {value}" for name, value in named if value)
        screen.progress().print(
            f"  To continue: citewell ask{identity_options} --session {session_id} ...", style="dim", soft_wrap=True
        )
    return outcome.exit_code
