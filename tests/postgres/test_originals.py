"""Originals beside their documents: written together, shared within a workspace, and collected with the last."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from graph.errors import CitewellError, DependencyFailed, NotFound
from graph.evidence import Identity
from tests.unit.pdf_files import pdf
from tools.embeddings.embedder import Embedder, open_embedder
from tools.library.catalogue import Documents
from tools.library.found_files import unread_files
from tools.library.ingestion import Ingested, Ingestor, NewDocument
from tools.library.versions import expire_versions
from tools.originals.originals import Originals
from tools.originals.stores import ObjectStore, OriginalKey
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

ME = Identity()
PAGE = b"# Lamps\r\n\r\nThe lamp turns.\r\n"


@dataclass
class Deployment:
    """A deployment whose originals are in one place."""

    database: Database
    workspaces: Workspaces
    embedder: Embedder
    settings: Settings

    @property
    def ingestor(self) -> Ingestor:
        return Ingestor(self.database, self.workspaces, self.embedder, self.settings)

    @property
    def originals(self) -> Originals:
        return Originals.of(self.settings, self.database, self.workspaces)

    @property
    def documents(self) -> Documents:
        return Documents(self.database, self.workspaces, self.originals)

    def with_originals(self, place: str) -> "Deployment":
        settings = self.settings.model_copy(update={"originals": place})
        return Deployment(self.database, self.workspaces, self.embedder, settings)

    async def add(self, data: bytes, *, who: Identity = ME, **fields: Any) -> Ingested:
        document = NewDocument(**{"document_id": str(uuid4()), "name": "notes/lamps.md", "data": data, **fields})
        return await self.ingestor.ingest(who, document)

    async def read(self, document_id: str, who: Identity = ME) -> bytes:
        return await self.originals.read_whole(await self.originals.find(who, document_id))

    async def counts(self) -> tuple[int, int]:
        """Count the originals that are known, and the chunks in PostgreSQL."""
        async with self.database.connection() as connection:
            found = await connection.execute(
                "SELECT (SELECT count(*) FROM originals), (SELECT count(*) FROM original_chunks)"
            )
            row = await found.fetchone()
        assert row is not None
        return row[0], row[1]


@pytest.fixture
async def database_only(database: Database, settings: Settings) -> Deployment:
    return Deployment(database, Workspaces(database), await open_embedder(settings), settings)


@pytest.fixture(params=["postgresql", "folder"])
async def deployment(request: pytest.FixtureRequest, database_only: Deployment, tmp_path: Path) -> Deployment:
    place = "postgresql" if request.param == "postgresql" else str(tmp_path / "originals")
    return database_only.with_originals(place)


async def test_a_file_is_kept_as_it_came(deployment: Deployment) -> None:
    report = await deployment.add(PAGE)
    assert await deployment.read(report.document_id) == PAGE
    document = await deployment.documents.get(ME, report.document_id)
    assert document.original is not None
    assert document.original["size"] == len(PAGE)
    assert (document.original["media_type"], document.original["name"]) == ("text/markdown", "lamps.md")


async def test_files_of_a_folder_are_kept_too(deployment: Deployment, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    files = {"a.md": PAGE, "b.pdf": pdf([["The lamp turns."]])}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    unread = unread_files([folder], ME.workspace, NewDocument(source_type="file"))
    reports = [report async for report in deployment.ingestor.ingest_many(ME, unread)]
    for report, data in zip(reports, files.values(), strict=True):
        assert isinstance(report, Ingested)
        assert await deployment.read(report.document_id) == data


async def test_a_text_has_no_original(deployment: Deployment) -> None:
    report = await deployment.ingestor.ingest(ME, NewDocument(text="The lamp turns."))
    assert (await deployment.documents.get(ME, report.document_id)).original is None
    with pytest.raises(NotFound, match="no original"):
        await deployment.read(report.document_id)


async def test_none_is_kept_where_the_deployment_keeps_none(database_only: Deployment) -> None:
    kept = await database_only.add(PAGE)
    off = database_only.with_originals("off")
    report = await off.add(PAGE)
    assert (await off.documents.get(ME, report.document_id)).original is None
    assert await off.read(kept.document_id) == PAGE  # what was kept before stays


async def test_nobody_reads_what_they_may_not(deployment: Deployment) -> None:
    report = await deployment.add(PAGE, owner="local")
    await deployment.workspaces.create("elsewhere")
    for stranger in (Identity(user="bob"), Identity("elsewhere", "local")):
        with pytest.raises(NotFound, match="There is no document"):
            await deployment.read(report.document_id, stranger)
    with pytest.raises(NotFound):
        await deployment.read("no-uuid")


async def test_the_same_bytes_are_stored_once_in_a_workspace(deployment: Deployment) -> None:
    await deployment.workspaces.create("elsewhere")
    for _ in range(2):
        await deployment.add(PAGE)
    assert (await deployment.counts())[0] == 1
    await deployment.add(PAGE, who=Identity("elsewhere"))
    assert (await deployment.counts())[0] == 2


async def test_an_original_goes_with_the_last_document_that_has_it(deployment: Deployment) -> None:
    first, second = await deployment.add(PAGE), await deployment.add(PAGE)
    await deployment.documents.delete(ME, first.document_id)
    await deployment.documents.purge("default")
    assert await deployment.read(second.document_id) == PAGE
    await deployment.documents.delete(ME, second.document_id)
    stored = OriginalKey(await deployment.workspaces.number("default"), await hash_of(deployment, second.document_id))
    await deployment.documents.purge("default")
    assert await deployment.counts() == (0, 0)
    if deployment.settings.originals != "postgresql":
        assert not await outside(deployment).exists(stored)


async def test_a_new_version_lets_the_old_file_go(deployment: Deployment) -> None:
    report = await deployment.add(PAGE)
    await deployment.add(PAGE + b"More.", document_id=report.document_id)
    await deployment.documents.purge("default")
    assert (await deployment.counts())[0] == 2, "the old one while its version is kept"
    await expire_versions(deployment.database, days=0)
    await deployment.documents.purge("default")
    assert (await deployment.counts())[0] == 1
    assert await deployment.read(report.document_id) == PAGE + b"More."


async def test_other_bytes_of_the_same_text_are_an_update(deployment: Deployment) -> None:
    report = await deployment.add(PAGE)
    again = await deployment.add(PAGE.replace(b"\r\n", b"\n"), document_id=report.document_id)
    same = await deployment.add(PAGE.replace(b"\r\n", b"\n"), document_id=report.document_id)
    assert (again.status, same.status) == ("updated", "unchanged")


async def test_what_came_from_a_search_of_the_web_keeps_none(deployment: Deployment) -> None:
    from datetime import UTC, datetime, timedelta

    report = await deployment.add(PAGE, expires_at=datetime.now(UTC) + timedelta(days=1))
    assert (await deployment.documents.get(ME, report.document_id)).original is None


async def test_a_failure_leaves_no_original_in_postgresql(database_only: Deployment) -> None:
    class Failing(Originals):
        async def write(self, *arguments: Any) -> bool:
            await super().write(*arguments)
            raise DependencyFailed("The power is cut.")

    ingestor = database_only.ingestor
    ingestor._originals = Failing(database_only.database, database_only.workspaces)
    with pytest.raises(CitewellError):
        await ingestor.ingest(ME, NewDocument(data=PAGE))
    assert await database_only.counts() == (0, 0)


async def test_what_a_failure_leaves_in_a_folder_is_collected_after_a_day(
    database_only: Deployment, tmp_path: Path
) -> None:
    deployment = database_only.with_originals(str(tmp_path / "originals"))

    class Failing(Originals):
        async def write(self, *arguments: Any) -> bool:
            raise DependencyFailed("The power is cut.")

    ingestor = deployment.ingestor
    ingestor._originals = Failing.of(deployment.settings, deployment.database, deployment.workspaces)
    with pytest.raises(CitewellError):
        await ingestor.ingest(ME, NewDocument(data=PAGE))
    assert await files_below(tmp_path / "originals") == 1
    await deployment.documents.purge("default")
    assert await files_below(tmp_path / "originals") == 1  # another ingestion may be about to refer to it
    async with deployment.database.connection() as connection:
        await connection.execute("UPDATE originals SET staged_until = now() - interval '1 minute'")
    await deployment.documents.purge("default")
    assert (await files_below(tmp_path / "originals"), await deployment.counts()) == (0, (0, 0))


async def test_a_staged_file_that_was_collected_is_stored_again(database_only: Deployment, tmp_path: Path) -> None:
    deployment = database_only.with_originals(str(tmp_path / "originals"))

    class Collected(Originals):
        times = 0

        async def stage(self, *arguments: Any) -> None:
            await super().stage(*arguments)
            self.times += 1
            if self.times == 1:
                async with deployment.database.connection() as connection:
                    await connection.execute("DELETE FROM originals")
                for key in [each async for each in keys(deployment)]:
                    await outside(deployment).delete([key])

    ingestor = deployment.ingestor
    ingestor._originals = Collected.of(deployment.settings, deployment.database, deployment.workspaces)
    report = await ingestor.ingest(ME, NewDocument(data=PAGE))
    assert await deployment.read(report.document_id) == PAGE


async def test_files_move_to_another_place_when_they_are_ingested_again(
    database_only: Deployment, tmp_path: Path
) -> None:
    first = await database_only.add(PAGE)
    folder = database_only.with_originals(str(tmp_path / "originals"))
    assert await folder.read(first.document_id) == PAGE
    second = await folder.add(PAGE)
    assert await database_only.counts() == (1, 0)
    assert await folder.read(first.document_id) == PAGE
    with pytest.raises(NotFound, match="no longer uses"):
        await database_only.read(second.document_id)
    await database_only.add(PAGE)
    assert await database_only.read(second.document_id) == PAGE


async def test_a_workspace_goes_with_its_originals(deployment: Deployment, tmp_path: Path) -> None:
    await deployment.workspaces.create("elsewhere")
    await deployment.add(PAGE, who=Identity("elsewhere"))
    kept = await deployment.add(PAGE)
    await deployment.originals.delete_workspace("elsewhere")
    await deployment.workspaces.delete("elsewhere")
    assert (await deployment.counts())[0] == 1
    assert await deployment.read(kept.document_id) == PAGE


async def test_ingestions_of_the_same_file_at_once_keep_it(deployment: Deployment) -> None:
    reports = await asyncio.gather(*(deployment.add(PAGE, title=f"Copy {n}") for n in range(3)))
    for report in reports:
        assert await deployment.read(report.document_id) == PAGE
    assert (await deployment.counts())[0] == 1


def outside(deployment: Deployment) -> ObjectStore:
    from tools.originals.stores import open_object_store

    return open_object_store(deployment.settings.originals)


async def keys(deployment: Deployment) -> AsyncIterator[OriginalKey]:
    for path in [path for path in Path(deployment.settings.originals).rglob("*") if path.is_file()]:  # noqa: ASYNC240
        yield OriginalKey(int(path.parts[-3]), path.name)


async def files_below(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))  # noqa: ASYNC240


async def hash_of(deployment: Deployment, document_id: str) -> str:
    async with deployment.database.connection() as connection:
        found = await connection.execute("SELECT original_sha256 FROM documents WHERE document_id = %s", [document_id])
        row = await found.fetchone()
    assert row is not None
    return str(row[0])
