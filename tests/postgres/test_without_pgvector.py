"""A PostgreSQL that does not offer pgvector: the library answers by words and says so, until the server has it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from api.app import create_app
from cli.checks import check_database
from graph.entrypoint import Citewell, open_citewell
from graph.errors import ConfigurationError
from graph.evidence import Identity
from graph.ports import SearchQuery, SearchResult
from tests.api.conftest import HANDBOOK, LIBRARY
from tests.api.reading import events_of
from tests.api.serving import client_of
from tests.conftest import NO_FILE, QUICKLY
from tools.langchain.vector_store import library_vector_store
from tools.library.ingestion import NewDocument
from tools.process.health import NO_PGVECTOR as NO_VECTORS_READY
from tools.retrieval.hybrid_search import NO_PGVECTOR
from tools.retrieval.reindexing import reindex
from tools.settings import Settings
from tools.storage.embedded import EmbeddedServer
from tools.storage.startup import migrate

ME = Identity()
QUESTION = "How many days of annual leave does an employee get?"
LEAVE_VI = "Nghỉ phép năm là 25 ngày. Phép chưa dùng hết hiệu lực vào tháng 3."
TRAINS_VI = "Tàu hỏa được đặt vé hạng hai. Chuyến đi trên bốn giờ có thể đi hạng nhất."


@pytest.fixture
def plain_url(postgres: EmbeddedServer) -> Iterator[str]:
    """The address of a database whose server finds no extension but those that it has already."""
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE plain")
        connection.execute("ALTER DATABASE plain SET extension_control_path = '/nowhere'")
        yield postgres.url("plain")
        connection.execute("DROP DATABASE plain WITH (FORCE)")


@pytest.fixture
async def plain(plain_url: str, tmp_path: Path) -> Settings:
    settings = Settings(
        **NO_FILE, database_url=SecretStr(plain_url), data_dir=tmp_path / "plain", pool_size=4, runs=QUICKLY
    )
    assert "0001" in await migrate(settings)
    return settings


async def find(citewell: Citewell, text: str, **scope: Any) -> SearchResult:
    return await citewell.library.searcher.search(SearchQuery(text, ME, min_score=0.0, **scope))


def told(result: SearchResult) -> list[tuple[str, float]]:
    return [(hit.segment.text, pytest.approx(hit.score, abs=1e-4)) for hit in result.hits]


async def test_words_alone_answer_until_the_server_has_pgvector(
    plain: Settings, settings: Settings, postgres: EmbeddedServer
) -> None:
    async with open_citewell(settings) as usual:
        await fill(usual, settings, "ok", None)
        async with open_citewell(plain) as opened:
            await fill(opened, plain, NO_VECTORS_READY, NO_PGVECTOR)
            for question in ("phép chưa dùng", "vé tàu hạng hai"):  # no language of the bundled vectors
                assert told(await find(opened, question)) == told(await find(usual, question))
                scope = {"document_ids": (HANDBOOK,)}
                assert told(await find(opened, question, **scope)) == told(await find(usual, question, **scope))
            await refuse_vectors(opened)
            checked = await check_database(plain)
            assert checked.ok
            assert "without pgvector" in checked.detail
        with psycopg.connect(postgres.url(), autocommit=True) as connection:
            connection.execute("ALTER DATABASE plain RESET extension_control_path")
        async with open_citewell(plain) as opened:
            assert (await find(opened, QUESTION)).degraded == NO_PGVECTOR, "until it has the vectors"
            assert (await reindex(opened.library.database, opened.library.embedder)).segments == 5
        async with open_citewell(plain) as opened:
            for question in (QUESTION, "phép chưa dùng"):
                found = await find(opened, question)
                assert found.degraded is None
                assert told(found) == told(await find(usual, question)), "as in a library that had vectors at once"
            await opened.library.ingestor.ingest(ME, NewDocument(name="new.txt", text="The canteen closes at nine."))
            [first, *_] = (await find(opened, "When does the canteen close?")).hits
            assert first.segment.text.startswith("The canteen")
        assert "with pgvector" in (await check_database(plain)).detail


async def test_a_version_is_restored_without_vectors(plain: Settings) -> None:
    async with open_citewell(plain) as opened:
        for text in ("The canteen closes at nine.", "The canteen closes at ten."):
            document = NewDocument(document_id=HANDBOOK, name="canteen.txt", text=text)
            await opened.library.ingestor.ingest(ME, document)
        assert (await opened.library.ingestor.restore(ME, HANDBOOK, 1)).status == "updated"
        [hit] = (await find(opened, "When does the canteen close?")).hits
        assert hit.segment.text == "The canteen closes at nine."


async def refuse_vectors(citewell: Citewell) -> None:
    library = citewell.library
    with pytest.raises(ConfigurationError, match="pgvector"):
        await reindex(library.database, library.embedder)
    with pytest.raises(ConfigurationError, match="pgvector"):
        async with library_vector_store(library.database, library.workspaces, library.embedder):
            pass


async def fill(citewell: Citewell, settings: Settings, embedding: str, degraded: str | None) -> None:
    """Ingest in this process and, a file, in one of its own; ask; and look at what a stream and readiness say."""
    for document in (*LIBRARY, NewDocument(name="vi.txt", text=LEAVE_VI), NewDocument(name="tau.txt", text=TRAINS_VI)):
        await citewell.library.ingestor.ingest(ME, document)
    async with client_of(create_app(settings, citewell=citewell)) as client:
        citewell.library.job_worker.start()
        file = {"file": ("zorbles.md", b"# Zorbles\n\nThe zorble plant sold 812 zorbles.\n", "text/markdown")}
        assert (await client.post("/api/documents", files=file)).status_code == 201
        assert (await client.get("/readyz")).json()["checks"]["embedding"] == embedding
        session = (await client.post("/api/sessions", json={})).json()["session_id"]
        for question, answer in ((QUESTION, "25 days"), ("How many zorbles did the plant sell?", "812")):
            run = {"question": question, "stream": True}
            events = events_of(await client.post(f"/api/sessions/{session}/runs", json=run))
            [search] = [event for event in events if event["type"] == "sources_found"]
            assert search.get("degraded") == degraded
            message = events[-1]["message"]
            assert answer in message["answer"]
            assert message["citations"]
