"""Searches by candidates of Milvus, by milvus-lite on this machine. `make test-engines` installs it."""

from collections.abc import AsyncIterator

import pytest

from tests.contract.searcher_kit import LIBRARY, ME, SearcherContract
from tests.engines.loopback_server import LoopbackServer
from tests.engines.milvus_server import PROGRAM, milvus_server
from tools.embeddings.embedder import open_embedder
from tools.library.ingestion import Ingestor
from tools.milvus.collection import Milvus
from tools.milvus.keeping import IndexKeeper
from tools.retrieval.candidates import Candidates
from tools.retrieval.hybrid_search import HybridSearcher
from tools.settings import MilvusSettings, Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="without its engine: `make test-engines` installs Milvus")


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LoopbackServer]:
    server = milvus_server(tmp_path_factory.mktemp("milvus"))
    await server.start()
    yield server
    await server.kill()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On however busy a machine."""
    monkeypatch.setattr("tools.milvus.collection.DEADLINE_SECONDS", 30.0)


@pytest.fixture
def milvus_settings(server: LoopbackServer) -> MilvusSettings:
    return MilvusSettings(url=server.url)


@pytest.fixture
async def milvus(milvus_settings: MilvusSettings) -> AsyncIterator[Milvus]:
    milvus = Milvus(milvus_settings)
    yield milvus
    await milvus.close()


class TestMilvus(SearcherContract):
    @pytest.fixture
    async def searcher(self, database: Database, settings: Settings, milvus: Milvus) -> HybridSearcher:
        workspaces, embedder = Workspaces(database), await open_embedder(settings)
        await workspaces.ensure("elsewhere")
        ingestor = Ingestor(database, workspaces, embedder, settings)
        [_ async for _ in ingestor.ingest_many(ME, LIBRARY)]
        await IndexKeeper(database, milvus).fill(embedder.dimension)
        return HybridSearcher(database, workspaces, embedder, None, Candidates(milvus, least_segments=0, deadline=30))
