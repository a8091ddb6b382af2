"""docs/operations.md, followed: an earlier release's database is upgraded, and a dump is restored into an empty one.

``fixtures/releases/0003.dump`` is what pg_dump wrote of a library that the release of migration 0003 made by its own
code: the handbook of ``old_threads``, and a session of its two questions.
"""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pydantic import SecretStr

from graph.context import Context
from graph.entrypoint import Citewell, open_citewell
from graph.errors import ConfigurationError
from graph.events import RunFinished
from graph.evidence import Identity
from migrations import revisions
from tests.postgres.old_threads import BROKEN_OFF, HANDBOOK, QUESTIONS
from tools.library.ingestion import NewDocument
from tools.process.library import Library
from tools.sessions.run_request import RunRequest
from tools.settings import Settings
from tools.storage.embedded import EmbeddedServer
from tools.storage.startup import migrate, open_database

ME = Identity()
RELEASES = Path(__file__).resolve().parents[1] / "fixtures" / "releases"
QUOTES = ["Every employee gets 25 days of annual leave a year.", "Unused leave lapses in March."]
_numbers = count(1)


@pytest.fixture
async def empty_database(postgres: EmbeddedServer) -> AsyncIterator[str]:
    """The address of a database with nothing in it."""
    name = sql.Identifier(f"restored_{next(_numbers)}")
    async with await psycopg.AsyncConnection.connect(postgres.url(), autocommit=True) as connection:
        await connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
        yield postgres.url(name.as_string().strip('"'))
        await connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


async def run(server: EmbeddedServer, program: str, *arguments: str) -> None:
    """Run a program of the bundled PostgreSQL to its end."""
    path = server.binaries / program
    process = await asyncio.create_subprocess_exec(path, *arguments, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()


async def restore(server: EmbeddedServer, file: Path, url: str) -> None:
    await run(server, "pg_restore", "--no-owner", "--exit-on-error", f"--dbname={url}", str(file))


def deployed_on(settings: Settings, url: str) -> Settings:
    return settings.model_copy(update={"database_url": SecretStr(url)})


async def ask(citewell: Citewell, session_id: str, question: str) -> RunFinished:
    end = await (await citewell.runner.start(session_id, RunRequest(question, Context()))).finished()
    assert isinstance(end, RunFinished)
    return end


async def count_events(url: str) -> int:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        row = await (await connection.execute("SELECT count(*) FROM run_events")).fetchone()
    assert row is not None
    return int(row[0])


async def see_proven(library: Library, citations: list[dict[str, Any]]) -> None:
    """See that each citation is an exact slice of the text that is stored now."""
    for citation in citations:
        [page] = await library.reader.read_pages([citation["document_id"]], ME)
        text = "".join(segment.text for segment in page.segments)
        assert text[citation["start"] : citation["end"]] == citation["quote"]


async def test_the_database_of_an_earlier_release_is_upgraded(
    settings: Settings, postgres: EmbeddedServer, empty_database: str
) -> None:
    deployed = deployed_on(settings, empty_database)
    await restore(postgres, RELEASES / "0003.dump", empty_database)
    with pytest.raises(ConfigurationError, match="0004"):
        async with open_database(deployed):
            pass
    events = await count_events(empty_database)
    applied = await migrate(deployed)
    assert await count_events(empty_database) == events > 0
    assert [each for each in applied if each != "checkpointer"] == [each for each in revisions() if each > "0003"]
    assert await migrate(deployed) == []
    async with open_citewell(deployed) as citewell:
        library = citewell.library
        [session] = (await library.sessions.list(ME)).sessions
        history = await library.sessions.get(ME, session.session_id)
        assert [m.content for m in history.messages if m.role == "user"] == list(QUESTIONS)
        kept = [citation for answer in history.messages[1::2] for citation in answer.body["citations"]]
        assert [citation["quote"] for citation in kept] == QUOTES
        assert {citation["freshness"] for citation in kept} == {"fresh"}
        await see_proven(library, kept)
        end = await ask(citewell, session.session_id, BROKEN_OFF)
        [citation] = end.message["citations"]
        assert "The notice period is three months." in citation["quote"]
        await see_proven(library, [dict(citation) for citation in end.message["citations"]])
        again = await library.ingestor.ingest(ME, HANDBOOK)
        assert again.document_id == HANDBOOK.document_id


async def test_a_dump_restored_elsewhere_answers_as_before(
    settings: Settings, postgres: EmbeddedServer, empty_database: str, tmp_path: Path
) -> None:
    file = NewDocument(document_id=HANDBOOK.document_id, name="handbook.md", data=(HANDBOOK.text or "").encode())
    async with open_citewell(settings) as citewell:
        await citewell.library.ingestor.ingest(ME, file)
        session_id = (await citewell.library.sessions.create(ME, title="Leave")).session_id
        told = [await ask(citewell, session_id, question) for question in QUESTIONS]
        url = citewell.library.database.url
        await run(postgres, "pg_dump", "--format=custom", "--no-owner", f"--file={tmp_path / 'citewell.dump'}", url)
    await restore(postgres, tmp_path / "citewell.dump", empty_database)
    assert await count_events(empty_database) == await count_events(url) > 0
    async with open_citewell(deployed_on(settings, empty_database)) as citewell:
        library = citewell.library
        history = await library.sessions.get(ME, session_id)
        answers = history.messages[1::2]
        assert [answer.content for answer in answers] == [end.message["answer"] for end in told]
        kept = [citation for answer in answers for citation in answer.body["citations"]]
        assert {citation["freshness"] for citation in kept} == {"fresh"}
        await see_proven(library, kept)
        end = await ask(citewell, (await library.sessions.create(ME)).session_id, QUESTIONS[0])
        assert end.message["citations"] == told[0].message["citations"]
        original = await library.originals.find(ME, str(HANDBOOK.document_id))
        assert await library.originals.read_whole(original) == file.data
