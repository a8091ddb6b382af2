"""The library as LangChain sees it: a vector store and a retriever that read, never write, and keep tenants apart."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from graph.errors import NotFound
from graph.evidence import Identity
from tools.embeddings.embedder import Embedder, open_embedder
from tools.library.ingestion import Ingestor, NewDocument
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.langchain_adapter import LibraryRetriever, library_vector_store
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

ME, YOU = Identity(user="me"), Identity(user="you")
OURS = "0b7e5f0e-0000-4000-8000-00000000000a"
MINE = "0b7e5f0e-0000-4000-8000-00000000000b"
THEIRS = "0b7e5f0e-0000-4000-8000-00000000000c"


@pytest.fixture
async def embedder(settings: Settings) -> Embedder:
    return await open_embedder(settings)


@pytest.fixture
async def workspaces(database: Database, settings: Settings, embedder: Embedder) -> Workspaces:
    workspaces = Workspaces(database)
    await workspaces.ensure("elsewhere")
    ingestor = Ingestor(database, workspaces, embedder, settings)
    lamp = "The lamp turns once in twelve seconds."
    await ingestor.ingest(ME, NewDocument(text=lamp, document_id=OURS, title="Lamp", url="http://wiki/lamp"))
    await ingestor.ingest(ME, NewDocument(text=f"My diary: {lamp}", document_id=MINE, title="Diary", owner="me"))
    there = Identity("elsewhere")
    await ingestor.ingest(there, NewDocument(text=f"Elsewhere: {lamp}", document_id=THEIRS, title="Other lamp"))
    return workspaces


async def test_a_store_holds_what_the_whole_workspace_may_read(
    database: Database, workspaces: Workspaces, embedder: Embedder
) -> None:
    async with library_vector_store(database, workspaces, embedder) as store:
        found = await store.asimilarity_search_with_score("How long does the lamp turn?", k=10)
        [(document, distance)] = found
        assert document.page_content == "The lamp turns once in twelve seconds."
        assert document.id == f"{OURS}:0"
        assert document.metadata["document_id"] == OURS
        assert (document.metadata["start_offset"], document.metadata["end_offset"]) == (0, len(document.page_content))
        assert document.metadata["url"] == "http://wiki/lamp"
        assert 0 < distance < 1
        assert [each.id for each in await store.aget_by_ids([f"{OURS}:0", f"{THEIRS}:0", f"{MINE}:0"])] == [f"{OURS}:0"]


async def test_no_filter_reaches_another_tenant(database: Database, workspaces: Workspaces, embedder: Embedder) -> None:
    async with library_vector_store(database, workspaces, embedder) as store:
        for filter in ({"document_id": THEIRS}, {"$or": [{"document_id": THEIRS}, {"document_id": OURS}]}):
            found = await store.asimilarity_search("lamp", k=10, filter=filter)
            assert {each.metadata["document_id"] for each in found} <= {OURS}
    async with library_vector_store(database, workspaces, embedder, "elsewhere") as store:
        assert [each.metadata["document_id"] for each in await store.asimilarity_search("lamp")] == [THEIRS]


async def test_a_store_cannot_be_written(database: Database, workspaces: Workspaces, embedder: Embedder) -> None:
    async with library_vector_store(database, workspaces, embedder) as store:
        with pytest.raises(Exception, match=r"cannot (insert into view|execute INSERT)"):
            await store.aadd_texts(["A lamp of another's."])
        with pytest.raises(Exception, match=r"cannot (delete from view|execute DELETE)"):
            await store.adelete([f"{OURS}:0"])
        assert len(await store.asimilarity_search("lamp", k=10)) == 1


async def test_a_deleted_document_leaves_the_store(
    database: Database, workspaces: Workspaces, embedder: Embedder
) -> None:
    async with database.connection() as conn:
        await conn.execute("UPDATE documents SET deleted_at = now() WHERE document_id = %s", [OURS])
    async with library_vector_store(database, workspaces, embedder) as store:
        assert await store.asimilarity_search("lamp", k=10) == []


async def test_the_store_of_an_empty_or_unknown_workspace(
    database: Database, workspaces: Workspaces, embedder: Embedder
) -> None:
    await workspaces.create("empty")
    async with library_vector_store(database, workspaces, embedder, "empty") as store:
        assert await store.asimilarity_search("lamp") == []
    with pytest.raises(NotFound):
        async with library_vector_store(database, workspaces, embedder, "nowhere"):
            pass


async def test_a_retriever_searches_as_its_identity(
    database: Database, workspaces: Workspaces, embedder: Embedder
) -> None:
    searcher = HybridSearcher(database, workspaces, embedder)
    mine = await LibraryRetriever(searcher=searcher, identity=ME).ainvoke("lamp in my diary")
    assert {document.metadata["document_id"] for document in mine} == {OURS, MINE}
    first = mine[0]
    assert isinstance(first, Document)
    assert first.metadata["document_id"] == MINE
    assert first.metadata["segment_id"] == first.id == f"{MINE}:0"
    assert first.page_content == f"My diary: {'The lamp turns once in twelve seconds.'}"
    assert first.metadata["end"] - first.metadata["start"] == len(first.page_content)
    assert first.metadata["score"] >= mine[1].metadata["score"] >= 0.3
    yours = await LibraryRetriever(searcher=searcher, identity=YOU, top_k=5).ainvoke("lamp in my diary")
    assert {document.metadata["document_id"] for document in yours} == {OURS}


def test_a_retriever_says_that_it_is_asynchronous(database: Database, workspaces: Workspaces) -> None:
    with pytest.raises(NotImplementedError, match="ainvoke"):
        LibraryRetriever(searcher=None).invoke("lamp")  # type: ignore[arg-type]


def test_importing_the_face_does_not_import_the_store() -> None:
    code = "import sys, tools.retrieval.langchain_adapter; sys.exit('langchain_postgres' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_the_example_of_the_manual_runs(
    database_url: str, database: Database, embedder: Embedder, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "langchain.md").read_text(encoding="utf-8")
    [example] = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    ingestor = Ingestor(database, Workspaces(database), embedder, Settings())
    leave = "Up to five days of leave may be carried over into the next year."
    await ingestor.ingest(Identity(), NewDocument(text=leave, document_id=OURS, title="Leave"))
    monkeypatch.setenv("CITEWELL_DATABASE_URL", database_url)
    running: Any = eval(compile(example, "docs/langchain.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), {})
    await running
    by_retriever, by_store = capsys.readouterr().out.splitlines()
    assert by_retriever.startswith("Leave 0.")
    assert by_retriever.endswith(leave)
    assert by_store.startswith(f"{OURS}:0 0.")
    assert by_store.endswith(f" 0 {len(leave)}")
