"""Comparison of a model's answers before the claim check and after repair, by gold evidence that repair never sees."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from statistics import fmean

from typing_extensions import TypedDict

from answers.standing import view_run
from evals.dataset_store import ingest_texts, throwaway_workspace
from evals.pacing import Progress
from evals.sets.xquad import load_xquad
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import CitewellError
from graph.events import AnyEvent, RunFailed, SectionRevised, SourcesDisagree
from graph.evidence import Claim, Identity, Message
from graph.rows import answer_text
from tools.runs.run_request import RunRequest

LANGUAGES = ("en", "zh", "vi")
_VERDICTS = ("supported", "unverified", "contradicted", "unsupported")


class Side(TypedDict):
    """Figures of the answers at one stage: counts of claims and citations, and shares of all questions."""

    claims: int
    supported: int
    unverified: int
    contradicted: int
    unsupported: int
    supported_share: float
    answers_right: float
    citations: int
    citations_right: int
    answers_cited_right: float


class RepairReport(TypedDict):
    """The report. ``revised`` and ``withdrawn`` count sections; calls are per question, seconds per run."""

    model: str
    questions: int
    failed_runs: int
    before: Side
    after: Side
    abstained: int
    revised: int
    withdrawn: int
    calls_mean: float
    calls_most: int
    seconds_p50: float
    languages: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold answer of a question: the document that answers it, and the answers in its words."""

    language: str
    question: str
    document_id: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepairAnswer:
    """An answer at one stage: its text, and its claims with their citations."""

    text: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class RepairedQuestion:
    """The result of a question: both answers, and the effects and costs of repair."""

    gold: Gold
    before: RepairAnswer
    after: RepairAnswer
    abstained: bool
    revised: int
    withdrawn: int
    calls: int
    seconds: float


