"""Help is there for every command, and costs no more than Python and typer."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    *(
        [name]
        for name in ("demo", "ingest", "ask", "search", "serve", "doctor", "migrate", "reindex", "purge", "expire")
    ),
    *(["documents", name] for name in ("list", "show", "raw", "delete")),
    *(["sessions", name] for name in ("list", "show", "rename", "delete")),
    *(["workspaces", name] for name in ("create", "list", "delete")),
    *(["keys", name] for name in ("create", "list", "revoke")),
    ["eval", "xquad"],
    ["eval", "small-talk"],
]
# pydantic is left out: typer itself reads parameters with it.
HEAVY = {"alembic", "fastapi", "langchain_core", "langgraph", "numpy", "openai", "psycopg", "rich", "wordllama"}
SCRIPT = """
import sys
from cli.main import main
sys.argv = ["citewell", *{arguments}, "--help"]
try:
    main()
except SystemExit as exit:
    print("exit", exit.code, file=sys.stderr)
print(*(name.partition(".")[0] for name in sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [[], *COMMANDS], ids=" ".join)
def test_help_is_useful_and_imports_nothing_heavy(arguments: list[str]) -> None:
    code = SCRIPT.format(arguments=arguments)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    status, modules = done.stderr.splitlines()
    assert status == "exit 0"
    assert "Usage: citewell" in done.stdout
    assert HEAVY & set(modules.split()) == set()
    if arguments and arguments[0] != "serve":
        assert "--json" in done.stdout


def test_help_names_every_command() -> None:
    code = SCRIPT.format(arguments=[])
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    for command in COMMANDS:
        assert f"\n  {command[0]} " in done.stdout
