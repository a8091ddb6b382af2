"""Measure quoted evidence and an honest no on CLAPnq, through the real graph with the extractive family."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from typing_extensions import TypedDict

from evals.asking import Reply, ask
from evals.datasets.clapnq import CLAPnqQuestion, load_clapnq
from evals.gold_sentences import Match, best_match, sentence_spans, sentences_in
from evals.workspace import ingest_texts, throwaway_workspace
from evals.xquad import Progress
from graph.context import Context
from graph.entrypoint import Citewell


class CLAPnqReport(TypedDict):
    """Evidence figures are means over the answerable questions that have a reference.

    ``evidence_*`` leave refused questions out, and count them as nothing quoted in ``evidence_f1_refusals_as_0``.
    ``all_sentences_f1`` is what quoting the whole passage would score on the same questions as ``evidence_f1``.
    ``false_refusals`` is the share of answerable questions that were refused, ``wrong_answers`` the share of
    unanswerable ones that were answered.
    """

    questions: int
    mode: str
    refuse_below: float
    evidence_questions: int
    evidence_precision: float
    evidence_recall: float
    evidence_f1: float
    evidence_f1_refusals_as_0: float
    all_sentences_f1: float
    quotes_mean: float
    abstention_balanced_accuracy: float
    false_refusals: float
    wrong_answers: float
    p50_ms: float


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question's outcome. ``match`` is None where it has no reference."""

    question: CLAPnqQuestion
    reply: Reply
    match: Match | None
    whole: Match


async def run_clapnq(
    citewell: Citewell, folder: Path, *, open_library: bool = False, progress: Progress | None = None
) -> CLAPnqReport:
    """Ask every question of its own passage as the selected page, or of all passages where ``open_library``.

    A quote stands for the passage's sentences that it shares more than half of; quotes from other passages count
    against precision, each as a sentence. Raises InvalidRequest where the folder cannot be read, CitewellError where a
    run fails.
    """
    questions = load_clapnq(folder)
    asked: list[_Asked] = []
    async with throwaway_workspace(citewell.library, "clapnq") as identity:
        texts, titles = [each.passage for each in questions], [each.title for each in questions]
        ids = await ingest_texts(citewell.library, identity, texts, titles)
        context = Context(
            workspace=identity.workspace,
            user=identity.user,
            model="extractive",
            search="auto" if open_library else "off",
        )
        for number, (question, document_id) in enumerate(zip(questions, ids, strict=True), 1):
            reply = await ask(citewell, context, question.text, () if open_library else (document_id,))
            asked.append(_judged(question, document_id, reply))
            if progress is not None:
                progress(number, len(questions))
    mode = "open" if open_library else "page"
    return _report(asked, mode, citewell.library.settings.refuse_below)


def _judged(question: CLAPnqQuestion, document_id: str, reply: Reply) -> _Asked:
    spans = sentence_spans(question.passage, question.sentences)
    quoted: set[int] = set()
    for number, citation in enumerate(reply.citations, 1):
        held = sentences_in(citation["start"], citation["end"], spans)
        quoted |= held if citation["document_id"] == document_id else {-number}
    return _Asked(
        question=question,
        reply=reply,
        match=best_match(frozenset(quoted), question.references) if question.references else None,
        whole=best_match(frozenset(range(len(spans))), question.references),
    )


def _report(asked: Sequence[_Asked], mode: str, refuse_below: float) -> CLAPnqReport:
    answerable = [each for each in asked if each.question.answerable]
    unanswerable = [each for each in asked if not each.question.answerable]
    refused = _share([not each.reply.answered for each in answerable])
    wrong = _share([each.reply.answered for each in unanswerable])
    marked = [(each, each.match) for each in answerable if each.match is not None]
    told = [(each, match) for each, match in marked if each.reply.answered]
    times = sorted(each.reply.ms for each in asked)
    return CLAPnqReport(
        questions=len(asked),
        mode=mode,
        refuse_below=refuse_below,
        evidence_questions=len(told),
        evidence_precision=_mean([match.precision for _, match in told]),
        evidence_recall=_mean([match.recall for _, match in told]),
        evidence_f1=_mean([match.f1 for _, match in told]),
        evidence_f1_refusals_as_0=_mean([match.f1 if each.reply.answered else 0.0 for each, match in marked]),
        all_sentences_f1=_mean([each.whole.f1 for each, _ in told]),
        quotes_mean=_mean([len(each.reply.citations) for each, _ in told]),
        abstention_balanced_accuracy=round(1.0 - (refused + wrong) / 2, 4),
        false_refusals=round(refused, 4),
        wrong_answers=round(wrong, 4),
        p50_ms=round(times[len(times) // 2], 1),
    )


def _share(met: Sequence[bool]) -> float:
    return sum(met) / len(met) if met else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), 4) if values else 0.0
