"""Ingestion and reindexing on a real local Ray: the same library as without it, whoever dies."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from graph.errors import ConfigurationError
from tests.contract.embeddings_server import DIMENSION, serve_embeddings
from tests.engines.dying_tasks import ME, STEPS, CancellingStore, Driver, DyingReader, DyingStore, driver
from tools.bulk import ray_ingestion as on_ray
from tools.bulk.cluster import Cluster, opened_cluster, settings_on_nodes
from tools.bulk.ray_ingestion import reports_of
from tools.bulk.ray_reindexing import reindex_on_ray
from tools.embeddings.embedder import open_embedder, recorded_embedding
from tools.library.found_files import unread_files
from tools.library.ingestion import Ingestor, NewDocument, Report
from tools.library.path_jobs import PathOrder
from tools.library.sandbox import opened_sandbox
from tools.retrieval.reindexing import reindex
from tools.settings import EmbeddingSettings, Settings
from tools.storage.database import Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces

SEGMENTS = 6  # of each lamp
DRIVE = "import sys; from tests.engines.dying_tasks import drive; drive(*sys.argv[1:])"
DOCUMENTS = Path(__file__).parents[1] / "fixtures" / "documents"
pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="without its engine: `make test-engines` installs Ray"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
TABLES = {
    "documents": "to_jsonb(t) - 'created_at' - 'updated_at'",
    "segments": "to_jsonb(t)",
    "segment_vectors": "to_jsonb(t)",
    "term_statistics": "to_jsonb(t)",
    "library_statistics": "to_jsonb(t)",
    "document_versions": "to_jsonb(t)",
}


@pytest.fixture(scope="module")
async def cluster() -> AsyncIterator[Cluster]:
    """One Ray for all tests of the module, for it takes many seconds to start."""
    async with opened_cluster(2) as opened:
        yield opened


@pytest.fixture
def own(settings: Settings, tmp_path: Path) -> Settings:
    settings.data_dir.mkdir()
    return settings


@pytest.fixture
def lamps(tmp_path: Path) -> Path:
    folder = tmp_path / "lamps"
    folder.mkdir()
    for name in "abcdefghij":
        text = "\n\n".join(f"# Lamp {n}\n\n" + f"Lamp {n} of {name} shines. " * 40 for n in range(3))
        (folder / f"{name}.md").write_text(text)
    return folder


async def library(database: Database) -> dict[str, list[Any]]:
    """Give all that the tables of the library hold, as JSON."""
    found: dict[str, list[Any]] = {}
    async with database.connection() as connection:
        for table, row in TABLES.items():
            rows = await connection.execute(f"SELECT {row}::text FROM {table} AS t ORDER BY 1".encode())
            found[table] = await rows.fetchall()
    return found


async def without_ray(settings: Settings, url: str, folder: Path) -> tuple[dict[str, list[Any]], list[Report]]:
    """Ingest a folder into another database by processes alone."""
    settings = settings.model_copy(update={"database_url": SecretStr(url)})
    async with open_database(settings) as database, opened_sandbox(settings.jobs, 2) as sandbox:
        embedder = await open_embedder(settings)
        ingestor = Ingestor(database, Workspaces(database), embedder, settings, sandbox, all_readers=True)
        files = unread_files([folder], ME.workspace, NewDocument(source_type="file"))
        reports = [report async for report in ingestor.ingest_many(ME, files)]
        found = await library(database)
        await embedder.close()
    return found, reports


def comparable(reports: list[Report]) -> list[Report]:
    """Leave out which of two similar documents came second."""
    return [report if report.status == "refused" else replace(report, similar_to=[]) for report in reports]


async def whole(opened: Driver) -> None:
    """Check that the library holds each lamp once, with statistics that say so, and that nothing waits."""
    [(documents, segments)] = await opened.rows("SELECT documents, segments FROM library_statistics")
    counted = await opened.rows("SELECT document_id, count(*) FROM segments GROUP BY 1")
    assert documents == len(counted) == 10
    assert [each for _, each in counted] == [SEGMENTS] * 10
    assert segments == 10 * SEGMENTS
    assert await opened.rows("SELECT count(*) FROM segment_vectors") == [(segments,)]
    assert await opened.rows("SELECT count(*) FROM ingestion_uploads") == [(0,)]


async def test_the_library_is_the_same_as_without_a_cluster(
    own: Settings, shared_database_url: str, cluster: Cluster
) -> None:
    """Files of all formats, an archive, broken ones and those with a password, embedded by an endpoint."""
    async with serve_embeddings() as server:
        endpoint = EmbeddingSettings(model="m", base_url=server.base_url, dimension=DIMENSION)
        settings = own.model_copy(update={"embedding": endpoint})
        async with driver(settings, cluster) as opened:
            job_id, is_new = await opened.making.open(ME, PathOrder([DOCUMENTS]))
            job = await opened.ingestion.store(ME, job_id)
            found, reports = await library(opened.database), [each async for each in reports_of(opened.jobs, ME, job)]
            waiting = await opened.rows("SELECT count(*) FROM ingestion_uploads")
        expected, told = await without_ray(settings, shared_database_url, DOCUMENTS)
    assert is_new
    assert (job.state, waiting) == ("finished", [(job.counts["refused"],)])  # those may be tried again
    assert comparable(reports) == comparable(told)
    assert found == expected


async def test_tasks_that_are_killed_lose_nothing_and_double_nothing(
    own: Settings, cluster: Cluster, lamps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is killed at each step; the bytes of the files wait in the database, as for nodes that see no folder."""
    monkeypatch.setattr(on_ray, "FILES_OF_A_TASK", 2)
    monkeypatch.setattr(on_ray, "ReadFiles", DyingReader)
    monkeypatch.setattr(on_ray, "StoreFiles", DyingStore)
    async with driver(own, cluster, by_path=False) as opened:
        job_id, _ = await opened.making.open(ME, PathOrder([lamps]))
        (lamps / "a.md").write_text("Nobody reads this any more.")
        job = await opened.ingestion.store(ME, job_id)
        assert {path.name for path in own.data_dir.iterdir()} == set(STEPS)
        assert (job.state, job.counts["stored"]) == ("finished", 10)
        await whole(opened)


