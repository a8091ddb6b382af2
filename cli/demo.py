"""citewell demo: questions over Citewell's own manual that show what it does."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Exit, awaited, identity_of, opened, settings_for
from cli.console import print_json, progress_console, result_console
from cli.nearest_names import did_you_mean
from cli.options import AsJson

if TYPE_CHECKING:
    from cli.answering import AskOutcome
    from cli.rendering.demo_stage import Stage
    from graph.entrypoint import Citewell
    from graph.evidence import Identity
    from tools.settings import Settings

WORKSPACE = "demo"
INSTALLED_DOCS = Path(__file__).resolve().parent / "manual"  # in a wheel; a clone has it in docs/
DOCS = INSTALLED_DOCS if INSTALLED_DOCS.is_dir() else Path(__file__).resolve().parents[1] / "docs"

Model = Annotated[
    str, typer.Option(help="A model that `citewell doctor` lists; default: extractive, which needs none.")
]


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question and what it demonstrates; a follow-up continues the session of the previous question."""

    text: str
    shows: str
    follows_up: bool = False


QUESTIONS = (
    DemoQuestion(
        "What is the hotel limit a night, and when are approved expense claims paid?",
        "answered from two documents",
    ),
    DemoQuestion("And in Paris?", "a follow-up that makes sense only after the previous question", follows_up=True),
    DemoQuestion("Great, thank you very much!", "small talk, answered without a search", follows_up=True),
    DemoQuestion(
        "Ngày phép chưa dùng hết phải dùng trước ngày nào?",
        "a question in Vietnamese over a Vietnamese document",
    ),
    DemoQuestion("滤芯指示灯变红以后，应该在几天之内更换滤芯？", "a question in Chinese over a Chinese document"),
    DemoQuestion("When may a citation be emitted?", "answered from Citewell's own manual"),
    DemoQuestion(
        "What is the most that a standing desk may cost?", "answered from a row of a workbook, cited to its cell"
    ),
    DemoQuestion(
        "How much is the daily meal allowance for a full day?",
        "two documents that contradict each other, and an answer that says so",
    ),
    DemoQuestion(
        "What is the wifi password of the Lisbon office?",
        "not in the library: refused, with the nearest passages",
    ),
)


@awaited
async def demo(model: Model = "extractive", as_json: AsJson = False) -> Exit:
    """Show what Citewell does, on its own manual.

    Ingests the manual and nine small documents, asks nine questions, and shows each run as it happens. Uses only the
    workspace "demo"; you can run it again at any time.
    """
    from cli.rendering.demo_stage import Stage
    from graph.errors import ConfigurationError

    if not DOCS.is_dir():
        raise ConfigurationError(
            "The demo needs the manual, which is not installed.", suggestion="Install Citewell's wheel, or clone it."
        )
    settings = settings_for(WORKSPACE)
    _refuse_unknown(settings, model)
    stage = None if as_json else Stage(result_console(), progress_console())
    if stage is not None:
        stage.open()
    async with opened(settings) as citewell:
        await _fill(citewell, identity_of(settings), stage)
        outcomes = await _ask_all(citewell, identity_of(settings), model, stage)
    if as_json:
        told = ("question", "outcome", "needs_retrieval", "answer", "sections", "citations")
        print_json({"questions": [{name: each.as_json().get(name) for name in told} for each in outcomes]})
    failed = [outcome.exit_code for outcome in outcomes if outcome.exit_code not in (Exit.OK, Exit.ABSTAINED)]
    if stage is not None and not failed:
        stage.close(outcomes[1].run.session_id)
    return failed[0] if failed else Exit.OK


def _refuse_unknown(settings: "Settings", model: str) -> None:
    """Refuse a model that is not configured, before anything is started. Raises UnknownModel."""
    from graph.errors import UnknownModel
    from tools.backends.backend_registry import configured_families
    from tools.settings import EXTRACTIVE

    if configured_families(settings)(model).fallback is not None:  # another model would answer
        known = [EXTRACTIVE, *(each.name for each in settings.models)]
        raise UnknownModel(f"model: no model is named {model!r}.", suggestion=did_you_mean(model, known) or None)


async def _fill(citewell: "Citewell", identity: "Identity", stage: "Stage | None") -> None:
    from cli.ingest import ingest_shown
    from tools.library.ingestion import Refused

    await citewell.library.workspaces.ensure(identity.workspace)
    reports = await ingest_shown(citewell.library.ingestor, identity, [DOCS])
    for refused in (report for report in reports if isinstance(report, Refused)):
        typer.echo(f"{refused.name} was refused: {refused.reason}", err=True)
    if stage is not None:
        stage.library([report for report in reports if not isinstance(report, Refused)])


async def _ask_all(citewell: "Citewell", identity: "Identity", model: str, stage: "Stage | None") -> "list[AskOutcome]":
    from cli.answering import ask_question
    from graph.context import Context
    from tools.sessions.run_request import RunRequest

    context = Context.of(identity, model=model)
    outcomes: list[AskOutcome] = []
    for number, question in enumerate(QUESTIONS, start=1):
        if question.follows_up:
            session_id = outcomes[-1].run.session_id
        else:
            session_id = (await citewell.library.sessions.create(identity, ephemeral=True)).session_id
        shown = None if stage is None else stage.question(number, len(QUESTIONS), question.text, question.shows)
        on_event = shown.show if shown is not None else None
        outcomes.append(await ask_question(citewell.runner, session_id, RunRequest(question.text, context), on_event))
    return outcomes
