"""Help is there for every command, and costs no more than Python and typer."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    *(
        [name]
        for name in (
            "demo",
            "ingest",
            "sync",
            "ask",
            "search",
            "verify",
            "serve",
            "mcp",
            "worker",
            "doctor",
            "migrate",
            "reindex",
            "purge",
            "expire",
        )
    ),
    *(["documents", name] for name in ("list", "show", "raw", "delete")),
    *(["jobs", name] for name in ("list", "show", "cancel", "pause", "resume", "retry")),
    *(["sources", name] for name in ("list", "delete")),
    *(["sessions", name] for name in ("list", "show", "rename", "delete")),
    *(["workspaces", name] for name in ("create", "list", "tables", "delete")),
    *(["keys", name] for name in ("create", "list", "revoke")),
    *(["logins", name] for name in ("list", "revoke")),
    *(["judge", name] for name in ("exam", "list")),
    ["model", "add"],
    ["eval", "run"],
    ["eval", "report"],
    ["eval", "compare"],
    ["eval", "export"],
    ["eval", "from-feedback"],
    ["export"],
    ["eval", "retrieval"],
    ["eval", "prose"],
]
# pydantic is left out: typer itself reads parameters with it.
HEAVY = {
    "alembic",
    "fastapi",
    "langchain_core",
    "langgraph",
    "mcp",
    "mcp_types",
    "numpy",
    "openai",
    "psycopg",
    "rich",
    "wordllama",
}
# All commands are asked in one process, one after the other: what one imports, none does.
SCRIPT = """
import contextlib, io, json, sys
from cli.main import main

for arguments in json.load(sys.stdin):
    sys.argv = ["citewell", *arguments, "--help"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            main()
        except SystemExit as exit:
            code = exit.code
    modules = sorted({name.partition(".")[0] for name in sys.modules})
    print(json.dumps({"code": code, "out": out.getvalue(), "modules": modules}))
"""


@pytest.fixture(scope="module")
def helped() -> dict[str, Any]:
    """What each command says of itself, by its words."""
    asked = [[], *COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    told = map(json.loads, done.stdout.splitlines())
    return {" ".join(arguments): each for arguments, each in zip(asked, told, strict=True)}


@pytest.mark.parametrize("command", ["", *map(" ".join, COMMANDS)])
def test_help_is_useful_and_imports_nothing_heavy(helped: dict[str, Any], command: str) -> None:
    told = helped[command]
    assert told["code"] == 0
    assert "Usage: citewell" in told["out"]
    assert HEAVY & set(told["modules"]) == set()
    if command not in ("", "serve", "mcp"):
        assert "--json" in told["out"]


def test_help_names_every_command(helped: dict[str, Any]) -> None:
    for command in COMMANDS:
        assert f"\n  {command[0]} " in helped[""]["out"]
