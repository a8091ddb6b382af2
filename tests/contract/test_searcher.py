"""HybridSearcher against the kit of its port."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from tests.conftest import NO_FILE, fresh_database
from tests.contract.searcher_kit import LIBRARY, ME, SearcherContract
from tools.embeddings.embedder import open_embedder
from tools.library.ingestion import Ingested, Ingestor
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.placing import share_tables_again
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.embedded import EmbeddedServer
from tools.storage.partitions import find_place
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces


@pytest.fixture(scope="module", params=["own tables", "parts", "shared tables"])
async def searcher(
    request: pytest.FixtureRequest, postgres: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[HybridSearcher]:
    """The library in a partition of its own, in several parts, and in the tables that small workspaces share.

    It is ingested once for each, since tests only search it.
    """
    async for url in fresh_database(postgres, template):
        data = tmp_path_factory.mktemp("data")
        settings = Settings(**NO_FILE, database_url=SecretStr(url), data_dir=data, pool_size=4, pool_timeout_seconds=10)
        with pytest.MonkeyPatch.context() as patch:
            if request.param == "parts":
                patch.setattr("tools.storage.partitions.PART_SEGMENTS", 3)
            async with open_database(settings) as database:
                yield await searcher_of(database, settings, request.param)


async def searcher_of(database: Database, settings: Settings, kept_in: str) -> HybridSearcher:
    workspaces, embedder = Workspaces(database), await open_embedder(settings)
    if kept_in == "shared tables":
        async with database.connection() as conn:
            assert await share_tables_again(conn, await workspaces.number("default"))
    await workspaces.ensure("elsewhere")
    ingestor = Ingestor(database, workspaces, embedder, settings)
    batches = [[each] for each in LIBRARY] if kept_in == "parts" else [LIBRARY]
    for batch in batches:
        reports = [report async for report in ingestor.ingest_many(ME, batch)]
        assert all(isinstance(report, Ingested) for report in reports)
    async with database.connection() as conn:
        place = await find_place(conn, await workspaces.number("default"))
    assert place is not None
    assert (place.parts > 3) == (kept_in == "parts")
    return HybridSearcher(database, workspaces, embedder)


class TestHybridSearcher(SearcherContract):
    pass
