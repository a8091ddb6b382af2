"""Every store of originals passes the same contract: PostgreSQL, a folder, memory, and S3 on a loopback server."""

from collections.abc import AsyncIterator
from pathlib import Path

import obstore.store
import pytest

from graph.errors import ConfigurationError, DependencyFailed
from tests.contract.original_store_kit import OriginalStoreContract
from tests.scripted_s3 import serve_s3
from tools.originals.stores import DatabaseStore, ObjectStore, OriginalKey, open_object_store
from tools.storage.database import Database
from tools.storage.tenants import Workspaces


@pytest.fixture
def workspaces() -> tuple[int, int]:
    return 1, 11  # the number of one begins with the other's


class TestDatabase(OriginalStoreContract):
    @pytest.fixture
    async def workspaces(self, database: Database) -> tuple[int, int]:
        workspaces = Workspaces(database)
        return await workspaces.create("one"), await workspaces.create("other")

    @pytest.fixture
    def store(self, database: Database) -> DatabaseStore:
        return DatabaseStore(database)


class TestFolder(OriginalStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> ObjectStore:
        return open_object_store(str(tmp_path / "new" / "originals"))

    async def test_a_folder_that_cannot_be_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(ConfigurationError, match="originals"):
            open_object_store(str(tmp_path / "file" / "below"))


class TestMemory(OriginalStoreContract):
    @pytest.fixture
    def store(self) -> ObjectStore:
        return ObjectStore(obstore.store.MemoryStore())


class TestS3(OriginalStoreContract):
    @pytest.fixture
    async def store(self, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ObjectStore]:
        async with serve_s3() as address:
            for name, value in {
                "AWS_ENDPOINT_URL": address,
                "AWS_ALLOW_HTTP": "true",
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": "somebody",
                "AWS_SECRET_ACCESS_KEY": "something",
            }.items():
                monkeypatch.setenv(name, value)
            yield open_object_store("s3://bucket/below/here")

    async def test_a_store_that_refuses_is_a_failed_dependency(
        self, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(DependencyFailed, match="originals"):
            await store.put(OriginalKey(403, "0" * 64), b"refused")
