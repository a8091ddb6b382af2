"""Every Python program of the manual runs as it stands, over a library that holds the manual."""

import asyncio
import gc
import re
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from api.app import create_app
from citewell.backends import Backend
from citewell.dialects import Dialect
from citewell.judges import JudgeKind
from citewell.parsers import Parser
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.serving import served
from tests.conftest import NO_FILE, QUICKLY
from tests.manual_programs import PROGRAMS, ROOT, STUDIO_PROGRAMS, Program
from tests.scripted_openai import ScriptedOpenAI, say, scripted_openai
from tools.auth.api_keys import ApiKeys
from tools.library.found_files import unread_files
from tools.library.ingestion import NewDocument, Refused
from tools.settings import Settings

__all__ = ["scripted_openai"]

QUESTION = "When does unused leave lapse?"
PLUGINS = {"dialects": Dialect, "parsers": Parser, "backends": Backend, "judges": JudgeKind}
# What a program has to print: the library's words, not ours.
PRINTED = {
    "langchain-1": "Up to five days",
    "langchain-2": "Five days.",
    "python-1": "25 days of annual leave",
    "python-2": "Unused leave lapses in March.",
    "python-3": "'unverified': 1",
    "ingestion-1": "House rules",
    "dialect-langgraph-1": "cited_text",
    "dialect-openai-1": "answered",
    "dialect-responses-1": "url_citation",
    "dialect-responses-2": "citation",
    "mcp-1": "supported",
}


@pytest.fixture(scope="module")
async def manual(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    """A deployment whose library holds the manual: its environment, and what the manual's addresses are to become."""
    folder = tmp_path_factory.mktemp("manual")
    settings = Settings(
        **NO_FILE, database_url=SecretStr(shared_database_url), data_dir=folder, pool_timeout_seconds=10, runs=QUICKLY
    )
    async with open_citewell(settings) as citewell:
        pages = [*(ROOT / "docs").glob("*.md"), ROOT / "docs" / "demo"]
        files = unread_files(pages, settings.workspace, NewDocument(source_type="file"))
        reports = citewell.library.ingestor.ingest_many(Identity(), files)
        assert [report async for report in reports if isinstance(report, Refused)] == []
        async with served(create_app(settings, citewell=citewell)) as url:
            key = await ApiKeys(citewell.library.database, citewell.library.workspaces).create("default", "ann")
            yield {"http://127.0.0.1:8400": url, "https://citewell.example.com": url, "cw_...": key}


@pytest.fixture
def chainlit(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The little of chainlit that the manual uses; its messages land in the list. The package itself is not locked."""
    sent: list[Any] = []

    class Message(SimpleNamespace):
        async def send(self) -> None:
            sent.append(self)

    module: Any = ModuleType("chainlit")
    module.Message, module.Text, module.on_message = Message, SimpleNamespace, lambda handler: handler
    module.chat_context = SimpleNamespace(to_openai=lambda: [{"role": "user", "content": QUESTION}])
    monkeypatch.setitem(sys.modules, "chainlit", module)
    return sent


@pytest.fixture
def ended() -> Iterator[None]:
    """Find within the test what its program leaves open: the clients of others, which the end of a process closes."""
    yield
    gc.collect()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <(socket|function _Sel):pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.usefixtures("ended")
@pytest.mark.parametrize("program", [each for each in PROGRAMS if each not in STUDIO_PROGRAMS], ids=str)
async def test_a_program_of_the_manual_runs(
    program: Program,
    manual: dict[str, str],
    shared_database_url: str,
    scripted_openai: ScriptedOpenAI,
    chainlit: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CITEWELL_DATABASE_URL", shared_database_url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    if "http://127.0.0.1:11434" in program.code:
        scripted_openai.script(say("Five days."), say("Five days."))
    there = {**manual, "http://127.0.0.1:11434/v1": scripted_openai.base_url}
    names, printed = await asyncio.to_thread(program.run, there)
    assert PRINTED.get(str(program), "") in printed
    assert printed or "chainlit" in program.code or plugins_of(program, names)
    for group, plugin in plugins_of(program, names):
        assert isinstance(plugin, PLUGINS[group])
    if "chainlit" in program.code:
        await names["answer"](None)
        [message] = chainlit
        assert message.content
        assert message.elements


def plugins_of(program: Program, names: dict[str, Any]) -> list[tuple[str, Any]]:
    """List what the entry points of a program's page find in it, with their group."""
    found = []
    for block in re.findall(r"^```toml\n(.*?)^```", program.page.read_text(encoding="utf-8"), re.M | re.DOTALL):
        groups = tomllib.loads(block).get("project", {}).get("entry-points", {})
        for group, points in groups.items():
            named = {point.partition(":")[2] for point in points.values()} & names.keys()
            found += [(group.removeprefix("citewell."), names[name]) for name in named]
    return found
