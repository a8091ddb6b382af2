"""citewell ask: ask one question and stream the answer to the terminal.

``ask_question`` follows the run to its end; the demo uses it too.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.command import BY_CODE, Exit, identity_of, opened, report, run, settings_for
from cli.console import print_json, progress_console, result_console
from cli.options import AsJson, UserName, WorkspaceName, as_id
from graph.evidence import AnswerFrom, SearchMode, WebMode

if TYPE_CHECKING:
    from graph.events import Envelope, RetrievalDecided, RunFailed, RunFinished
    from tools.runs.live_run import Run
    from tools.runs.runner import Runner
    from tools.sessions.run_request import RunRequest


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """A finished run: its retrieval decision and its terminal event."""

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
        """Return the run as JSON-ready data; a failed run has an ``error`` and no answer."""
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
            "cost": end.cost,
        }


async def ask_question(
    runner: "Runner", session_id: str, request: "RunRequest", on_event: "Callable[[Envelope], None] | None" = None
) -> AskOutcome:
    """Start a run, call ``on_event`` for each event, and return the outcome.

    If the task is cancelled, the run is cancelled and recorded as such. Raises what ``Runner.start`` raises.
    """
    from graph.events import RetrievalDecided, RunFailed, RunFinished

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


Session = Annotated[str | None, typer.Option(help="Continue this session; default: a new one.", show_default=False)]
Pages = Annotated[list[str] | None, typer.Option("--page", help="Read this document whole; may be repeated.")]
OnlyPages = Annotated[bool, typer.Option("--only-pages", help="Answer from these pages alone.")]
Search = Annotated[SearchMode, typer.Option(help="Search the library when the question needs it, always, or never.")]
Web = Annotated[
    WebMode, typer.Option(help="Search the web never, when the library has nothing, together with it, or first.")
]
SelectedText = Annotated[
    str, typer.Option("--selected-text", help="A passage that the question is about.", show_default=False)
]
Spaces = Annotated[list[str] | None, typer.Option("--space", help="Search this space alone; may be repeated.")]
TopK = Annotated[int, typer.Option(min=1, max=30, help="How many segments to find.")]
MinScore = Annotated[float, typer.Option(min=0, max=1, help="Minimum relevance of a segment, 0 to 1.")]
Model = Annotated[str, typer.Option(help="A model that `citewell doctor` lists; default: the configured one.")]
Thinking = Annotated[bool, typer.Option("--thinking", help="Use the model's thinking variant.")]
ModelCalls = Annotated[int, typer.Option(min=0, max=8, help="Most model calls that the run may make.")]
Seconds = Annotated[float, typer.Option("--max-seconds", min=0.1, max=600, help="Most seconds that the run may take.")]
From = Annotated[
    AnswerFrom | None,
    typer.Option(
        "--answer-from",
        help="Answer from the library, from the model where the library has nothing, or from the model alone.",
        show_default="the setting, or library",
    ),
]
Tokens = Annotated[int | None, typer.Option(min=1, help="Most model tokens that the run may use.", show_default=False)]

LONGEST_QUESTION, LONGEST_PASSAGE = 10_000, 1000  # characters, as over the API


def ask(
    question: Annotated[str, typer.Argument(help="The question, in any language.", show_default=False)],
    session: Session = None,
    page: Pages = None,
    only_pages: OnlyPages = False,
    selected_text: SelectedText = "",
    search: Search = "auto",
    web: Web = "off",
    space: Spaces = None,
    top_k: TopK = 10,
    min_score: MinScore = 0.3,
    model: Model = "",
    thinking: Thinking = False,
    answer_from: From = None,
    max_model_calls: ModelCalls = 8,
    max_tokens: Tokens = None,
    max_seconds: Seconds = 120.0,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question.

    Prints the steps on stderr, the answer and its citations on stdout. Exits with 7 if the library does not hold the
    answer.
    """
    options: dict[str, object] = {
        "search": search,
        "web": web,
        "only_selected_pages": only_pages,
        "spaces": space or [],
        "top_k": top_k,
        "min_score": min_score,
        "model": model,
        "thinking": thinking,
        "max_model_calls": max_model_calls,
        "max_tokens": max_tokens,
        "max_seconds": max_seconds,
    }
    if answer_from is not None:
        options["answer_from"] = answer_from
    run(_ask(question, selected_text, session, page or [], options, workspace, user, as_json), as_json=as_json)


async def _ask(
    question: str,
    selected_text: str,
    session_id: str | None,
    pages: list[str],
    options: dict[str, object],
    workspace: str | None,
    user: str | None,
    as_json: bool,
) -> Exit:
    from cli.rendering.terminal_run import TerminalRun
    from graph.context import Context
    from graph.errors import InvalidRequest, SpendingLimitReached
    from tools.sessions.run_request import RunRequest

    if not question.strip():
        raise InvalidRequest("question: it is empty.", suggestion="Write a question.")
    if len(question) > LONGEST_QUESTION:
        raise InvalidRequest(f"question: at most {LONGEST_QUESTION:,} characters.", suggestion="Ask a shorter one.")
    if len(selected_text) > LONGEST_PASSAGE:
        raise InvalidRequest(f"selected-text: at most {LONGEST_PASSAGE:,} characters.", suggestion="Select less text.")
    session_id = session_id and as_id(session_id, "session")
    page_ids = tuple(as_id(page, "document") for page in pages)
    settings = settings_for(workspace, user)
    identity = identity_of(settings)
    context = Context(
        workspace=identity.workspace,
        user=identity.user,
        groups=list(identity.groups),
        **{**settings.run_knobs, **options},
    )
    async with opened(settings) as citewell:
        is_new = session_id is None
        if session_id is None:
            await citewell.library.workspaces.number(identity.workspace)  # raises for a mistyped name
            session_id = (await citewell.library.sessions.create(identity)).session_id
        on_event = None if as_json else TerminalRun(result_console(), progress_console()).show
        request = RunRequest(question, context, page_ids, selected_text.strip())
        try:
            outcome = await ask_question(citewell.runner, session_id, request, on_event)
        except (InvalidRequest, SpendingLimitReached):
            if is_new:  # nothing was asked in it
                await citewell.library.sessions.delete(identity, session_id)
            raise
    document = outcome.as_json()
    if as_json:
        print_json(document)
    elif "error" in document:
        error = document["error"]
        report(error["code"], error["message"], error["suggestion"], as_json=False)
    else:
        identity_options = "".join(
            f" --{name} {value}" for name, value in (("workspace", workspace), ("user", user)) if value
        )
        progress_console().print(
            f"  To continue: citewell ask{identity_options} --session {session_id} ...", style="dim", soft_wrap=True
        )
    return outcome.exit_code
