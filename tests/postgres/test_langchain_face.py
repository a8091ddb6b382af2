"""The library as LangChain sees it: a vector store and a retriever that read, never write, and keep tenants apart."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import SecretStr

from graph.errors import DatabaseUnavailable, NotFound
from graph.evidence import Identity
from tools.embeddings.embedder import Embedder, open_embedder
from tools.langchain.library_retriever import LibraryRetriever
from tools.langchain.shared_library import SharedLibrary
from tools.langchain.vector_store import library_vector_store
from tools.library.ingestion import Ingestor, NewDocument
from tools.process.library import Library
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

LAMP = "The lamp turns once in twelve seconds."
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
    await ingestor.ingest(ME, NewDocument(text=LAMP, document_id=OURS, title="Lamp", url="http://wiki/lamp"))
    await ingestor.ingest(ME, NewDocument(text=f"My diary: {LAMP}", document_id=MINE, title="Diary", owner="me"))
    there = Identity("elsewhere")
    await ingestor.ingest(there, NewDocument(text=f"Elsewhere: {LAMP}", document_id=THEIRS, title="Other lamp"))
    return workspaces


async def test_a_store_holds_what_the_whole_workspace_may_read(
    database: Database, workspaces: Workspaces, embedder: Embedder
) -> None:
    async with library_vector_store(database, workspaces, embedder) as store:
        found = await store.asimilarity_search_with_score("How long does the lamp turn?", k=10)
        [(document, distance)] = found
        assert document.page_content == LAMP
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


@pytest.fixture
def library(settings: Settings, workspaces: Workspaces) -> Iterator[SharedLibrary]:
    with SharedLibrary(settings) as library:
        yield library


async def test_a_retriever_searches_as_its_identity(library: SharedLibrary) -> None:
    mine = await LibraryRetriever(library=library, identity=ME).ainvoke("lamp in my diary")
    assert {document.metadata["document_id"] for document in mine} == {OURS, MINE}
    first = mine[0]
    assert isinstance(first, Document)
    assert first.metadata["document_id"] == MINE
    assert first.metadata["segment_id"] == first.id == f"{MINE}:0"
    assert first.page_content == f"My diary: {LAMP}"
    assert first.metadata["end"] - first.metadata["start"] == len(first.page_content)
    assert first.metadata["score"] >= mine[1].metadata["score"] >= 0.3
    yours = await LibraryRetriever(library=library, identity=YOU, top_k=5).ainvoke("lamp in my diary")
    assert {document.metadata["document_id"] for document in yours} == {OURS}


def first_text(documents: list[Document]) -> str:
    return documents[0].page_content


def chains(library: SharedLibrary) -> list[Runnable[str, str]]:
    """One chain over each of the two faces."""
    by_words = LibraryRetriever(library=library, top_k=3)
    by_vectors = library.vector_store().as_retriever(search_kwargs={"k": 3})
    return [by_words | first_text, by_vectors | RunnableLambda(first_text)]


def test_chains_run_in_synchronous_code(library: SharedLibrary) -> None:
    for chain in chains(library):
        assert chain.invoke("How long does the lamp turn?") == LAMP
        assert chain.batch(["lamp", "How long does the lamp turn?"]) == [LAMP, LAMP]


async def test_chains_run_on_an_event_loop_awaited_or_not(library: SharedLibrary) -> None:
    for chain in chains(library):
        assert await chain.ainvoke("lamp") == LAMP
        assert await asyncio.gather(*(chain.ainvoke("lamp") for _ in range(3))) == [LAMP] * 3
        assert chain.invoke("lamp") == LAMP


def test_chains_outlive_the_event_loops_that_they_run_on(library: SharedLibrary) -> None:
    for chain in chains(library):
        for _ in range(2):
            assert asyncio.run(chain.ainvoke("lamp")) == LAMP
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(chain.invoke, ["lamp"] * 8)) == [LAMP] * 8


def test_a_store_embeds_in_synchronous_code(library: SharedLibrary) -> None:
    embeddings = library.vector_store().embeddings
    assert embeddings.embed_query("lamp") == asyncio.run(embeddings.aembed_query("lamp"))


def test_a_closed_library_opens_again_when_it_is_used(settings: Settings, workspaces: Workspaces) -> None:
    library = SharedLibrary(settings)
    retriever = LibraryRetriever(library=library)
    for _ in range(2):
        assert first_text(retriever.invoke("lamp")) == LAMP
        library.close()
    library.close()
    assert "citewell-library" not in {thread.name for thread in threading.enumerate()}


async def test_whoever_waits_is_told_why_a_library_does_not_open(settings: Settings) -> None:
    library = SharedLibrary(settings.model_copy(update={"database_url": SecretStr("host=127.0.0.1 port=1")}))
    retriever = LibraryRetriever(library=library)
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            await retriever.ainvoke("lamp")
        with pytest.raises(DatabaseUnavailable):
            retriever.invoke("lamp")
    library.close()


def test_work_in_the_librarys_own_thread_does_not_wait_for_itself(library: SharedLibrary) -> None:
    retriever = LibraryRetriever(library=library)

    async def search_again(_: Library) -> list[Document]:
        return retriever.invoke("lamp")

    with pytest.raises(RuntimeError, match="await"):
        library.run(search_again)


async def test_who_is_cancelled_cancels_the_work(library: SharedLibrary) -> None:
    begun, cancelled = threading.Event(), threading.Event()

    async def wait(_: Library) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    waiting = asyncio.create_task(library.arun(wait))
    await asyncio.to_thread(begun.wait)
    waiting.cancel()
    assert await asyncio.to_thread(cancelled.wait, 20)
