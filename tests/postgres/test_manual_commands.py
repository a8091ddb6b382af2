"""Every fenced block of the pages that a newcomer reads runs as it stands, or is listed with the reason why not."""

import asyncio
import json
import os
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import NO_EXAM, NO_FILE
from tests.e2e.test_cli_eval import FERRY, QUESTION
from tests.manual_blocks import ROOT, Block, blocks_of
from tests.manual_programs import PROGRAMS
from tests.postgres.test_manual_programs import manual
from tests.unit.pdf_files import pdf
from tools.settings import Settings

__all__ = ["manual"]

PAGES = ["README.md", *(f"docs/{name}.md" for name in ("quickstart", "models", "langchain", "api", "mcp", "clients"))]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]
SETTINGS = [block for block in BLOCKS if block.is_settings]
# Lines of commands that are not run here, by how they begin, and why.
NOT_RUN = {
    "make demo": "it makes an environment: `python -m bench.newcomer`, and tests/e2e/test_demo.py without that",
    "make test": "it runs this",
    "make serve": "its server is the one that these commands call",
    ". .venv/bin/activate": "the tests' environment is in use",
    "citewell model add": "it looks for model servers on this machine: tests/e2e/test_cli_model.py",
    "citewell ask --model local": "the transcript of a small model, which the page calls older",
    "pip install": "it changes the environment",
    """curl -s localhost:8400/api/documents -H 'content-type: application/json' \\
  -d '{"url\"""": "a page of the web that there is not: tests/postgres/test_web_pages.py",
    "curl -s localhost:8400/api/sources": "a repository that there is not: tests/unit/test_git_over_https.py",
}
REFUSED = {"Why?"}  # what a block has whose request is there to be refused
# What a page's commands have to print: the library's words, or names of the wire.
PRINTED = {
    "README": ["25 days of annual leave", "4 claims: 1 quoted, 3 unverified."],
    "quickstart": ["25 days of annual leave", '"quote"', "Every employee gets"],
    "langchain": ["recall"],
    "api": ["event: run_finished", '"answered"', '"run_id"', '"status":"created"', '"results":', '"invalid_request"'],
    "mcp": ["notifications/progress", "structuredContent"],
}
HANDBOOK = """# Leave

Every employee gets 25 days of annual leave a year. Unused leave lapses in March.

# Notice

The notice period is three months. It is one month during probation.
"""
ANSWER = """Every employee gets 25 days of annual leave a year [1]. Unused leave lapses in April [1].
During probation, notice of one month is enough [1]. The canteen is closed on Sundays [2].
"""
# Placeholders of a page, and what a reader would put there.
KNOWN = {
    "SESSION": "$(curl -s localhost:8400/api/sessions | jq -r '.sessions[0].session_id')",
    "DOCUMENT": "$(curl -s localhost:8400/api/documents?title=handbook | jq -r '.documents[0].document_id')",
}
SHELL = """set -euo pipefail
curl() { command curl --noproxy '*' --fail-with-body "$@"; }
"""


def run_lines(block: Block) -> str:
    """Return the lines of a block without those of ``NOT_RUN``; none where only comments are left."""
    code = block.commands
    for begins in NOT_RUN:
        while (at := f"\n{code}".find(f"\n{begins}")) >= 0:
            end = at
            while (end := code.find("\n", end)) > 0 and code[end - 1] == "\\":
                end += 1
            code = code[:at] + code[end + 1 :]
    return code if any(line and not line.startswith("#") for line in code.splitlines()) else ""


def commands_of(page: str) -> list[str]:
    """List what is run of each block of a page that has commands."""
    return [code for block in blocks_of(page) if not block.is_settings and (code := run_lines(block))]


def test_every_block_is_run_or_there_is_a_reason() -> None:
    programs = {str(program.page.relative_to(ROOT)) for program in PROGRAMS}
    assert not {str(block.page.relative_to(ROOT)) for block in BLOCKS if block.language == "python"} - programs
    for begins in NOT_RUN:
        assert any(f"\n{begins}" in f"\n{block.commands}" for block in BLOCKS), f"no page has {begins!r} any more"
    assert {block.language for block in BLOCKS} <= {"python", "sh", "text", "json", "toml", ""}
    for block in BLOCKS:
        assert block.language or "$ " not in block.text, f"{block} has commands: it is `sh` or `text`"


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.language in {"json", "toml"}], ids=str)
def test_data_that_a_page_shows_is_data(block: Block) -> None:
    assert json.loads(block.text) if block.language == "json" else tomllib.loads(block.text)


@pytest.mark.parametrize("block", SETTINGS, ids=str)
def test_settings_that_a_page_shows_are_taken(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run_lines(block).splitlines()
    shown = dict(part.split("=", 1) for line in lines for part in shlex.split(line))
    for name, value in shown.items():
        monkeypatch.setenv(name, value)
    assert Settings(**NO_FILE).model_fields_set


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the files that the pages' commands name."""
    (tmp_path / "handbook").mkdir()
    for name in ("handbook.md", "handbook/handbook.md"):
        (tmp_path / name).write_text(HANDBOOK, encoding="utf-8")
    (tmp_path / "answer.md").write_text(ANSWER, encoding="utf-8")
    (tmp_path / "notes.md").write_text("# Notes\n\nThe lift is mended in May.\n", encoding="utf-8")
    for name in ("report.pdf", "plan.pdf"):
        (tmp_path / name).write_bytes(pdf([["The tower has 212 steps."]]))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "documents.jsonl").write_text(json.dumps(FERRY) + "\n", encoding="utf-8")
    (tmp_path / "mine" / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(not (shutil.which("jq") and shutil.which("curl")), reason="the pages use curl and jq")
@pytest.mark.parametrize("page", [page for page in PAGES if any(commands_of(page))])
async def test_the_commands_of_a_page_run(
    page: str, manual: dict[str, str], shared_database_url: str, desk: Path
) -> None:
    script = SHELL
    for code in commands_of(page):
        for shown, used in KNOWN.items():
            code = code.replace(f" {shown}", f" {used}")
        for shown, used in {**manual, "localhost:8400": manual["http://127.0.0.1:8400"]}.items():
            code = code.replace(shown, used)
        refused = any(each in code for each in REFUSED)
        script += f"if {{ {code}\n}}; then exit 1; fi\n" if refused else code
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **NO_EXAM, "PATH": path, "CITEWELL_DATABASE_URL": shared_database_url}
    environment |= {"CITEWELL_DATA_DIR": str(desk / "data"), "NO_COLOR": "1", "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    pipe, same = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    running = await asyncio.create_subprocess_exec(
        "bash", "-c", script, cwd=desk, env=environment, stdout=pipe, stderr=same
    )
    out = (await running.communicate())[0].decode()
    assert running.returncode == 0, out[-3000:]
    for words in PRINTED[Path(page).stem]:
        assert words in out
    if page == "README.md":
        [shown] = [block.text for block in blocks_of(page) if "$ cat answer.md" in block.text]
        assert shown.partition("\n")[2] in out
