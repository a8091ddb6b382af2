"""What the extractive family is fitted on: questions with what a search brought them, or with pages as if selected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from evals.datasets.clapnq import CLAPnqQuestion, load_clapnq
from evals.datasets.xquad import XQuAD, load_xquad
from evals.removal import without_documents
from evals.workspace import ingest_texts, throwaway_workspace
from graph.evidence import Hit, Identity
from graph.ports import SearchQuery
from tools.ingestion import NewDocument
from tools.resources import Library

LANGUAGES = ("en", "zh", "vi")
CLAPNQ_GROUPS = 60


class StoredSpan(NamedTuple):
    """A span of a stored document's canonical text."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the hits to read for it. ``gold`` is the id of the document that answers it, or None.

    What is right to quote is told by ``answers`` in the gold document, or by ``evidence``; quoting what is ``accepted``
    besides is neither right nor wrong.
    """

    data_set: str
    group: str
    text: str
    hits: tuple[Hit, ...]
    gold: str | None
    answers: tuple[str, ...] = ()
    evidence: frozenset[StoredSpan] = frozenset()
    accepted: frozenset[StoredSpan] = frozenset()


@dataclass(slots=True)
class Gathered:
    """Questions over a search with the answer there, the same without it, over pages, and CLAPnq's by passage."""

    reading: list[Asked] = field(default_factory=list)
    found: list[Asked] = field(default_factory=list)
    pages: list[Asked] = field(default_factory=list)
    passages: list[tuple[Asked, CLAPnqQuestion]] = field(default_factory=list)


async def gather(library: Library, folder: Path) -> Gathered:
    """Search for every question of XQuAD and CLAPnq as a deployment would, and read pages for them."""
    gathered = Gathered()
    for code in LANGUAGES:
        await _gather_xquad(library, code, load_xquad(folder / "xquad" / f"{code}.json"), gathered)
    await _gather_clapnq(library, load_clapnq(folder / "clapnq"), gathered)
    return gathered


async def _gather_xquad(library: Library, code: str, data: XQuAD, gathered: Gathered) -> None:
    """Ask with each paragraph in the library and out of it, and of pages of one paragraph and of a whole article."""
    async with throwaway_workspace(library, "fit") as identity:
        titles = [f"Paragraph {number}" for number in range(1, len(data.paragraphs) + 1)]
        ids = await ingest_texts(library, identity, data.paragraphs, titles)
        pages = await _pages(library, identity, ids)
        for question in data.questions:
            hits = await searched(library, identity, question.text)
            group, gold = data.articles[question.paragraph], ids[question.paragraph]
            asked = Asked(f"xquad-{code}", group, question.text, hits, gold, question.answers)
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
                    gathered.found.append(Asked(f"xquad-{code}", data.articles[index], question.text, hits, None))
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
                        gathered.pages.append(Asked(name, data.articles[index], question.text, hits, gold_id))


async def _gather_clapnq(library: Library, questions: Sequence[CLAPnqQuestion], gathered: Gathered) -> None:
    async with throwaway_workspace(library, "fit") as identity:
        texts, titles = [each.passage for each in questions], [each.title for each in questions]
        ids = await ingest_texts(library, identity, texts, titles)
        pages = await _pages(library, identity, ids)
        for index, (each, document_id) in enumerate(zip(questions, ids, strict=True)):
            group = f"clapnq-{index % CLAPNQ_GROUPS}"
            gold = document_id if each.answerable else None
            hits = await searched(library, identity, each.text)
            gathered.found.append(Asked("clapnq", group, each.text, hits, gold))
            page = Asked("page-clapnq", group, each.text, pages[document_id], gold)
            gathered.pages.append(page)
            gathered.passages.append((page, each))


async def searched(library: Library, identity: Identity, text: str) -> tuple[Hit, ...]:
    """Search as a run does; give the hits, best first."""
    hits = (await library.searcher.search(SearchQuery(text, identity))).hits
    return tuple(sorted(hits, key=lambda hit: -hit.score))


async def _pages(library: Library, identity: Identity, ids: Sequence[str]) -> Mapping[str, tuple[Hit, ...]]:
    pages = await library.reader.read_pages(ids, identity)
    return {page.document_id: tuple(Hit(segment, 1.0, "page") for segment in page.segments) for page in pages}
