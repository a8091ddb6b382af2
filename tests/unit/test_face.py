"""The public face for Python: few names, cheap to import, documented and typed, and the only one that is taught."""

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import pytest

import citewell
from tests.manual_programs import PROGRAMS, ROOT, Program
from tests.unit.test_layout import PACKAGES

MOST_NAMES = 15
PLUGINS = ["backends", "dialects", "judges", "parsers"]


def plugin_module(name: str) -> ModuleType:
    return importlib.import_module(f"citewell.{name}")


def test_the_face_has_few_names() -> None:
    assert len(citewell.__all__) <= MOST_NAMES
    assert set(citewell.__all__) <= set(dir(citewell))
    assert not hasattr(citewell, "no_such_name")
    assert citewell.__version__


@pytest.mark.parametrize("name", citewell.__all__)
def test_a_name_is_importable_documented_and_typed(name: str) -> None:
    found = getattr(citewell, name)
    assert inspect.getdoc(found)
    assert inspect.getmodule(found) is not None
    if inspect.isfunction(found):
        signature = inspect.signature(found)
        assert signature.return_annotation is not signature.empty
        assert all(each.annotation is not each.empty for each in signature.parameters.values())
    else:
        assert inspect.isclass(found)
        assert inspect.signature(found).parameters or get_type_hints(found)


def test_type_checkers_see_every_name_where_it_is_found() -> None:
    tree = ast.parse(Path(citewell.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    here = {"make_graph"}
    assert {name: seen[name] for name in {*citewell.__all__} - here} == citewell._PLACES


@pytest.mark.parametrize("name", PLUGINS)
def test_what_plugins_are_made_of_is_there_and_documented(name: str) -> None:
    module = plugin_module(name)
    assert inspect.getdoc(module)
    for each in module.__all__:
        assert hasattr(module, each), each


def test_every_package_behind_the_face_says_that_it_is_typed() -> None:
    behind = {place.partition(".")[0] for place in citewell._PLACES.values()}
    behind |= {
        found.__module__.partition(".")[0]
        for module in map(plugin_module, PLUGINS)
        for found in vars(module).values()
        if inspect.isclass(found) or inspect.isfunction(found)
    }
    assert {"citewell", "graph", "tools"} <= behind
    for package in behind & {*PACKAGES}:
        assert (ROOT / package / "py.typed").is_file(), package


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_manual_imports_the_face_alone(program: Program) -> None:
    """A plugin's contracts are in submodules of the face, so no page is an exception."""
    imported = set()
    for node in ast.walk(ast.parse(program.code)):  # which takes no `await` outside of a function
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported & {*PACKAGES} <= {"citewell"}


def test_only_those_who_start_processes_import_the_face() -> None:
    for package in {*PACKAGES} - {"citewell", "cli", "bench"}:
        for file in (ROOT / package).rglob("*.py"):
            assert "import citewell" not in (code := file.read_text(encoding="utf-8")), file
            assert "from citewell" not in code, file