async def test_a_driver_that_is_killed_leaves_a_job_that_the_next_one_ends(
    own: Settings, cluster: Cluster, lamps: Path
) -> None:
    """The second finds the job by its paths, and reads no file again that is stored."""
    import ray

    address = ray.get_runtime_context().gcs_address
    async with driver(own, cluster) as opened:
        victim = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", DRIVE, exported(own), str(lamps)),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RAY_ADDRESS": address},
        )
        try:
            while (await opened.rows("SELECT count(*) FROM ingestion_files WHERE state = 'stored'"))[0][0] == 0:
                assert victim.returncode is None
                await asyncio.sleep(0.05)
        finally:
            victim.send_signal(signal.SIGKILL)
            await victim.wait()
        done = await opened.rows("SELECT file_no, attempt FROM ingestion_files WHERE state = 'stored'")
        assert 0 < len(done) < 10
        job_id, is_new = await opened.making.open(ME, PathOrder([lamps]))
        assert not is_new
        job = await opened.ingestion.store(ME, job_id)
        assert (job.state, job.counts["stored"]) == ("finished", 10)
        after = await opened.rows("SELECT file_no, attempt FROM ingestion_files WHERE state = 'stored'")
        assert set(done) <= set(after)
        await whole(opened)


def exported(settings: Settings) -> str:
    """Write settings for another process, with the address of the database."""
    assert settings.database_url is not None
    values = settings.model_dump(mode="json", include={"jobs"})
    values |= {"database_url": settings.database_url.get_secret_value(), "data_dir": str(settings.data_dir)}
    return json.dumps(values)


async def test_a_cancelled_job_stores_no_more(
    own: Settings, cluster: Cluster, lamps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_ray, "FILES_OF_A_TASK", 1)
    monkeypatch.setattr(on_ray, "StoreFiles", CancellingStore)
    async with driver(own, cluster) as opened:
        job_id, _ = await opened.making.open(ME, PathOrder([lamps]))
        job = await opened.ingestion.store(ME, job_id)
        assert (job.state, job.counts["stored"], job.counts["cancelled"]) == ("cancelled", 1, 9)
        assert await opened.rows("SELECT count(DISTINCT document_id) FROM segments") == [(1,)]


async def test_a_library_is_embedded_again_by_tasks(own: Settings, cluster: Cluster, lamps: Path) -> None:
    smaller = own.model_copy(update={"embedding": EmbeddingSettings(dimension=64)})
    assert own.database_url is not None
    await without_ray(own, own.database_url.get_secret_value(), lamps)
    async with open_database(own) as database:
        embedder = await open_embedder(smaller)
        heard: list[tuple[int, int]] = []
        done = await reindex_on_ray(cluster, database, embedder, smaller, lambda n, of: heard.append((n, of)))
        found = await library(database)
        async with database.connection() as connection:
            assert await recorded_embedding(connection) == (embedder.model, 64)
        await reindex(database, embedder)
        assert (await library(database))["segment_vectors"] == found["segment_vectors"]
    assert done.segments == 10 * SEGMENTS
    assert heard[-1] == (10 * SEGMENTS, 10 * SEGMENTS)


async def test_a_cluster_without_the_processors_is_refused(own: Settings, cluster: Cluster, lamps: Path) -> None:
    """Ray would wait for them for ever, and say nothing."""
    async with driver(own, Cluster(50, is_local=True)) as opened:
        job_id, _ = await opened.making.open(ME, PathOrder([lamps]))
        with pytest.raises(ConfigurationError, match="50 tasks"):
            await opened.ingestion.store(ME, job_id)


async def test_nodes_elsewhere_need_a_database_that_they_reach(
    own: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    here = own.model_copy(update={"database_url": None})
    with pytest.raises(ConfigurationError, match="can't reach"):
        settings_on_nodes(here, database)
