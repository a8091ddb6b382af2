"""What is imported only by who needs it: one process imports ever more, and is looked at on the way.

What stands behind a place is missing there although all before has been imported too.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GRAPH = {"langgraph", "langchain_core", "langsmith"}
# By name, in order, what is imported.
PLACES = {
    "nothing": "",
    "the face": "import citewell",
    "the vocabulary": "import graph",
    "a question beside a server": "import cli.main, cli.running_server",
    "sessions": "import tools.sessions.session_store",
    "documents": "import tools.library.catalogue, tools.originals.originals",
    "a family of a model": """
from tools.llm.llm_family import llm_family
from tools.settings import ModelSettings
model = ModelSettings(name="m", base_url="http://127.0.0.1:9", model="m")
llm_family(model, thinking=False, checker=None, fallback=None)
""",
    "the graph": "import graph.entrypoint",
    "a server at rest": "import api.app, cli.serve, cli.http_server",
    "the retriever of LangChain": "import tools.langchain.library_retriever",
}
PROGRAM = """
import json, sys
for name, statements in json.load(sys.stdin).items():
    exec(statements)
    print(json.dumps([name, [*sys.modules]]))
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """The modules that are loaded at each place."""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=ROOT, input=json.dumps(PLACES), capture_output=True, text=True, check=True)
    return {name: {*modules} for name, modules in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize(
    ("place", "unneeded"),
    [
        ("a question beside a server", {*GRAPH, "numpy", "psycopg", "pydantic", "pydantic_settings", "rich"}),
        ("sessions", {*GRAPH, "numpy"}),
        ("documents", GRAPH),
        ("a family of a model", {"langchain_openai", "openai"}),
        (
            "the graph",
            {"alembic", "authlib", "docx", "fastapi", "langchain_openai", "lxml", "mcp", "openai", "sqlalchemy"},
        ),
        (
            "a server at rest",
            {"alembic", "authlib", "cryptography", "joserfc", "jwt", "lxml", "mcp", "mcp_types", "tokenizers"},
        ),
        ("the retriever of LangChain", {"langchain_postgres"}),
    ],
)
def test_what_others_need_is_not_imported(loaded: dict[str, set[str]], place: str, unneeded: set[str]) -> None:
    assert unneeded & {name.partition(".")[0] for name in loaded[place]} == set()


def test_importing_the_face_imports_nothing_else(loaded: dict[str, set[str]]) -> None:
    brought = {name.partition(".")[0] for name in loaded["the face"] - loaded["nothing"]}
    assert brought - sys.stdlib_module_names == {"citewell"}


def test_the_vocabulary_imports_nothing_by_itself(loaded: dict[str, set[str]]) -> None:
    assert [name for name in loaded["the vocabulary"] if name.startswith("graph.")] == []


@pytest.mark.parametrize(
    ("place", "module"), [("documents", "tools.retrieval.scope"), ("a server at rest", "api.mcp.endpoint")]
)
def test_what_is_needed_is_there(loaded: dict[str, set[str]], place: str, module: str) -> None:
    assert module in loaded[place]