def repair_report(asked: Sequence[RepairedQuestion], failed: int, model: str) -> RepairReport:
    """Return the report on the answers of both stages, of which there must be at least one."""
    return RepairReport(
        model=model,
        questions=len(asked) + failed,
        failed_runs=failed,
        before=_side([(each.gold, each.before) for each in asked]),
        after=_side([(each.gold, each.after) for each in asked]),
        abstained=sum(each.abstained for each in asked),
        revised=sum(each.revised for each in asked),
        withdrawn=sum(each.withdrawn for each in asked),
        calls_mean=round(fmean(each.calls for each in asked), 2),
        calls_most=max(each.calls for each in asked),
        seconds_p50=round(sorted(each.seconds for each in asked)[len(asked) // 2], 1),
        languages={
            language: _tally([each for each in asked if each.gold.language == language]) for language in LANGUAGES
        },
    )


def _tally(asked: Sequence[RepairedQuestion]) -> dict[str, int]:
    return {
        "questions": len(asked),
        "right_before": sum(_right(each.gold, each.before) for each in asked),
        "right_after": sum(_right(each.gold, each.after) for each in asked),
    }


def _side(answers: Sequence[tuple[Gold, RepairAnswer]]) -> Side:
    claims = [claim for _, answer in answers for claim in answer.claims]
    counted = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in _VERDICTS}
    right = [[_proves(gold, quote) for quote in _quotes(answer.claims)] for gold, answer in answers]
    return Side(
        claims=len(claims),
        supported=counted["supported"],
        unverified=counted["unverified"],
        contradicted=counted["contradicted"],
        unsupported=counted["unsupported"],
        supported_share=_share(counted["supported"], len(claims)),
        answers_right=_share(sum(_right(gold, answer) for gold, answer in answers), len(answers)),
        citations=sum(map(len, right)),
        citations_right=sum(map(sum, right)),
        answers_cited_right=_share(sum(map(any, right)), len(answers)),
    )


def _quotes(claims: Iterable[Claim]) -> list[tuple[str, str]]:
    return [(citation["document_id"], citation["quote"]) for claim in claims for citation in claim["citations"]]


def _proves(gold: Gold, quote: tuple[str, str]) -> bool:
    return quote[0] == gold.document_id and _contains(quote[1], gold.answers)


def _right(gold: Gold, answer: RepairAnswer) -> bool:
    return _contains(answer.text, gold.answers)


def _contains(text: str, answers: Sequence[str]) -> bool:
    """Whether a text contains any gold answer, ignoring case and white space."""
    flat = "".join(text.casefold().split())
    return any("".join(answer.casefold().split()) in flat for answer in answers)


def _share(part: int, of: int) -> float:
    return round(part / of, 4) if of else 0.0


TOP_K = 4


async def run_repair(
    citewell: Citewell,
    folder: Path,
    *,
    model: str,
    per_language: int = 8,
    progress: Progress | None = None,
) -> RepairReport:
    """Ask a model questions in XQuAD's three languages, and judge its answers as first written and as finished.

    Each language's paragraphs are a separate library, each question has a separate session; questions are spread evenly
    over the file. An answer is right if it contains a gold answer, a citation if its quote is from the gold paragraph
    and contains one. A run that fails is counted and left out. Raises InvalidRequest where a file can't be read.
    """
    asked: list[RepairedQuestion] = []
    failed = 0
    total = per_language * len(LANGUAGES)
    for language in LANGUAGES:
        async with throwaway_workspace(citewell.library, f"repair-{language}") as identity:
            for gold in await _ingest(citewell, identity, folder / f"{language}.json", language, per_language):
                outcome = await _ask(citewell, identity, gold, model)
                if outcome is None:
                    failed += 1
                else:
                    asked.append(outcome)
                if progress is not None:
                    progress(len(asked) + failed, total)
    if not asked:
        raise CitewellError("Every run failed; see the log.")
    return repair_report(asked, failed, model)


async def _ingest(citewell: Citewell, identity: Identity, path: Path, language: str, count: int) -> list[Gold]:
    data = load_xquad(path)
    titles = [f"Paragraph {number}" for number in range(1, len(data.paragraphs) + 1)]
    ids = await ingest_texts(citewell.library, identity, data.paragraphs, titles)
    stride = max(1, len(data.questions) // count)
    chosen = data.questions[::stride][:count]
    return [Gold(language, each.text, ids[each.paragraph], each.answers) for each in chosen]


async def _ask(citewell: Citewell, identity: Identity, gold: Gold, model: str) -> RepairedQuestion | None:
    context = Context(
        workspace=identity.workspace,
        user=identity.user,
        model=model,
        top_k=TOP_K,
        max_seconds=None,
    )
    session = await citewell.library.sessions.create(identity)
    began = time.perf_counter()
    run = await citewell.runner.start(session.session_id, RunRequest(gold.question, context))
    end = await run.finished()
    if isinstance(end, RunFailed):
        return None
    before, revisions = first_written([envelope.event async for envelope in run.events()])
    abstained = end.outcome == "abstained"
    return RepairedQuestion(
        gold=gold,
        before=before,
        after=RepairAnswer("", ()) if abstained else finished(end.message),
        abstained=abstained,
        revised=sum(bool(event.text) for event in revisions),
        withdrawn=sum(not event.text for event in revisions),
        calls=sum(spent["calls"] for spent in end.spent.values()),
        seconds=time.perf_counter() - began,
    )


def first_written(events: Iterable[AnyEvent]) -> tuple[RepairAnswer, list[SectionRevised]]:
    """Return the sections of a run as first written and checked, and their revisions.

    Sections after a disagreement of sources are left out, since the run wrote them, not the model.
    """
    by_model = list(takewhile(lambda event: not isinstance(event, SourcesDisagree), events))
    checked = [each for _, each in sorted(view_run(by_model).first.items()) if each.stage == "checked"]
    answer = RepairAnswer(
        "\n\n".join(each.text for each in checked), tuple(claim for each in checked for claim in each.claims)
    )
    return answer, [event for event in by_model if isinstance(event, SectionRevised)]


def finished(message: Message) -> RepairAnswer:
    """Return the finished answer without the last sections, in which the run reports that sources disagree."""
    by_model = len(message["sections"]) - len(message.get("disagreements", []))
    claims = (claim for claim in message.get("claims", []) if claim["section_index"] < by_model)
    return RepairAnswer(answer_text(message["sections"][:by_model]), tuple(claims))
