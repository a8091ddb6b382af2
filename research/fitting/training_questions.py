"""Training questions for the extractive family, with the hits of a search or with pages as if selected.

The questions of the development set are asked with the answer in the library and without it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from evals.cases import Case, DataSet, Sentence
from evals.dataset_store import StoredDataSet, ingest_texts, stored_data_set, throwaway_workspace, without_documents
from graph.evidence import Hit, Identity
from graph.ports import SearchQuery
from graph.rows import Turn
from graph.usage import Meter
from research.sets.clapnq import CLAPnqQuestion, load_clapnq
from research.sets.xquad import XQuAD, load_xquad
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

    A passage is right that holds one of ``answers`` in the gold document, one of ``evidence``, or one of ``passages``,
    which are document ids with texts.
    """

    data_set: str
    group: str
    text: str
    hits: tuple[Hit, ...]
    gold: str | None
    answers: tuple[str, ...] = ()
    evidence: frozenset[StoredSpan] = frozenset()
    passages: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class TrainingQuestions:
    """Training questions by task.

    ``reading`` has searches with the answer in the library, ``found`` searches with and without it, ``pages`` selected
    pages.
    """

    reading: list[TrainingQuestion] = field(default_factory=list)
    found: list[TrainingQuestion] = field(default_factory=list)
    pages: list[TrainingQuestion] = field(default_factory=list)


async def gather(library: Library, folder: Path) -> TrainingQuestions:
    """Search for every question of XQuAD and CLAPnq as a deployment would, and read their pages."""
    gathered = TrainingQuestions()
    for code in LANGUAGES:
        await _gather_xquad(library, code, load_xquad(folder / "xquad" / f"{code}.json"), gathered)
    await _gather_clapnq(library, load_clapnq(folder / "clapnq"), gathered)
    return gathered


async def _gather_xquad(library: Library, code: str, data: XQuAD, gathered: TrainingQuestions) -> None:
    """Ask of the library, of what was found without the paragraph, and of pages with one paragraph or the article."""
    async with throwaway_workspace(library, "fit") as identity:
        titles = [f"Paragraph {number}" for number in range(1, len(data.paragraphs) + 1)]
        ids = await ingest_texts(library, identity, data.paragraphs, titles)
        pages = await _pages(library, identity, ids)
        for number, question in enumerate(data.questions):
            index, group = question.paragraph, data.articles[question.paragraph]
            hits = await searched(library, identity, question.text)
            asked = TrainingQuestion(f"xquad-{code}", group, question.text, hits, ids[index], question.answers)
            gathered.reading.append(asked)
            others_found = tuple(hit for hit in hits if hit.segment.document_id != ids[index])
            gathered.found += [asked, replace(asked, hits=others_found, gold=None)]
            article = [i for i, name in enumerate(data.articles) if name == group]
            others = [i for i in article if i != index]
            read = {
                (f"page-{code}", ids[index]): [index],
                (f"article-{code}", ids[index]): article,
                (f"page-{code}", None): others[number % len(others) :][:1] if others else [],
                (f"article-{code}", None): others,
            }
            for (name, gold_id), chosen in read.items():
                if shown := tuple(hit for i in chosen for hit in pages[ids[i]]):
                    gathered.pages.append(TrainingQuestion(name, group, question.text, shown, gold_id))


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
            gathered.pages.append(TrainingQuestion("page-clapnq", group, each.text, pages[document_id], gold))


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
