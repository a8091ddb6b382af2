"""Clients that generators make of the OpenAPI description, in Python and in TypeScript, and what they are told."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from api.app import create_app
from tools.settings import Settings

LEAVE = "How many days of annual leave does an employee get?"
PACKAGE = "citewell_client"


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("described") / "openapi.json"
    path.write_text(json.dumps(create_app(Settings(_env_file=None)).openapi()))
    return path


@pytest.fixture(scope="module")
def package(description: Path) -> Iterator[Path]:
    """A package that openapi-python-client makes, whole: it leaves out what it can't read, and warns of it."""
    pytest.importorskip("openapi_python_client")
    config = description.with_name("config.yml")
    config.write_text(f"post_hooks: []\nproject_name_override: {PACKAGE}\npackage_name_override: {PACKAGE}\n")
    folder = description.with_name("made")
    command = ["generate", "--path", str(description), "--config", str(config), "--output-path", str(folder)]
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *command, "--meta", "none"], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder.parent))
    folder.rename(folder.with_name(PACKAGE))
    yield folder.with_name(PACKAGE)
    sys.path.remove(str(folder.parent))


def module(name: str) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.{name}")


async def test_every_module_of_the_python_client_imports(package: Path) -> None:
    names = [".".join(path.relative_to(package).with_suffix("").parts) for path in package.rglob("*.py")]
    for name in names:
        module(name.removesuffix(".__init__").removesuffix("__init__") or "client")
