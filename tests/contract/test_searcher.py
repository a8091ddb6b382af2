"""HybridSearcher against the kit of its port."""

import pytest

from tests.contract.searcher_kit import LIBRARY, ME, SearcherContract
from tools.embeddings.embedder import open_embedder
from tools.library.ingestion import Ingested, Ingestor
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.placing import share_tables_again
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.partitions import find_place
from tools.storage.tenants import Workspaces


class TestHybridSearcher(SearcherContract):
    """Once in a partition of its own, once in several parts, and once in the tables that small workspaces share."""

    @pytest.fixture(params=["own tables", "parts", "shared tables"])
    async def searcher(
        self,
        database: Database,
        settings: Settings,
        request: pytest.FixtureRequest,
        monkeypatch: pytest.MonkeyPatch,
    ) -> HybridSearcher:
        workspaces, embedder = Workspaces(database), await open_embedder(settings)
        if request.param == "shared tables":
            async with database.connection() as conn:
                assert await share_tables_again(conn, await workspaces.number("default"))
        if request.param == "parts":
            monkeypatch.setattr("tools.storage.partitions.PART_SEGMENTS", 3)
        await workspaces.ensure("elsewhere")
        ingestor = Ingestor(database, workspaces, embedder, settings)
        batches = [[each] for each in LIBRARY] if request.param == "parts" else [LIBRARY]
        for batch in batches:
            reports = [report async for report in ingestor.ingest_many(ME, batch)]
            assert all(isinstance(report, Ingested) for report in reports)
        async with database.connection() as conn:
            place = await find_place(conn, await workspaces.number("default"))
        assert place is not None
        assert (place.parts > 3) == (request.param == "parts")
        return HybridSearcher(database, workspaces, embedder)
