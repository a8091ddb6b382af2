"""Citewell as its users start it: processes of their own, in a folder of their own, over one embedded database.

A start takes seconds, so each command is started once in a run of the tests; its other uses are forked.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.main import app
from tests.conftest import NO_EXAM, SCRATCH
from tests.e2e.forked import CommandForks
from tests.scripted_openai import scripted_openai  # noqa: F401 - a fixture
from tools.storage.embedded import start_embedded

BIN = Path(sys.executable).parent
GROUPS = {group.name for group in app.registered_groups}
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Read stdout as the one JSON document that ``--json`` promises."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Home:
    """A working folder and the environment of the processes started in it."""

    folder: Path
    environment: dict[str, str]
    forks: CommandForks
    started: Path  # holds a file for each command that this run of the tests has started, in whichever worker

    def citewell(self, *arguments: str, piped: str = "", **environment: str) -> Done:
        """Run the command to its end, without a terminal; ``piped`` is what a pipe sends it.

        The first use of a command is started, and the first beside whose packages others are installed; others are
        forked.
        """
        around = {**self.environment, **environment}
        if not self._is_first_use(arguments, beside_others="PYTHONPATH" in environment):
            return Done(*self.forks.run(arguments, folder=self.folder, environment=around, piped=piped))
        done = subprocess.run(
            [str(BIN / "citewell"), *arguments],
            cwd=self.folder,
            env=around,
            input=piped,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def _is_first_use(self, arguments: tuple[str, ...], *, beside_others: bool) -> bool:
        command = "-".join(arguments[: 2 if arguments[0] in GROUPS else 1]) + " beside others" * beside_others
        try:
            (self.started / command).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


@pytest.fixture(scope="session")
def started_commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a run share."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "started commands"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def home(started_commands: Path) -> Iterator[Home]:
    """A fresh folder with an embedded database that stays up between commands."""
    folder = Path(tempfile.mkdtemp(prefix="citewell e2e ", dir=SCRATCH))
    folder.chmod(0o711)  # as root, the server's own account passes through
    inherited = {n: v for n, v in os.environ.items() if not n.startswith(("CITEWELL_", "OPENAI_", "LANG"))}
    inherited["CITEWELL_DATA_DIR"] = ".citewell"  # and never the developer's own library
    environment = {**inherited, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "80", **NO_EXAM}
    forks = CommandForks(environment)
    server = start_embedded(folder / ".citewell", FAST)
    yield Home(folder, environment, forks, started_commands)
    forks.close()
    server.release()
    shutil.rmtree(folder)


Writer = Callable[[str, str], Path]


@pytest.fixture
def write(home: Home) -> Writer:
    """Write a file below the folder of the processes."""

    def to_file(name: str, text: str) -> Path:
        path = home.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return to_file
