"""What one traced question touches: ``python -m bench.trace_question`` prints modules, functions, calls and statements.

The question is the second of its session, asked over HTTP of the whole application in one process, by the extractive
family. Every Python call of this repository's own code is counted, in all threads, and every statement that reaches
psycopg; ``bench.statements`` names them. ``--modules`` lists the modules as well.
"""

import asyncio
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import uuid4

import httpx
from rich.console import Console

from api.app import create_app
from bench.statements import recorded_statements
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tools.library.ingestion import NewDocument
from tools.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
OWN = ("answers", "api", "graph", "nodes", "prompts", "text", "tools")
PAGES = ("proof.md", "runs.md", "sessions.md", "quickstart.md", "concepts.md")
QUESTIONS = ("What is a verdict?", "How long does the log of a run live?")


class Trace:
    """Calls of this repository's own code, and statements sent to PostgreSQL."""

    def __init__(self) -> None:
        self.functions: Counter[tuple[str, str]] = Counter()
        self.moves = 0
        self.statements: Counter[str] = Counter()
        self._names: dict[str, str | None] = {}

    @property
    def modules(self) -> list[str]:
        """Every module in which a function ran."""
        return sorted({module for module, _ in self.functions})

    @property
    def lines(self) -> int:
        """How many lines these modules have."""
        return sum(len((ROOT / module).read_text(encoding="utf-8").splitlines()) for module in self.modules)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what is called inside the block."""
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            with recorded_statements() as self.statements:
                yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (module := self._own(frame.f_code.co_filename)) is None:
            return
        self.functions[module, frame.f_code.co_qualname] += 1
        back = frame.f_back
        before = self._own(back.f_code.co_filename) if back is not None else None
        self.moves += before is not None and before != module

    def _own(self, file: str) -> str | None:
        if file not in self._names:
            path = Path(file)
            own = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in OWN
            self._names[file] = path.relative_to(ROOT).as_posix() if own else None
        return self._names[file]


async def trace(folder: Path) -> Trace:
    """Ask the second question of a session under the trace, over a library of five pages of the manual."""
    settings = load_settings(data_dir=folder / "data")
    documents = [
        NewDocument(document_id=str(uuid4()), title=page, text=(ROOT / "docs" / page).read_text(encoding="utf-8"))
        for page in PAGES
    ]
    recorded = Trace()
    async with open_citewell(settings) as citewell:
        await citewell.library.workspaces.ensure(settings.workspace)
        async for report in citewell.library.ingestor.ingest_many(Identity(), documents):
            assert report.status != "refused", report.reason
        transport = httpx.ASGITransport(app=create_app(settings, citewell=citewell))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
            session = (await client.post("/api/sessions", json={})).json()["session_id"]
            first, second = QUESTIONS
            await _ask(client, session, first)
            await asyncio.sleep(1)  # what a run does behind its end belongs to the first question
            with recorded.recording():
                await _ask(client, session, second)
                await asyncio.sleep(1)
    return recorded


async def _ask(client: httpx.AsyncClient, session: str, question: str) -> None:
    reply = await client.post(f"/api/sessions/{session}/runs", json={"question": question})
    assert "event: run_finished" in reply.text, reply.text[-500:]
    assert '"outcome":"answered"' in reply.text, reply.text[-500:]


def main(arguments: list[str]) -> None:
    """Print what the question touched."""
    console = Console()
    with tempfile.TemporaryDirectory(prefix="citewell-trace-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        recorded = asyncio.run(trace(Path(folder)))
    console.print(f"modules {len(recorded.modules)}, of {recorded.lines:,} lines")
    console.print(f"functions {len(recorded.functions)}, calls {sum(recorded.functions.values()):,}")
    console.print(f"calls from one module into another {recorded.moves:,}")
    console.print(f"statements {recorded.statements.total()}")
    for kind, count in sorted(recorded.statements.items()):
        console.print(f"  {count:3} {kind}")
    if "--modules" in arguments:
        console.print("\n".join(recorded.modules))


if __name__ == "__main__":
    main(sys.argv[1:])
