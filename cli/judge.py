"""citewell judge: take the exam of a model that judges claims, and show which judge has a say in which language."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.command import Storage, awaited, opened_database, settings_for
from cli.console import print_json, progress_bar, progress_console, result_console, show_table
from cli.options import AsJson

if TYPE_CHECKING:
    from graph.ports import Judge
    from tools.judges.exam import Cost, Exam
    from tools.judges.exam_marking import LanguageResult
    from tools.judges.sequential_testing import Share
    from tools.settings import Settings
    from tools.storage.database import Connection

judge = typer.Typer(help="Examine the model that judges claims, and show the results.", no_args_is_help=True)
JudgeOf = Annotated[
    str,
    typer.Option("--model", help="The judge of this model's answers; default: the default model.", show_default=False),
]
Languages = Annotated[
    list[str] | None,
    typer.Option(
        "--language",
        metavar="LL",
        help="In this language (ISO 639-1); may be repeated; default: those of the default workspace's documents.",
        show_default=False,
    ),
]
Again = Annotated[bool, typer.Option("--again", help="Take it again in languages that have a result.")]
AtOnce = Annotated[int, typer.Option("--concurrency", min=1, max=64, help="Languages examined at a time.")]


@judge.command()
@awaited
async def exam(
    model: JudgeOf = "",
    language: Languages = None,
    again: Again = False,
    concurrency: AtOnce = 4,
    as_json: AsJson = False,
) -> None:
    """Take the exam that gives a judge its say: labelled claims, half of them false, by language.

    It ends as soon as its outcome is sure, and goes on where an earlier one was broken off. The result is stored for
    the deployment, language by language, and counts from the next claim on. Exits with 0 whatever the result, with 5
    where the judge can't be asked or another process is taking its exam.
    """

    def told(cost: str) -> bool:
        progress_console().print(cost, soft_wrap=True)
        return True

    state = await take_exam(settings_for(), model, language or (), agreed=told, again=again, at_once=concurrency)
    if as_json:
        print_json({**state.document(), "stored": True})
        return
    _show([state])
    for code, result in state.results.items():
        progress_console().print(f"{code}: {'; '.join(result.faults) or 'passed'}.", markup=False)


async def take_exam(
    settings: "Settings",
    model: str,
    languages: Sequence[str],
    *,
    agreed: Callable[[str], bool],
    again: bool = False,
    at_once: int = 4,
) -> "JudgeState":
    """Take the exam of the judge of a model's answers; it has no result where its cost, in words, is not ``agreed``.

    Without ``languages`` it is in those of the default workspace. Raises UnknownModel, ConfigurationError,
    InvalidRequest and what ``Examiner.take`` raises.
    """
    from tools.judges.exam_store import ExamStore
    from tools.judges.examiner import Examiner, exam_cost
    from tools.runs.verdict_upgrades import VerdictUpgrades

    asked = _judge_of(settings, model)
    async with opened_database(settings) as storage:
        examiner = Examiner(
            ExamStore(storage.database), settings.judge, after_exam=VerdictUpgrades(storage.database).run
        )
        exam = await examiner.exam()
        chosen = _checked(languages, exam) if languages else await _languages_of_library(storage, exam)
        cost = exam_cost(exam, chosen, settings.judge)
        if not agreed(f"{asked.name} takes its exam in {', '.join(chosen)}: {cost}."):
            return JudgeState(asked.name, asked.version, exam.digest, missing=tuple(chosen), cost=cost)
        with progress_bar("Judging") as progress:
            results = await examiner.take(asked, chosen, again=again, progress=progress, at_once=at_once)
    return JudgeState(asked.name, asked.version, exam.digest, results={code: results[code] for code in chosen})


@judge.command("list")
@awaited
async def list_(as_json: AsJson = False) -> None:
    """List the judges of the configured models: in which languages each has a say, and by which result."""
    settings = settings_for()
    async with opened_database(settings) as storage, storage.database.connection() as connection:
        states = await judge_states(configured_judges(settings), settings, connection)
    if as_json:
        print_json({"judges": [state.document() for state in states]})
    elif states:
        _show(states)
    else:
        print("No judge is configured: claims that code leaves open stay unverified.")


@dataclass(frozen=True, slots=True)
class JudgeState:
    """What is known of a judge: its results by language, and what the exam costs in one more language.

    ``models`` are those whose answers it judges, ``trouble`` is why the last attempt at its exam ended early.
    """

    name: str
    version: str
    exam: str
    models: tuple[str, ...] = ()
    results: "Mapping[str, LanguageResult]" = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    cost: "Cost | None" = None
    trouble: str | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "judge": self.name,
            "models": list(self.models),
            "version": self.version,
            "exam": self.exam,
            "languages": [_document(result) for result in self.results.values()],
            "missing": list(self.missing),
            "cost": self.cost and asdict(self.cost),
            "trouble": self.trouble,
        }

    def __str__(self) -> str:
        parts = [f"{code} {'passed' if result.passed else 'failed'}" for code, result in self.results.items()]
        if self.missing:
            parts.append(f"{', '.join(self.missing)} not taken: each {self.cost}")
        return "; ".join([*parts, *([f"its last exam ended early: {self.trouble}"] if self.trouble else [])])


def configured_judges(settings: "Settings") -> "list[tuple[Judge, tuple[str, ...]]]":
    """Return the judges of the configured models and of the default one, each with the models that it judges.

    Raises ConfigurationError.
    """
    from tools.backends.backend_registry import configured_families
    from tools.judges.judge_registry import configured_judge
    from tools.settings import EXTRACTIVE

    configured = {model.name: model for model in settings.models}
    opened = [(name, configured_judge(settings, model)) for name, model in [*configured.items(), (EXTRACTIVE, None)]]
    if settings.default_model not in (*configured, EXTRACTIVE):
        opened.append((settings.default_model, configured_families(settings)("").judge))
    judges: dict[tuple[str, str], tuple[Judge, tuple[str, ...]]] = {}
    for name, judge in opened:
        if judge is not None:
            key = (judge.name, judge.version)
            judges[key] = (judge, (*judges[key][1], name) if key in judges else (name,))
    return list(judges.values())


async def judge_states(
    judges: "Sequence[tuple[Judge, tuple[str, ...]]]", settings: "Settings", connection: "Connection"
) -> list[JudgeState]:
    """Return these judges with their stored results, read over a connection."""
    from tools.judges.exam import built_in_exam
    from tools.judges.exam_store import exam_key, read_exam_row
    from tools.judges.examiner import exam_cost

    exam = await asyncio.to_thread(built_in_exam)
    states = []
    for found, models in judges:
        stored = await read_exam_row(connection, exam_key(found, exam))
        results = stored.languages if stored else {}
        missing = tuple(code for code in exam.languages if code not in results)
        costs = (exam_cost(exam, [code], settings.judge) for code in missing)
        states.append(
            JudgeState(
                found.name,
                found.version,
                exam.digest,
                models,
                results,
                missing,
                max(costs, key=lambda cost: cost.tokens, default=None),
                stored.trouble if stored else None,
            )
        )
    return states


def _judge_of(settings: "Settings", model: str) -> "Judge":
    from graph.errors import ConfigurationError, UnknownModel
    from tools.backends.backend_registry import configured_families

    judge = configured_families(settings)(model).judge
    if judge is not None:
        return judge
    named = model or settings.default_model
    if settings.judge.kind == "off":
        raise ConfigurationError("judge.kind: judging is off.", suggestion="Set CITEWELL_JUDGE__KIND.")
    raise UnknownModel(
        f"model: no model judges the answers of {named!r}.",
        suggestion="Name a model with --model, or configure a judge's own endpoint with CITEWELL_JUDGE__BASE_URL.",
    )


def _checked(languages: "Sequence[str]", exam: "Exam") -> list[str]:
    from graph.errors import InvalidRequest

    for code in languages:
        if code not in exam.languages:
            raise InvalidRequest(f"language: the exam has no claims in {code!r}; it has {', '.join(exam.languages)}.")
    return list(dict.fromkeys(languages))


async def _languages_of_library(storage: Storage, exam: "Exam") -> list[str]:
    """Return the exam's languages that the default workspace is written in, else the exam's first one."""
    from graph.errors import NotFound
    from graph.evidence import Identity
    from tools.library.languages import SampledLanguages

    try:
        written = await SampledLanguages(storage.database, storage.workspaces)(Identity())
    except NotFound:
        written = ()
    return [code for code in written if code in exam.languages] or [exam.languages[0]]


def _show(states: Sequence[JudgeState]) -> None:
    headings = ["Judge", "Language", "Verdict", "True supported", "False supported", "Threshold", "Calls", "Taken"]
    rows = [[state.name, code, *_cells(result)] for state in states for code, result in state.results.items()]
    missing = [[state.name, code, "not taken", "", "", "", "", ""] for state in states for code in state.missing]
    show_table(result_console(), headings, [*rows, *missing])
    console = progress_console()
    for state in states:
        if state.cost:
            console.print(f"{state.name}: the exam in another language has {state.cost}.", markup=False)
        if state.trouble:
            console.print(f"{state.name}: its last exam ended early: {state.trouble}", markup=False)


def _cells(result: "LanguageResult") -> list[str]:
    return [
        "passed" if result.passed else "failed",
        str(result.proven),
        str(result.wrong),
        "none" if result.threshold is None else f"{result.threshold:.2f}",
        f"{result.calls}, {result.tokens:,} tokens",
        f"{result.taken_at:%Y-%m-%d}",
    ]


def _document(result: "LanguageResult") -> dict[str, Any]:
    return {
        "language": result.language,
        "passed": result.passed,
        "faults": result.faults,
        "threshold": result.threshold,
        "true_supported": _share(result.proven),
        "false_supported": _share(result.wrong),
        "right": _share(result.right),
        "no_verdict": _share(result.silent),
        "calls": result.calls,
        "tokens": result.tokens,
        "seconds": result.seconds,
        "taken_at": result.taken_at,
    }


def _share(share: "Share") -> dict[str, float]:
    low, high = share.interval
    return {"count": share.count, "of": share.of, "low": round(low, 4), "high": round(high, 4)}
