"""The oldest PostgreSQL that is supported, on a machine that has it: its schema, and answers over it."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import SecretStr

import migrations
from api.app import create_app
from cli.checks import check_database
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY
from tests.api.reading import events_of
from tests.api.serving import client_of
from tests.conftest import NO_FILE, QUICKLY, SCRATCH
from tools.settings import Settings
from tools.storage.database import LEAST_POSTGRESQL
from tools.storage.server_account import SHARED_ACCOUNT, account_named, unprivileged_user
from tools.storage.startup import migrate

BINARIES = Path(f"/usr/lib/postgresql/{LEAST_POSTGRESQL}/bin")  # where Debian puts it

pytestmark = pytest.mark.skipif(
    not (BINARIES / "initdb").exists(), reason=f"this machine has no PostgreSQL {LEAST_POSTGRESQL} in {BINARIES}"
)


@pytest.fixture
def least_url() -> Iterator[str]:
    """The address of an empty database of a server of its own, which listens on a socket alone."""
    folder = Path(tempfile.mkdtemp(prefix="cw-", dir=SCRATCH))
    account = unprivileged_user() and account_named(SHARED_ACCOUNT)  # initdb insists on a name
    as_user: dict[str, Any] = {} if account is None else {"user": account.uid, "group": account.gid, "extra_groups": ()}
    if account is not None:
        shutil.chown(folder, account.uid, account.gid)

    def run(program: str, *arguments: str) -> None:
        command = [str(BINARIES / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_user)

    run("initdb", "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
    run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", f"-k {folder} -c listen_addresses= -c fsync=off", "start")
    yield f"postgresql://postgres@/postgres?host={quote(str(folder))}&port=5432"
    run("pg_ctl", "-w", "-m", "immediate", "stop")
    shutil.rmtree(folder)


async def test_the_least_postgresql_is_migrated_and_answers_with_proof(least_url: str, tmp_path: Path) -> None:
    settings = Settings(
        **NO_FILE, database_url=SecretStr(least_url), data_dir=tmp_path / "data", pool_size=4, runs=QUICKLY
    )
    assert await migrate(settings) == [*migrations.revisions(), "checkpointer"]
    checked = await check_database(settings)
    assert checked.ok
    assert str(checked.facts["postgresql"]).startswith(f"{LEAST_POSTGRESQL}.")
    async with open_citewell(settings) as citewell, client_of(create_app(settings, citewell=citewell)) as client:
        for document in LIBRARY:
            await citewell.library.ingestor.ingest(Identity(), document)
        citewell.library.job_worker.start()
        file = {"file": ("zorbles.md", b"# Zorbles\n\nThe zorble plant sold 812 zorbles.\n", "text/markdown")}
        assert (await client.post("/api/documents", files=file)).status_code == 201
        assert (await client.get("/readyz")).status_code == 200
        session = (await client.post("/api/sessions", json={})).json()["session_id"]
        for question, answer in (
            ("How many days of annual leave does an employee get?", "25 days"),
            ("How many zorbles did the plant sell?", "812"),
        ):
            run = {"question": question, "stream": True}
            message = events_of(await client.post(f"/api/sessions/{session}/runs", json=run))[-1]["message"]
            assert answer in message["answer"]
            assert message["citations"]
