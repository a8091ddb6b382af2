"""The built wheel, as `pipx install` leaves it: in an environment of its own, with what the lock names and no clone.

The packages of the lock are linked from the environment of the tests file by file, so nothing is downloaded and
nothing but the lock is there. What the wheel lacks, or takes from a development package, fails here.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from cli.command import Exit
from tests.conftest import SCRATCH
from tests.e2e.conftest import Done
from tests.manual_programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
BUILD_ONLY = {"editables", "hatchling", "pathspec", "pluggy", "trove-classifiers"}  # locked, for the editable install
STARTUP_SECONDS = 60


def locked() -> list[Requirement]:
    """List the packages of the runtime lock that belong on this machine."""
    lines = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8").splitlines()
    found = [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"\w", line)]
    wanted = [each for each in found if each.marker is None or each.marker.evaluate()]
    return [each for each in wanted if each.name not in BUILD_ONLY]


def link_packages(target: Path) -> None:
    """Link every file of the locked packages into another environment's site-packages, with its bytecode if it has any.

    Without that, the first command would compile for ten seconds.
    """
    for name in [requirement.name for requirement in locked()]:
        for file in distribution(name).files or ():
            source = Path(str(file.locate()))
            if ".." in file.parts or not source.is_file():
                continue
            link = target / file
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(source)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


class Installed:
    """The command of the wheel, away from every clone, with a home of its own."""

    def __init__(self, environment: Path, folder: Path) -> None:
        self.command = environment / "bin" / "citewell"
        self.python = environment / "bin" / "python"
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "TMPDIR", "SSL_CERT_FILE")}
        self.environment = {**kept, "HOME": str(folder), "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "80"}
        self.environment["CITEWELL_DATA_DIR"] = str(folder / "Application Support" / "citewell")

    def run(self, *arguments: str) -> Done:
        done = subprocess.run(
            [str(self.command), *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Iterator[Installed]:
    folder = Path(tempfile.mkdtemp(prefix="citewell wheel ", dir=SCRATCH))
    folder.chmod(0o711)  # as root, the server's own account passes through
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    link_packages(packages)
    install = [sys.executable, "-m", "pip", "-q", "--python", str(environment / "bin" / "python"), "install"]
    subprocess.run([*install, "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    yield Installed(environment, folder)
    shutil.rmtree(folder)


def test_the_wheel_holds_what_the_code_reads(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    packages = (
        "answers",
        "api",
        "citewell",
        "cli",
        "evals",
        "graph",
        "migrations",
        "nodes",
        "prompts",
        "text",
        "tools",
    )
    missing = {name for name in tracked.split("\0") if name.startswith(tuple(f"{each}/" for each in packages))} - names
    assert missing == set()
    manual = {name.replace("docs/", "cli/manual/", 1) for name in tracked.split("\0") if name.startswith("docs/")}
    assert manual <= names
    assert not {name for name in names if name.split("/")[0] in ("tests", "bench", "research", "requirements")}


def test_the_lock_holds_all_that_the_wheel_needs(installed: Installed) -> None:
    check = [sys.executable, "-m", "pip", "--python", str(installed.python), "check"]
    done = subprocess.run(
        check, capture_output=True, text=True, env={**installed.environment, "PYTHONWARNINGS": "ignore"}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_demo_runs_without_a_clone(installed: Installed) -> None:
    done = installed.run("demo", "--json")
    assert (done.code, done.err) == (Exit.OK, "")
    outcomes = [question["outcome"] for question in done.json["questions"]]
    assert outcomes == ["answered"] * (len(outcomes) - 1) + ["abstained"]


def test_a_program_of_the_manual_runs_without_a_clone(installed: Installed) -> None:
    (checks,) = (program for program in PROGRAMS if str(program) == "python-2")
    (installed.folder / "checks.py").write_text(checks.code, encoding="utf-8")
    done = subprocess.run(
        [str(installed.python), "checks.py"],
        cwd=installed.folder,
        env=installed.environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["supported", "unverified"]


def test_own_files_are_ingested_and_asked(installed: Installed) -> None:
    (installed.folder / "notes.md").write_text(
        "# Ferry\n\nThe ferry leaves the north pier at nine.\n", encoding="utf-8"
    )
    done = installed.run("ingest", "notes.md")
    assert done.code == Exit.OK, done.err
    done = installed.run("ask", "When does the ferry leave the north pier?", "--json")
    assert done.code == Exit.OK
    assert [each["quote"] for each in done.json["citations"]] == ["The ferry leaves the north pier at nine."]
    assert (installed.folder / "Application Support" / "citewell" / "postgres").is_dir()


def test_the_page_and_the_api_are_served(installed: Installed) -> None:
    serve = [str(installed.command), "serve", "--port", "0", "--workspace", "demo", "--json"]
    with subprocess.Popen(
        serve, cwd=installed.folder, env=installed.environment, stdout=subprocess.PIPE, encoding="utf-8"
    ) as server:
        assert server.stdout is not None
        said = ""
        while not said.rstrip().endswith("}"):
            line = server.stdout.readline()
            assert line, said
            said += line
        url = json.loads(said)["url"]
        page = read(url)
        (script,) = re.findall(r'src="(\S+main\.js)"', page)
        shells = re.findall(r'rel="modulepreload" href="(\S+\.js)"', page)
        main = read(f"{url}/{script}")
        assert all(shell.rpartition("/")[2] in main for shell in shells)
        assert any("Citewell" in read(f"{url}/{shell}") for shell in shells)
        assert json.loads(read(f"{url}/api/workspaces"))["current"] == "demo"
        assert json.loads(read(f"{url}/readyz"))["status"] == "ready"
        server.terminate()
    assert server.returncode == 0


def read(url: str) -> str:
    with urlopen(url, timeout=STARTUP_SECONDS) as response:
        return str(response.read().decode())
