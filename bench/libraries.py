"""Temporary libraries to benchmark: a large one whose filling is timed, and a small one with questions.

With the scripted writer instead of the family's own, a run's ``model`` names the script; everything else is as in a
deployment.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bench.corpus import BenchDocument, Corpus, workspace_sizes
from bench.scripted_writer import SCRIPTS, SECTIONS, writer
from graph.errors import UnknownModel
from graph.evidence import Identity
from graph.ports import Families, Family, SearchQuery
from graph.usage import Meter
from tools.embeddings.static_embedding import StaticEmbedder
from tools.library.ingestion import NewDocument
from tools.process.library import Library, open_library
from tools.retrieval.indexing import index_documents, maintain
from tools.retrieval.placing import move_if_outgrown
from tools.retrieval.segment_rows import PackedDocument
from tools.settings import Settings
from tools.storage.database import Connection, Database
from tools.storage.partitions import lock_library
from tools.storage.tenants import Workspaces

BATCH_DOCUMENTS = 100
_DOCUMENTS = (
    "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
    " SELECT %s, d.document_id, d.title, 'text/plain', md5(d.title)"
    " FROM unnest(%s::uuid[], %s::text[]) AS d (document_id, title)"
)


@dataclass(slots=True)
class BenchWorkspace:
    """A filled workspace. ``embeddings`` has one row per segment, in document order."""

    name: str
    number: int
    documents: list[BenchDocument]
    embeddings: NDArray[np.float32]

    def packed(self) -> list[PackedDocument]:
        """Return the documents in the form that ``index_documents`` takes."""
        vectors = np.split(self.embeddings, np.cumsum([len(each.spans) for each in self.documents])[:-1])
        return [
            PackedDocument.of(self.number, each.document_id, each.title, each.spans, each.text).with_vectors(
                self.number, vector
            )
            for each, vector in zip(self.documents, vectors, strict=True)
        ]


@dataclass(slots=True)
class Loaded:
    """The filled workspaces, and the seconds that ``indexing`` in the database and ``embedding`` before it took."""

    workspaces: list[BenchWorkspace] = field(default_factory=list)
    segments: int = 0
    indexing: float = 0.0
    embedding: float = 0.0


async def load_workspaces(database: Database, embedder: StaticEmbedder, corpus: Corpus) -> Loaded:
    """Create the workspaces and fill them, a hundred documents per transaction."""
    loaded, workspaces = Loaded(), Workspaces(database)
    for place, size in enumerate(workspace_sizes()):
        name = f"tenant-{place}"
        number = await workspaces.ensure(name)
        documents = list(corpus.documents(size // 20))
        began = time.perf_counter()
        vectors = await embedder.embed([body for document in documents for body in document.bodies()])
        loaded.embedding += time.perf_counter() - began
        workspace = BenchWorkspace(name, number, documents, vectors)
        began = time.perf_counter()
        async with database.connection() as conn:
            await fill_workspace(conn, workspace)
        loaded.indexing += time.perf_counter() - began
        loaded.segments += size
        loaded.workspaces.append(workspace)
    return loaded


async def fill_workspace(conn: Connection, workspace: BenchWorkspace, *, maintained: bool = True) -> None:
    """Index a workspace's documents with everything that search needs, in the tables that it needs.

    Without ``maintained``, statistics and indexes are left for later.
    """
    packed = workspace.packed()
    for start in range(0, len(packed), BATCH_DOCUMENTS):
        batch = slice(start, start + BATCH_DOCUMENTS)
        async with conn.transaction():
            await lock_library(conn, workspace.number)
            named = workspace.documents[batch]
            ids, titles = [each.document_id for each in named], [each.title for each in named]
            await conn.execute(_DOCUMENTS, [workspace.number, ids, titles])
            await index_documents(conn, workspace.number, packed[batch])
        await move_if_outgrown(conn, workspace.number)
    if maintained:
        await maintain(conn, workspace.number)


SMALL_SEED = 7
DOCUMENTS = 50


async def fill_small_library(settings: Settings, questions: int, *, documents: int = DOCUMENTS) -> list[str]:
    """Ingest documents, and return this many questions for which grading keeps at least three sources."""
    corpus = Corpus(SMALL_SEED)
    made = list(corpus.documents(documents))
    new = [NewDocument(document_id=each.document_id, title=each.title, text=each.text) for each in made]
    found: list[str] = []
    async with open_library(settings) as library:
        async for report in library.ingestor.ingest_many(Identity(), new):
            if report.status == "refused":
                raise AssertionError(report.reason)
        for body in (body for document in made for body in document.bodies()):
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


@asynccontextmanager
async def open_scripted_library(settings: Settings) -> AsyncIterator[Library]:
    """Open a deployment's library with the scripted families.

    Raises ConfigurationError, DatabaseUnavailable, EmbeddingMismatch.
    """
    async with open_library(settings) as library:
        yield replace(library, families=scripted(library.families))


def scripted(families: Families) -> Families:
    """Return families that are the default one with the scripted writer that the model names."""
    default = families("")

    def by_script(model: str, *, thinking: bool = False) -> Family:
        if model not in SCRIPTS:
            raise UnknownModel(f"model: no script is named {model!r}.")
        return replace(default, model=model or "instant", writer=writer(model))

    return by_script
