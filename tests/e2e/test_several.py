"""Three servers and two workers over a primary and its standby: restarted, failed over, and nothing lost or doubled."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import SCRATCH
from tests.e2e.enduring import endure


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="citewell-several-", dir=SCRATCH))
    os.chmod(path, 0o711)  # as root, the servers' own account passes through
    yield path
    shutil.rmtree(path)


@pytest.mark.timeout(900)  # five processes begin twice, on however busy a machine
async def test_a_deployment_outlives_its_processes_and_its_primary(folder: Path) -> None:
    endured = await endure(folder, askers=3, calm_seconds=1, rest_seconds=2, more="fsync = off\n")
    clients = endured.clients
    told = f"{endured.found} {endured.wrong_jobs} {clients.refused} {clients.stale}\n{endured.logs[-5000:]}"
    assert endured.is_sound, told
    assert len(clients.runs) >= 3
    assert sum(run.joined for run in clients.runs) > 0
    assert clients.documents
    assert clients.jobs
    assert "the replica answers readings" in endured.logs
