"""A library of a few documents to serve, and questions that more than one of its segments answers."""

from bench.corpus import Corpus
from bench.scripted_writer import SECTIONS
from graph.evidence import Identity
from graph.ports import SearchQuery
from graph.spending import Meter
from tools.ingestion import NewDocument
from tools.resources import Library, open_library
from tools.settings import Settings

SEED = 7
DOCUMENTS = 50


async def fill(settings: Settings, questions: int) -> list[str]:
    """Ingest the documents, and make so many questions, for each of which grading keeps three sources or more."""
    corpus = Corpus(SEED)
    documents = list(corpus.documents(DOCUMENTS))
    new = [NewDocument(document_id=each.document_id, title=each.title, text=each.text) for each in documents]
    found: list[str] = []
    async with open_library(settings) as library:
        async for report in library.ingestor.ingest_many(Identity(), new):
            if report.status == "refused":
                raise AssertionError(report.reason)
        for body in (body for document in documents for body in document.bodies()):
            question = corpus.question(body)
            if await _sources(library, question) >= SECTIONS:
                found.append(question)
            if len(found) == questions:
                return found
    raise AssertionError(f"only {len(found)} questions are answered by several segments")


async def _sources(library: Library, question: str) -> int:
    result = await library.searcher.search(SearchQuery(question, Identity()))
    grading = await library.families("").grader.grade(question, result.hits, meter=Meter())
    return len(grading.kept)
