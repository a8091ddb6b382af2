"""Benchmark of moving a workspace to another database: how long changes are refused, while a writer goes on and on.

Both databases are of one embedded server. Documents of twenty segments are ingested again under the move, each with
another text, until the workspace refuses; there are sessions with events and messages besides, which the writer
leaves alone. What the guards cost a row is measured by updates with and without them, in turns.
"""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

import psycopg
from pydantic import SecretStr

from bench.common_bench import cpu_seconds
from bench.corpus import Corpus
from bench.figures import Figure, figure
from bench.libraries import BenchWorkspace, fill_workspace
from graph.errors import WorkspaceMoved, WorkspaceMoving
from graph.evidence import Identity
from tools.embeddings.embedder import open_embedder
from tools.library.ingestion import NewDocument
from tools.moves.moving import MoveLimits, Report, opened_move
from tools.process.library import Library, open_library
from tools.settings import Settings, load_settings
from tools.storage.embedded import EmbeddedServer, start_embedded
from tools.storage.startup import migrate

SIZES = (5_000, 40_000)  # segments
SESSIONS = 500  # each with two messages and twenty events
UPDATED, ROUNDS = 5_000, 7

TALKED = """
WITH made AS (
    INSERT INTO sessions (session_id, workspace, "user")
    SELECT gen_random_uuid(), %(workspace)s, 'ann' FROM generate_series(1, %(sessions)s) RETURNING session_id
), answered AS (
    INSERT INTO runs (run_id, session_id, workspace, "user", question, status, outcome, stop_reason, finished_at)
    SELECT gen_random_uuid(), session_id, %(workspace)s, 'ann', 'Why?', 'finished', 'answered', 'complete', now()
    FROM made
    RETURNING run_id, session_id
), told AS (
    INSERT INTO run_events (run_id, seq, type, payload)
    SELECT run_id, seq, 'text_delta', repeat('word ', 40) FROM answered, generate_series(1, 20) AS seq
)
INSERT INTO messages (message_id, session_id, role, content)
SELECT gen_random_uuid(), session_id, role, repeat('word ', 200) FROM made, unnest('{user,assistant}'::text[]) AS role
"""


async def run(folder: Path) -> list[Figure]:
    """Move workspaces of each size under a writer, and measure what the guards cost."""
    server = await asyncio.to_thread(start_embedded, folder / "postgres")
    try:
        figures: list[Figure] = []
        for size in SIZES:
            here, there = [await _database(server, folder, f"{name}_{size}") for name in ("here", "there")]
            figures += await _moved(here, there, size)
        return figures + await _guarded(here)
    finally:
        await asyncio.to_thread(server.release)


async def _database(server: EmbeddedServer, folder: Path, name: str) -> Settings:
    def create() -> None:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())

    await asyncio.to_thread(create)
    settings = load_settings(database_url=SecretStr(server.url(name)), data_dir=folder / name, pool_size=4)
    await migrate(settings)
    return settings


async def _moved(here: Settings, there: Settings, size: int) -> list[Figure]:
    corpus, embedder = Corpus(19), await open_embedder(here)
    documents = list(corpus.documents(size // 20))
    vectors = await embedder.embed([body for each in documents for body in each.bodies()])
    async with open_library(here) as library:
        number = await library.workspaces.create("tenant")
        async with library.database.connection() as conn:
            await fill_workspace(conn, BenchWorkspace("tenant", number, documents, vectors))
            await conn.execute(TALKED, {"workspace": number, "sessions": SESSIONS})
        writing = asyncio.create_task(_write(library, [(each.document_id, each.text) for each in documents]))
        used = time.process_time()
        report = await _move(library.database.url, _url(there))
        used = time.process_time() - used
        written = await writing
    first, second = report.passes[:2]
    of = f"{size:,} segments"
    return [
        figure(f"{of}: rows of the first pass", first.rows, "rows"),
        figure(f"{of}: first pass", first.seconds, "s"),
        figure(f"{of}: second pass, which compares every row", second.seconds, "s"),
        figure(f"{of}: documents written meanwhile", written, "documents"),
        figure(f"{of}: rows of the last pass", report.passes[-1].rows, "rows"),
        figure(f"{of}: changes refused", report.changes_refused_seconds, "s"),
        figure(f"{of}: CPU of the process, the writer's with it", used, "s"),
    ]


async def _write(library: Library, documents: list[tuple[str, str]]) -> int:
    written = 0
    with suppress(WorkspaceMoving, WorkspaceMoved):
        for round_ in range(1_000):
            for document_id, text in documents:
                new = NewDocument(document_id=document_id, title=f"Title {round_}", text=f"{text}\n\nRound {round_}.")
                await library.ingestor.ingest(Identity("tenant"), new)
                written += 1
    return written


async def _move(source: str, target: str) -> Report:
    limits = MoveLimits(runs=60, closed=120, lock=60)
    async with opened_move(source, target, "tenant", limits=limits, on_progress=print) as moving:
        return await moving.run()


def _url(settings: Settings) -> str:
    assert settings.database_url is not None
    return settings.database_url.get_secret_value()


async def _guarded(settings: Settings) -> list[Figure]:
    """Compare the server's CPU time of an update with the guards and without."""
    taken: dict[str, list[float]] = {"ENABLE": [], "DISABLE": []}
    async with await psycopg.AsyncConnection.connect(_url(settings), autocommit=True) as conn:
        await conn.execute(
            "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
            " SELECT 1, gen_random_uuid(), 'T', 'text/plain', 'x' FROM generate_series(1, %s)",
            [UPDATED],
        )
        for _ in range(ROUNDS):
            for guards, seconds in taken.items():
                await conn.execute(f"ALTER TABLE documents {guards} TRIGGER guarded".encode())
                before = cpu_seconds(conn)
                await conn.execute("UPDATE documents SET slug = 'x' WHERE workspace = 1")
                seconds.append(cpu_seconds(conn) - before)
                await conn.execute("VACUUM documents")
    microseconds = {guards: median(seconds) / UPDATED * 1e6 for guards, seconds in taken.items()}
    return [
        figure("a row changed without guard", microseconds["DISABLE"], "µs CPU"),
        figure("a row changed with guard", microseconds["ENABLE"], "µs CPU"),
    ]
