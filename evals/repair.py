"""Compare a model's answers before claims are checked and after repair, by gold evidence that no repair has seen."""

import time
from collections.abc import Iterable
from pathlib import Path

from evals.datasets.xquad import load_xquad
from evals.progress import Progress
from evals.repair_report import LANGUAGES, Answer, Asked, Gold, RepairReport, repair_report
from evals.workspace import ingest_texts, throwaway_workspace
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import CitewellError
from graph.events import AnyEvent, RunFailed, SectionChecked, SectionFinished, SectionRevised, SourcesDisagree
from graph.evidence import Claim, Identity, Message
from graph.state import answer_text
from tools.runs import RunRequest

TOP_K = 4


async def run_repair(
    citewell: Citewell,
    folder: Path,
    *,
    model: str,
    per_language: int = 8,
    settle: bool = False,
    progress: Progress | None = None,
) -> RepairReport:
    """Ask a model questions of XQuAD's three languages, and judge its answers as first written and as finished.

    Each language's paragraphs are a library of their own, each question a session of its own; questions are spread
    evenly over the file. An answer is right where it contains a gold answer; a citation where its quote is of the gold
    paragraph and contains one. ``settle`` lets the model settle claims that code leaves open. A run that fails is
    counted and left out. Raises InvalidRequest where a file can't be read.
    """
    asked: list[Asked] = []
    failed = 0
    total = per_language * len(LANGUAGES)
    for language in LANGUAGES:
        async with throwaway_workspace(citewell.library, f"repair-{language}") as identity:
            for gold in await _ingest(citewell, identity, folder / f"{language}.json", language, per_language):
                outcome = await _ask(citewell, identity, gold, model, settle)
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


async def _ask(citewell: Citewell, identity: Identity, gold: Gold, model: str, settle: bool) -> Asked | None:
    context = Context(
        workspace=identity.workspace,
        user=identity.user,
        model=model,
        top_k=TOP_K,
        max_seconds=None,
        check_with_model=settle,
    )
    session = await citewell.library.sessions.create(identity)
    began = time.perf_counter()
    run = await citewell.runner.start(session.session_id, RunRequest(gold.question, context))
    end = await run.finished()
    if isinstance(end, RunFailed):
        return None
    before, revisions = first_written([envelope.event async for envelope in run.events()])
    abstained = end.outcome == "abstained"
    return Asked(
        gold=gold,
        before=before,
        after=Answer("", ()) if abstained else finished(end.message),
        abstained=abstained,
        revised=sum(bool(event.text) for event in revisions),
        withdrawn=sum(not event.text for event in revisions),
        calls=sum(spent["calls"] for spent in end.spent.values()),
        seconds=time.perf_counter() - began,
    )


def first_written(events: Iterable[AnyEvent]) -> tuple[Answer, list[SectionRevised]]:
    """Read a run's events for the sections that were checked first, and for what became of them.

    What follows where sources disagree are the run's own words, not the model's.
    """
    texts: dict[int, str] = {}
    claims: dict[int, list[Claim]] = {}
    revisions: list[SectionRevised] = []
    for event in events:
        match event:
            case SectionFinished(section_index=index, text=text):
                texts.setdefault(index, text)
            case SectionChecked(section_index=index, claims=checked):
                claims.setdefault(index, checked)
            case SectionRevised() as revised:
                revisions.append(revised)
            case SourcesDisagree():
                break
    written = [index for index in sorted(texts) if index in claims]
    return Answer(
        "\n\n".join(texts[index] for index in written), tuple(claim for index in written for claim in claims[index])
    ), revisions


def finished(message: Message) -> Answer:
    """Give the finished answer without the last sections, in which the run says that sources disagree."""
    standing = len(message["sections"]) - len(message.get("disagreements", []))
    claims = (claim for claim in message.get("claims", []) if claim["section_index"] < standing)
    return Answer(answer_text(message["sections"][:standing]), tuple(claims))
