"""Threads as earlier releases left them: rows of the session and of the checkpointer, kept in files.

    python -m tests.postgres.old_threads NAME

writes ``threads/NAME.json`` as this release leaves a thread of three turns, the last of which broke off before its
claims were checked. Files are never written anew: a later release has to read them as they are.
"""

import asyncio
import base64
import json
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from graph.evidence import Identity
from tests.postgres.conversing import ME, Conversation
from tools.library.ingestion import NewDocument
from tools.process.library import Library, open_library
from tools.sessions.pruning import prune_thread
from tools.settings import Settings
from tools.storage.database import Database

Rows = dict[str, list[dict[str, Any]]]  # by table
FOLDER = Path(__file__).parent / "threads"
HANDBOOK = NewDocument(
    document_id="7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a01",
    name="handbook.md",
    title="Staff handbook",
    text=(
        "# Leave\n\nEvery employee gets 25 days of annual leave a year. Unused leave lapses in March.\n\n"
        "# Notice\n\nThe notice period is three months. It is one month during probation.\n"
    ),
)
QUESTIONS = ("How many days of annual leave does an employee get?", "When does unused leave lapse?")
BROKEN_OFF = "How long is the notice period?"
# In the order in which they refer to each other; a row of a later table names rows of earlier ones.
TABLES = {
    "sessions": "session_id = %s::uuid",
    "runs": "session_id = %s::uuid",
    "messages": "session_id = %s::uuid",
    "checkpoints": "thread_id = %s",
    "checkpoint_blobs": "thread_id = %s",
    "checkpoint_writes": "thread_id = %s",
}


def threads() -> dict[str, Rows]:
    """Read the threads that are kept."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}


async def load(database: Database, kept: Rows) -> str:
    """Put a kept thread into a database, as a session of the default workspace; gives its id."""
    async with database.connection() as connection, connection.transaction():
        for table in TABLES:
            for row in kept[table]:
                names = sql.SQL(", ").join(map(sql.Identifier, row))
                values = sql.SQL(", ").join([sql.Placeholder()] * len(row))
                insert = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(sql.Identifier(table), names, values)
                await connection.execute(insert, [_stored(value) for value in row.values()])
    return str(kept["sessions"][0]["session_id"])


async def keep(library: Library, session_id: str) -> Rows:
    """Read a thread's rows as a file holds them; JSON columns stay nested, bytes are in base64."""
    kept = {}
    async with library.database.connection() as connection, connection.cursor(row_factory=dict_row) as rows:
        for table, whose in TABLES.items():
            query = sql.SQL("SELECT * FROM {} WHERE {} ORDER BY 1, 2, 3").format(
                sql.Identifier(table),
                sql.SQL(whose),
            )
            found = await (await rows.execute(query, [session_id])).fetchall()
            kept[table] = [{name: _kept(value) for name, value in row.items() if value is not None} for row in found]
    kept["messages"].sort(key=lambda row: row["created_at"])
    return kept


def _kept(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, dict | list):
        return {"json": value}
    return value.isoformat() if isinstance(value, datetime) else str(value) if isinstance(value, UUID) else value


def _stored(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return base64.b64decode(value["base64"]) if "base64" in value else Jsonb(value["json"])


async def converse(library: Library) -> str:
    """Hold the conversation that is kept; gives its session's id."""
    await library.ingestor.ingest(Identity(), HANDBOOK)
    conversation = Conversation(library, (await library.sessions.create(ME, title="Leave")).session_id)
    for question in QUESTIONS:
        await conversation.ask(question)
        async with library.database.connection() as connection:
            await prune_thread(connection, conversation.session_id)
    await conversation.follow(BROKEN_OFF, interrupt_before=["check_claims"])
    return conversation.session_id


async def _today(folder: Path) -> Rows:
    options: dict[str, Any] = {"_env_file": None, "data_dir": folder}
    async with open_library(Settings(**options)) as library:
        return await keep(library, await converse(library))


def write(path: Path) -> None:
    """Write a thread of this release to a file that is not there yet."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o711)  # as root, the server's own account passes through
        kept = asyncio.run(_today(Path(folder)))
    with path.open("x", encoding="utf-8") as file:
        json.dump(kept, file, ensure_ascii=False, indent=1)
        file.write("\n")


if __name__ == "__main__":
    write(FOLDER / f"{sys.argv[1]}.json")
