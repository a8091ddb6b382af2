"""The manual says what the code does. ``UPDATE_DOCS=1 pytest`` redraws what is made from code."""

import json
import os
import re
from functools import cache
from pathlib import Path

import pytest

from api.dialects.registry import DIALECTS
from bench.figures import PAGE, with_result_tables
from graph.builder import build
from research.__main__ import app
from tests.fakes import MemoryLibrary, ScriptedFamily, resources
from tools.parsers.parser_registry import BUNDLED, SOURCES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "research" / "README.md"])
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")


def test_the_drawing_of_the_graph_is_made_from_the_code() -> None:
    page = DOCS / "architecture.md"
    text = page.read_text(encoding="utf-8")
    drawing = build(resources(MemoryLibrary([]), ScriptedFamily())).compile().get_graph().draw_mermaid()
    body = re.sub(r"^---\n.*?\n---\n", "", drawing, flags=re.DOTALL).strip()
    block = f"<!-- graph:begin -->\n```mermaid\n{body}\n```\n<!-- graph:end -->"
    drawn = re.sub(r"<!-- graph:begin -->.*<!-- graph:end -->", lambda _: block, text, flags=re.DOTALL)
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(drawn, encoding="utf-8")
    assert drawn == text or os.environ.get("UPDATE_DOCS")


TEST = re.compile(r"`(?:tests/)?((?:api|contract|e2e|graph|page|postgres|unit|wire)/[\w/]+\.py)(?:::(\w+))?`")


@pytest.mark.parametrize("page", ["clients.md", "security.md"])
def test_tests_and_scripts_that_the_manual_names_are_there(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    named = TEST.findall(text)
    assert named
    for path, name in named:
        source = (ROOT / "tests" / path).read_text(encoding="utf-8")
        assert not name or re.search(rf"^(?:async )?def {name}\(", source, re.MULTILINE), f"{path}::{name}"
    for script in re.findall(r"`(research/[\w/]+\.\w+)`", text):
        assert (ROOT / script).exists(), script


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_manual_lead_somewhere(page: Path) -> None:
    for target, place in LINK.findall(page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            linked = page.parent / target if target else page
            assert linked.exists(), f"{page.name} links to {target}"
            assert not place or place in places(linked), f"{page.name} links to {target}#{place}"


@pytest.mark.parametrize("page", ["README.md", "docs/api.md", "docs/dialects.md"])
def test_every_wire_format_is_found_from(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    told = {"native"} | {path.stem.removeprefix("dialect-").replace("-", "_") for path in DOCS.glob("dialect-*.md")}
    assert told == set(DIALECTS)
    for path in DOCS.glob("dialect-*.md"):
        assert f"{path.name})" in text


def test_files_that_the_manual_names_are_there() -> None:
    for page in PAGES:
        for named in re.findall(
            r"`((?:api|bench|cli|evals|graph|nodes|research|tests|tools)/[\w./*-]+)`", page.read_text(encoding="utf-8")
        ):
            assert list(ROOT.glob(named.rstrip("/"))), f"{page.name} names {named}"


def test_the_page_of_research_names_every_command() -> None:
    page = (ROOT / "research" / "README.md").read_text(encoding="utf-8")
    measured = page.split("## Measure")[1].split("## Fit again")[0]
    commands = {command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands}
    assert set(re.findall(r"^\| `([a-z-]+)[^`]*` \|", measured, re.MULTILINE)) == commands
    fits = re.findall(r"`python -m (research\.fitting\.[\w.]+) ", page)
    assert {f"fitting/{fit.rpartition('.')[2]}.py" for fit in fits} == {
        f"fitting/{path.name}" for path in (ROOT / "research" / "fitting").glob("fit_*.py")
    }


def test_the_signs_by_which_a_deployment_grows_are_metrics_that_there_are() -> None:
    signs, metrics = [(DOCS / page).read_text(encoding="utf-8") for page in ("scale.md", "operations.md")]
    named = set(re.findall(r"`(citewell_[a-z_]+)", signs))
    assert named
    assert named <= set(re.findall(r"`(citewell_[a-z_]+)`", metrics))


@cache
def places(page: Path) -> set[str]:
    """Give the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = sum(1 for other in found if re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", other))
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def test_the_tables_of_benchmarks_are_those_that_were_measured() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_result_tables(page, json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))) == page


def test_every_format_that_is_read_is_in_the_manual() -> None:
    page = (DOCS / "ingestion.md").read_text(encoding="utf-8")
    sources = {suffix for _, _, suffixes in SOURCES for suffix in suffixes}  # of which it names some
    told = {suffix for parser in BUNDLED for suffix in parser.suffixes if f"`{suffix}`" in page}
    assert {suffix for parser in BUNDLED for suffix in parser.suffixes} - sources <= told
