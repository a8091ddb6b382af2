"""HybridSearcher against the kit of its port."""

import pytest

from tests.contract.searcher_kit import LIBRARY, ME, SearcherContract
from tools.embeddings.embedder import open_embedder
from tools.library.ingestion import Ingested, Ingestor
from tools.retrieval.hybrid_search import HybridSearcher
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces


class TestHybridSearcher(SearcherContract):
    @pytest.fixture
    async def searcher(self, database: Database, settings: Settings) -> HybridSearcher:
        workspaces, embedder = Workspaces(database), await open_embedder(settings)
        await workspaces.ensure("elsewhere")
        ingestor = Ingestor(database, workspaces, embedder, settings)
        reports = [report async for report in ingestor.ingest_many(ME, LIBRARY)]
        assert all(isinstance(report, Ingested) for report in reports)
        return HybridSearcher(database, workspaces, embedder)
