"""The manual says what the code does. ``UPDATE_DOCS=1 pytest`` redraws what is made from code."""

import json
import os
import re
from pathlib import Path

import pytest

from bench.manual import PAGE, filled
from graph.builder import build
from tests.fakes import MemoryLibrary, ScriptedFamily, resources

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_manual_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_tables_of_benchmarks_are_those_that_were_measured() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))) == page
