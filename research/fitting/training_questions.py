"""Training questions for the extractive family, with the hits of a search or with pages as if selected.

The questions of the development set are asked with the answer in the library and without it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from evals.cases import Case, DataSet, Sentence
from evals.dataset_store import (
    StoredDataSet,
    ingest_texts,
    stored_data_set,
    throwaway_workspace,
    without_documents,
)
from graph.evidence import Hit, Identity
from graph.ports import SearchQuery
from graph.rows import Turn
from graph.usage import Meter
from research.sets.clapnq import CLAPnqQuestion, load_clapnq
from research.sets.xquad import XQuAD, load_xquad
from tools.library.ingestion import NewDocument
from tools.process.library import Library
from tools.rules.question_rules import RulePreparer

LANGUAGES = ("en", "zh", "vi")
CLAPNQ_GROUPS = 60


class StoredSpan(NamedTuple):
    """A span of a stored document's canonical text."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question with the hits to read for it. ``gold`` is the id of the document that answers it, or None.

    ``answers`` in the gold document, or ``evidence``, are right to quote; quoting anything else that is ``accepted`` is
    neither right nor wrong. ``passages`` are document ids with texts: a quote that hits one is right.
    """

    data_set: str
    group: str
    text: str
    hits: tuple[Hit, ...]
    gold: str | None
    answers: tuple[str, ...] = ()
    evidence: frozenset[StoredSpan] = frozenset()
    accepted: frozenset[StoredSpan] = frozenset()
    passages: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class TrainingQuestions:
    """Training questions by task.

    ``reading`` has searches with the answer in the library, ``found`` searches with and without it, ``pages`` selected
    pages, and ``passages`` CLAPnq's questions with their passages.
    """

    reading: list[TrainingQuestion] = field(default_factory=list)
    found: list[TrainingQuestion] = field(default_factory=list)
    pages: list[TrainingQuestion] = field(default_factory=list)
    passages: list[tuple[TrainingQuestion, CLAPnqQuestion]] = field(default_factory=list)


async def gather(library: Library, folder: Path) -> TrainingQuestions:
    """Search for every question of XQuAD and CLAPnq as a deployment would, and read their pages."""
    gathered = TrainingQuestions()
    for code in LANGUAGES:
        await _gather_xquad(library, code, load_xquad(folder / "xquad" / f"{code}.json"), gathered)
    await _gather_clapnq(library, load_clapnq(folder / "clapnq"), gathered)
    return gathered


async def _gather_xquad(library: Library, code: str, data: XQuAD, gathered: TrainingQuestions) -> None:
    """Ask with each paragraph in the library and without it, and of pages with one paragraph or the whole article."""
    async with throwaway_workspace(library, "fit") as identity:
        titles = [f"Paragraph {number}" for number in range(1, len(data.paragraphs) + 1)]
        ids = await ingest_texts(library, identity, data.paragraphs, titles)
        pages = await _pages(library, identity, ids)
        for question in data.questions:
            hits = await searched(library, identity, question.text)
            group, gold = data.articles[question.paragraph], ids[question.paragraph]
            asked = TrainingQuestion(f"xquad-{code}", group, question.text, hits, gold, question.answers)
            gathered.reading.append(asked)
            gathered.found.append(asked)
        for index, document_id in enumerate(ids):
            document = NewDocument(text=data.paragraphs[index], title=titles[index], document_id=document_id)
            asking = [question for question in data.questions if question.paragraph == index]
            article = [i for i, name in enumerate(data.articles) if name == data.articles[index]]
            others = [i for i in article if i != index]
            async with without_documents(library, identity, [document]):
                for question in asking:
                    hits = await searched(library, identity, question.text)
                    gathered.found.append(
                        TrainingQuestion(f"xquad-{code}", data.articles[index], question.text, hits, None)
                    )
            for number, question in enumerate(asking):
                read = {
                    (f"page-{code}", document_id): [index],
                    (f"article-{code}", document_id): article,
                    (f"page-{code}", None): others[number % len(others) :][:1] if others else [],
                    (f"article-{code}", None): others,
                }
                for (name, gold_id), chosen in read.items():
                    hits = tuple(hit for i in chosen for hit in pages[ids[i]])
                    if hits:
                        gathered.pages.append(
                            TrainingQuestion(name, data.articles[index], question.text, hits, gold_id)
                        )


async def _gather_clapnq(library: Library, questions: Sequence[CLAPnqQuestion], gathered: TrainingQuestions) -> None:
    async with throwaway_workspace(library, "fit") as identity:
        texts, titles = [each.passage for each in questions], [each.title for each in questions]
        ids = await ingest_texts(library, identity, texts, titles)
        pages = await _pages(library, identity, ids)
        for index, (each, document_id) in enumerate(zip(questions, ids, strict=True)):
            group = f"clapnq-{index % CLAPNQ_GROUPS}"
            gold = document_id if each.answerable else None
            hits = await searched(library, identity, each.text)
            gathered.found.append(TrainingQuestion("clapnq", group, each.text, hits, gold))
            page = TrainingQuestion("page-clapnq", group, each.text, pages[document_id], gold)
            gathered.pages.append(page)
            gathered.passages.append((page, each))


async def searched(library: Library, identity: Identity, text: str) -> tuple[Hit, ...]:
    """Search as a run does; return the hits, best first."""
    hits = (await library.searcher.search(SearchQuery(text, identity))).hits
    return tuple(sorted(hits, key=lambda hit: -hit.score))


async def _pages(library: Library, identity: Identity, ids: Sequence[str]) -> Mapping[str, tuple[Hit, ...]]:
    pages = await library.reader.read_pages(ids, identity)
    return {page.document_id: tuple(Hit(segment, 1.0, "page") for segment in page.segments) for page in pages}


async def gather_development(library: Library, data: DataSet) -> list[TrainingQuestion]:
    """Search for every standalone question about the whole library.

    Questions with an unanswerable twin are searched again without the documents that they need.
    """
    cases = [case for case in data.cases if not case.before and not case.pages]
    twins: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        if case.removal:
            twins[case.removal].append(case)
    async with stored_data_set(library, data) as (stored, identity):
        asked = [await _asked(library, identity, stored, case, case.expected == "answered") for case in cases]
        for names, without in twins.items():
            async with without_documents(library, identity, stored.to_store(names)):
                asked += [await _asked(library, identity, stored, case, False) for case in without]
    return asked


async def _asked(
    library: Library, identity: Identity, stored: StoredDataSet, case: Case, answerable: bool
) -> TrainingQuestion:
    evidence = frozenset(sentence for chosen in case.evidence for sentence in chosen) if answerable else frozenset()
    # Questions about one document share a fold, so that no weights judge a question whose document they have seen.
    documents = sorted(sentence.document for chosen in case.evidence for sentence in chosen)
    return TrainingQuestion(
        data_set=f"development-{case.tags['language']}",
        group=documents[0] if documents else case.case_id,
        text=case.question,
        hits=await searched(library, identity, case.question),
        gold=stored.ids[documents[0]] if answerable else None,
        evidence=_spans(stored, evidence),
        accepted=_spans(stored, case.accepted),
    )


def _spans(stored: StoredDataSet, sentences: Iterable[Sentence]) -> frozenset[StoredSpan]:
    return frozenset(
        StoredSpan(stored.ids[each.document], *stored.data.by_name[each.document].spans[each.index])
        for each in sentences
    )


async def gather_manuals(library: Library, data: DataSet, name: str) -> list[TrainingQuestion]:
    """Search for every question over manuals as a deployment would; those without evidence have no gold document.

    Questions about one page share a fold, in whichever language the page is.
    """
    preparer = RulePreparer()
    asked: list[TrainingQuestion] = []
    async with stored_data_set(library, data) as (stored, identity):
        ids = stored.ids
        for case in data.cases:
            text = await _standalone(preparer, case)
            pages = [passage.document for passage in case.passages]
            asked.append(
                TrainingQuestion(
                    data_set=name,
                    group=PurePosixPath(pages[0]).name if pages else case.case_id,
                    text=text,
                    hits=await searched(library, identity, text),
                    gold=ids[pages[0]] if pages else None,
                    passages=tuple((ids[passage.document], passage.text) for passage in case.passages),
                )
            )
    return asked


async def _standalone(preparer: RulePreparer, case: Case) -> str:
    turns = [Turn(question=each, standalone_question=each, answer="") for each in case.before]
    prepared = await preparer.prepare(case.question, turns, search="always", has_pages=False, meter=Meter())
    return prepared.standalone_question
