"""The packages are this repository's own, each in its room, and the locks are fit for any machine."""

import importlib
import re
import tomllib
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import pytest

from graph.builder import build
from tests.fakes import MemoryLibrary, ScriptedFamily, resources

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = [*PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"], "bench", "research"]
LOCKS = [ROOT / "requirements" / name for name in ("runtime.txt", "dev.txt")]
PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9._-]*)(\[[a-z0-9,_-]+\])?==(?P<version>[^ ;\\]+)", re.MULTILINE)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_root_package_comes_from_this_repository(package: str) -> None:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).resolve().is_relative_to(ROOT)


def test_every_folder_of_code_is_a_package_of_the_wheel() -> None:
    folders = {path.parent.relative_to(ROOT).parts[0] for path in ROOT.glob("*/__init__.py")}
    assert folders == set(PACKAGES)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_a_lock_names_no_host_and_pins_by_hash(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(
        r"^\s*(-i|--index-url|--extra-index-url|--find-links|--trusted-host|-e|-f)\b", text, re.MULTILINE
    )
    requirements = [block for block in re.split(r"\n(?=\S)", text) if not block.startswith("#")]
    assert requirements
    for block in requirements:
        assert PIN.match(block), block
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block


def test_the_development_lock_holds_the_runtime_lock() -> None:
    runtime, development = (
        {found["name"]: found["version"] for found in PIN.finditer(lock.read_text(encoding="utf-8"))} for lock in LOCKS
    )
    assert runtime.items() <= development.items()


def test_the_locks_hold_every_dependency_of_the_project() -> None:
    pinned = {found["name"] for found in PIN.finditer(LOCKS[0].read_text(encoding="utf-8"))}
    wanted = {re.split(r"[\[<>=~! ]", line, maxsplit=1)[0].lower() for line in PROJECT["project"]["dependencies"]}
    assert wanted <= pinned


def test_the_graph_of_langgraph_json_is_found_in_module_form() -> None:
    import json

    configured = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]["citewell"]
    module, _, name = configured.partition(":")
    assert callable(getattr(importlib.import_module(module), name))


DIALECT_FILES = {"routes", "schemas", "encoder"}  # the fixed files of each wire format
SECTIONS = ROOT / "tools" / "settings"  # whose files are named for the packages that they configure


def test_no_module_stem_stands_in_two_packages() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file in _code_files():
        if not file.stem.startswith("__") and file.parent != SECTIONS:
            places[file.stem].append(str(file.relative_to(ROOT)))
    twice = {stem: files for stem, files in places.items() if len(files) > 1 and stem not in DIALECT_FILES}
    assert twice == {}
    for stem in DIALECT_FILES & places.keys():
        assert all(file.startswith("api/dialects/") for file in places[stem])


def test_no_module_has_a_name_that_names_nothing() -> None:
    named = {file.parent.name if file.stem == "__init__" else file.stem for file in _code_files()}
    assert named & {"utils", "helpers", "manager", "service", "base"} == set()


def test_tools_has_packages_alone() -> None:
    assert {path.name for path in (ROOT / "tools").glob("*.py")} == {"__init__.py"}


def test_nodes_holds_exactly_the_nodes_of_the_graph() -> None:
    built = build(resources(MemoryLibrary([]), ScriptedFamily()))
    files = {path.stem for path in (ROOT / "nodes").rglob("*.py")} - {"__init__"}
    assert files == set(built.nodes)
    for name in files:
        module = importlib.import_module(f"nodes.{name}")
        assert getattr(module, name).__module__ == module.__name__


def test_the_wheel_holds_what_is_run_and_no_research() -> None:
    wheel = set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    assert wheel.isdisjoint({"research", "bench", "tests"})
    assert set(PROJECT["tool"]["mypy"]["packages"]) == set(PACKAGES)
    shipped = "|".join(sorted(set(PACKAGES) - wheel))
    imports = re.compile(rf"^\s*(?:from|import) (?:{shipped})\b", re.MULTILINE)
    importing = [file for file in _code_files() if file.relative_to(ROOT).parts[0] in wheel]
    assert [str(file) for file in importing if imports.search(file.read_text(encoding="utf-8"))] == []


def _code_files() -> list[Path]:
    return [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
