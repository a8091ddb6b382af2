"""Measure an honest no on XQuAD: every question with its gold paragraph in the library, and without it."""

from dataclasses import dataclass
from pathlib import Path

from typing_extensions import TypedDict

from evals.asking import ask
from evals.datasets.xquad import XQuADQuestion, load_xquad
from evals.removal import without_document
from evals.workspace import ingest_texts, throwaway_workspace
from evals.xquad import Progress
from graph.context import Context
from graph.entrypoint import Citewell
from graph.ports import SearchQuery
from tools.extractive.reader import read
from tools.ingestion import NewDocument


class PairedReport(TypedDict):
    """``kept`` is the share answered with the paragraph, ``refused`` the share refused without it.

    ``balanced_accuracy`` is the mean of the two. ``order_right`` is the share of questions whose chance of an answer is
    larger with the paragraph than without it; equal chances count half.
    """

    questions: int
    refuse_below: float
    balanced_accuracy: float
    kept: float
    refused: float
    order_right: float
    p50_ms: float


@dataclass(frozen=True, slots=True)
class _Asked:
    answered: bool
    chance: float
    ms: float


async def run_paired(citewell: Citewell, path: Path, *, progress: Progress | None = None) -> PairedReport:
    """Ask every question of the whole library, then of the library without the paragraph that answers it.

    The paragraph leaves the library with every statistic of its words, or they would tell that it had been there.
    Outcomes are those of the real graph with the extractive family; chances are the reader's over what the graph's
    first search brings. Raises InvalidRequest where the file cannot be read, CitewellError where a run fails.
    """
    data = load_xquad(path)
    count = len(data.questions)
    asked: list[_Asked] = []
    refused: list[tuple[_Asked, _Asked]] = []
    async with throwaway_workspace(citewell.library, "paired") as identity:
        titles = [f"Paragraph {number}" for number in range(1, len(data.paragraphs) + 1)]
        ids = await ingest_texts(citewell.library, identity, data.paragraphs, titles)
        context = Context(workspace=identity.workspace, user=identity.user, model="extractive")
        for question in data.questions:
            asked.append(await _ask(citewell, context, question))
            if progress is not None:
                progress(len(asked), 2 * count)
        for index, document_id in enumerate(ids):
            document = NewDocument(text=data.paragraphs[index], title=titles[index], document_id=document_id)
            async with without_document(citewell.library, identity, document):
                for number, question in enumerate(data.questions):
                    if question.paragraph == index:
                        refused.append((asked[number], await _ask(citewell, context, question)))
                        if progress is not None:
                            progress(count + len(refused), 2 * count)
    kept = sum(each.answered for each in asked) / count
    right = sum(not without.answered for _, without in refused) / count
    order = sum((there.chance > without.chance) + (there.chance == without.chance) / 2 for there, without in refused)
    times = sorted(each.ms for pair in refused for each in pair)
    return PairedReport(
        questions=count,
        refuse_below=citewell.library.settings.refuse_below,
        balanced_accuracy=round((kept + right) / 2, 4),
        kept=round(kept, 4),
        refused=round(right, 4),
        order_right=round(order / count, 4),
        p50_ms=round(times[len(times) // 2], 1),
    )


async def _ask(citewell: Citewell, context: Context, question: XQuADQuestion) -> _Asked:
    reply = await ask(citewell, context, question.text)
    query = SearchQuery(reply.question, context.identity, top_k=context.top_k, min_score=context.min_score)
    found = await citewell.library.searcher.search(query)
    return _Asked(reply.answered, read(reply.question, found.hits).answerable, reply.ms)
