"""Measure retrieval and quoted evidence on XQuAD, through the real graph with the extractive family."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from typing_extensions import TypedDict

from evals.asking import ask
from evals.datasets.xquad import XQuADQuestion, load_xquad
from evals.workspace import ingest_texts, throwaway_workspace
from graph.context import Context
from graph.entrypoint import Citewell
from graph.evidence import Citation, Identity
from graph.ports import SearchQuery

Progress = Callable[[int, int], None]


class XQuADReport(TypedDict):
    """Shares are of all questions; ``quotes_mean`` is of the answered ones, latencies are of whole runs in ms."""

    questions: int
    refuse_below: float
    recall_at_1: float
    recall_at_5: float
    quote_hit_top1: float
    quote_hit_all: float
    quotes_mean: float
    invalid_citations: int
    abstained: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question's outcome: the gold paragraph's place among those retrieved, or None, and the citations."""

    rank: int | None
    hits: tuple[bool, ...]
    invalid: int
    abstained: bool
    ms: float


async def run_xquad(citewell: Citewell, path: Path, *, progress: Progress | None = None) -> XQuADReport:
    """Ingest each paragraph as a document into a throw-away workspace and ask every question in a session of its own.

    Recall is the gold paragraph's rank among paragraphs retrieved for the question itself, repeats removed. A quote
    hits where it comes from the gold paragraph and contains a gold answer; ``top1`` is the answer's first citation;
    abstaining is a miss. A citation is invalid where its quote is not the slice of canonical text that it names, or its
    segment was retrieved by none of the run's queries. Raises InvalidRequest where the file cannot be read,
    CitewellError where a run fails.
    """
    data = load_xquad(path)
    asked: list[_Asked] = []
    async with throwaway_workspace(citewell.library, "xquad") as identity:
        titles = [f"Paragraph {number}" for number in range(1, len(data.paragraphs) + 1)]
        ids = await ingest_texts(citewell.library, identity, data.paragraphs, titles)
        pages = await citewell.library.reader.read_pages(ids, identity)
        canonical = {page.document_id: "".join(segment.text for segment in page.segments) for page in pages}
        for number, question in enumerate(data.questions, 1):
            asked.append(await _ask(citewell, identity, question, ids[question.paragraph], canonical))
            if progress is not None:
                progress(number, len(data.questions))
    return _report(asked, citewell.library.settings.refuse_below)


async def _ask(
    citewell: Citewell, identity: Identity, question: XQuADQuestion, gold: str, canonical: dict[str, str]
) -> _Asked:
    context = Context(workspace=identity.workspace, user=identity.user, model="extractive")
    reply = await ask(citewell, context, question.text)
    found = [
        await citewell.library.searcher.search(
            SearchQuery(query, identity, top_k=context.top_k, min_score=context.min_score)
        )
        for query in (reply.question, *reply.rewritten)
    ]
    paragraphs = list(dict.fromkeys(hit.segment.document_id for hit in found[0].hits))
    retrieved = {hit.segment.segment_id for each in found for hit in each.hits}
    return _Asked(
        rank=paragraphs.index(gold) + 1 if gold in paragraphs else None,
        hits=_hits(reply.citations, gold, question.answers),
        invalid=sum(not _valid(citation, canonical, retrieved) for citation in reply.citations),
        abstained=reply.end.outcome == "abstained",
        ms=reply.ms,
    )


def _hits(citations: Sequence[Citation], gold: str, answers: Sequence[str]) -> tuple[bool, ...]:
    return tuple(
        citation["document_id"] == gold and any(answer in citation["quote"] for answer in answers)
        for citation in citations
    )


def _valid(citation: Citation, canonical: dict[str, str], retrieved: set[str]) -> bool:
    text = canonical.get(citation["document_id"], "")
    return citation["segment_id"] in retrieved and text[citation["start"] : citation["end"]] == citation["quote"] != ""


def _report(asked: Sequence[_Asked], refuse_below: float) -> XQuADReport:
    def share(met: Callable[[_Asked], bool]) -> float:
        return round(sum(map(met, asked)) / len(asked), 4)

    times = sorted(each.ms for each in asked)
    return XQuADReport(
        questions=len(asked),
        refuse_below=refuse_below,
        recall_at_1=share(lambda each: each.rank == 1),
        recall_at_5=share(lambda each: each.rank is not None and each.rank <= 5),
        quote_hit_top1=share(lambda each: each.hits[:1] == (True,)),
        quote_hit_all=share(lambda each: any(each.hits)),
        quotes_mean=round(fmean([len(each.hits) for each in asked if not each.abstained] or [0.0]), 3),
        invalid_citations=sum(each.invalid for each in asked),
        abstained=sum(each.abstained for each in asked),
        p50_ms=round(times[len(times) // 2], 1),
        p95_ms=round(times[int(len(times) * 0.95)], 1),
    )
