"""Citewell as its users run it: commands in a folder of their own, over one embedded database.

A start takes seconds, so a command is a process of its own only where that is what a test is about.
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

from tests.conftest import NO_EXAM, SCRATCH
from tests.e2e.in_process import run_command
from tests.scripted_openai import scripted_openai  # noqa: F401 - a fixture
from tools.storage.embedded import start_embedded

BIN = Path(sys.executable).parent
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

    def citewell(self, *arguments: str, piped: str = "", **environment: str) -> Done:
        """Run the command to its end, without a terminal and without a process of its own."""
        around = {**self.environment, **environment}
        return Done(*run_command(arguments, folder=self.folder, environment=around, piped=piped))

    def process(self, *arguments: str, piped: str = "", **environment: str) -> Done:
        """Run the command to its end as a process, to which a pipe sends ``piped``."""
        done = subprocess.run(
            [str(BIN / "citewell"), *arguments],
            cwd=self.folder,
            env={**self.environment, **environment},
            input=piped,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def home() -> Iterator[Home]:
    """A fresh folder with an embedded database that stays up between commands."""
    folder = Path(tempfile.mkdtemp(prefix="citewell e2e ", dir=SCRATCH))
    folder.chmod(0o711)  # as root, the server's own account passes through
    inherited = {n: v for n, v in os.environ.items() if not n.startswith(("CITEWELL_", "OPENAI_", "LANG"))}
    inherited["CITEWELL_DATA_DIR"] = ".citewell"  # and never the developer's own library
    environment = {**inherited, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "80", **NO_EXAM}
    server = start_embedded(folder / ".citewell", FAST)
    yield Home(folder, environment)
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
