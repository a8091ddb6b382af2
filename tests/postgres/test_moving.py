"""Workspaces that move from one database to another: whole or not at all, wherever the move is cut short."""

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.context import Context
from graph.entrypoint import Citewell, open_citewell
from graph.errors import (
    CitewellError,
    ConfigurationError,
    EmbeddingMismatch,
    InvalidRequest,
    NotFound,
    SessionBusy,
    WorkspaceMoved,
    WorkspaceMoving,
)
from graph.evidence import Identity
from graph.ports import SearchQuery
from tests.api.serving import client_of
from tests.api.test_errors import assert_problem
from tests.conftest import NO_FILE, fresh_database
from tests.contract.searcher_kit import LIBRARY, LIGHTHOUSE, LONG, document
from tests.postgres.dying_mover import Moment, move_and_die
from tests.postgres.processes import log_of
from tests.postgres.proxy import proxied
from tests.postgres.test_crashes import FORKED
from tools.auth.api_keys import ApiKeys
from tools.library.versions import expire_versions
from tools.moves import moving
from tools.moves.moved_tables import IN_PARTS, LEFT_OUT, moved_tables
from tools.moves.moving import MoveLimits, OutsideOriginals, Report, abandon_move, opened_move, redacted_address
from tools.notes.pinning import answer_to_pin
from tools.originals.stores import open_object_store
from tools.process.expiry import Retention, expire
from tools.retrieval.placing import give_own_tables, share_tables_again
from tools.retrieval.reindexing import reindex
from tools.runs.leases import Leases
from tools.runs.live_run import new_run_id
from tools.sessions.run_request import RunRequest
from tools.sessions.shares import expire_shares
from tools.settings import AuthSettings, Settings
from tools.storage import partitions
from tools.storage.embedded import EmbeddedServer
from tools.storage.partitions import PART_SEGMENTS, lock_library, open_part
from tools.storage.tenants import may_change_closed

ANN = Identity("tenant", "ann")
QUICK = MoveLimits(runs=0.5, closed=20, lock=5)
LAST_TEXT = "The lamp turns. Its keeper oils gears."
QUESTIONS = ("Who oils the gears of the lamp?", "the lamp of the lighthouse", "守塔人什么时候给齿轮上油？")


@pytest.fixture
async def other(postgres: EmbeddedServer, template: str, settings: Settings) -> AsyncIterator[Settings]:
    """The settings of a deployment over another database."""
    async for url in fresh_database(postgres, template):
        yield settings.model_copy(update={"database_url": SecretStr(url)})


@dataclass(frozen=True, slots=True)
class Cell:
    """A deployment over one database."""

    citewell: Citewell
    settings: Settings

    @property
    def url(self) -> str:
        return self.citewell.library.database.url

    async def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        async with self.citewell.library.database.connection() as conn:
            return await (await conn.execute(statement.encode(), values)).fetchall()

    async def hits(self, text: str) -> list[tuple[str, float, str]]:
        query = SearchQuery(text, ANN, min_score=0.0, expand=1)
        found = await self.citewell.library.searcher.search(query)
        return [(hit.segment_id, hit.score, hit.segment.text) for hit in found.hits]

    async def ask(self, session_id: str, question: str) -> str:
        context = Context(workspace=ANN.workspace, user=ANN.user)
        run = await self.citewell.runner.start(session_id, RunRequest(question, context))
        await run.finished()
        return run.run_id

    async def state(self) -> str | None:
        found = await self.rows("SELECT state FROM workspace_moves")
        return found[0][0] if found else None


@asynccontextmanager
async def cell(settings: Settings) -> AsyncIterator[Cell]:
    async with open_citewell(settings) as citewell:
        yield Cell(citewell, settings)


FEW = 6  # segments, beyond which another part is opened where a test asks for parts


@pytest.fixture
async def here(
    settings: Settings, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Cell]:
    monkeypatch.setattr(partitions, "PART_SEGMENTS", getattr(request, "param", PART_SEGMENTS))
    async with cell(settings) as opened:
        yield opened


@pytest.fixture
async def there(other: Settings) -> AsyncIterator[Cell]:
    async with cell(other) as opened:
        # So that numbers differ.
        await opened.citewell.library.workspaces.create_many(["first", "second"])
        yield opened


async def fill(of: Cell, *, own_tables: bool = False) -> tuple[str, str]:
    """Give the workspace something of every kind; return a session's id and a key."""
    library = of.citewell.library
    await library.workspaces.create("tenant", own_tables=own_tables)
    for each in LIBRARY:
        await library.ingestor.ingest(ANN, replace(each, owner=None))
    await library.ingestor.ingest(ANN, document(LIGHTHOUSE, "Lighthouse manual", LAST_TEXT))
    session = await library.sessions.create(ANN, title="The lamp")
    await of.ask(session.session_id, "Who oils the gears?")
    [_, answer] = (await library.sessions.get(ANN, session.session_id)).messages
    await library.shares.create(ANN, session.session_id, expires_in=3600, audience="workspace")
    await library.feedback.give(ANN, session.session_id, answer.message_id, "up")
    note = await library.notes.create(ANN, "Gears")
    pinned = await answer_to_pin(library.sessions, ANN, session.session_id, answer.message_id)
    await library.notes.pin(ANN, note.note_id, *pinned)
    for statement in (
        "INSERT INTO sources (workspace, source_id, kind, location) VALUES (%(of)s, %(id)s, 'folder', '/manuals')",
        "INSERT INTO places (workspace, source_id, path, document_id, fingerprint, recipe)"
        " VALUES (%(of)s, %(id)s, 'a.md', %(id)s, '1', '1')",
        "INSERT INTO ingestion_jobs (job_id, workspace, \"user\", state) VALUES (%(id)s, %(of)s, 'ann', 'paused')",
        "INSERT INTO ingestion_files (job_id, file_no, workspace, document_id, name, bytes)"
        " SELECT %(id)s, no, %(of)s, %(id)s, 'a.md', 1 FROM generate_series(0, 2) AS no",
        "INSERT INTO ingestion_uploads (job_id, file_no, fields, is_text, data) VALUES (%(id)s, 0, '{}', false, 'a')",
        "INSERT INTO document_guides (workspace, document_id, version, body) VALUES (%(of)s, %(id)s, 1, '{}')",
        "INSERT INTO collections (workspace, collection_id, name, made_by, shared)"
        " VALUES (%(of)s, %(id)s, 'Lamps', 'ann', true)",
        "INSERT INTO collection_documents (workspace, collection_id, document_id) VALUES (%(of)s, %(id)s, %(id)s)",
        "INSERT INTO follow_ups (message_id, questions) VALUES (%(answer)s, '[]')",
        "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob)"
        " VALUES (%(session)s, 'c', 't', 0, 'c', '')",
        "INSERT INTO term_statistics (workspace, term, segments) VALUES (%(of)s, 1, 1)",
    ):
        async with library.database.connection() as conn:
            values = {"of": await library.workspaces.number("tenant"), "id": LIGHTHOUSE}
            await conn.execute(statement, {**values, "answer": answer.message_id, "session": session.session_id})
    return session.session_id, await ApiKeys(library.database, library.workspaces).create("tenant", "ann")


async def move(source: str, target: str, *, limits: MoveLimits = QUICK, **options: Any) -> Report:
    async with opened_move(source, target, "tenant", limits=limits, **options) as moving:
        return await moving.run()


async def contents(of: Cell) -> dict[str, list[str]]:
    """Give all that is stored of the workspace, but for its number."""
    library = of.citewell.library
    number = await library.workspaces.number_anywhere("tenant")
    found = {}
    async with library.database.connection() as conn:
        for table in await moved_tables(conn):
            columns = ", ".join(f'"{each.name}"' for each in table.copied if each.name != "workspace")
            for name in (table.name, *(f"{of}_{table.name}" for of in ("shared", "further") if table.name in IN_PARTS)):
                of_part = ", part" if name.startswith("further") else ""
                rows = await conn.execute(
                    f"SELECT ROW({columns}{of_part})::text FROM {name} WHERE "
                    f"{table.scope.format(workspace=number)}".encode()
                )
                found.setdefault(table.name, []).extend(sorted(row[0] for row in await rows.fetchall()))
    return found


@pytest.mark.parametrize(
    ("here", "own_tables"),
    [(PART_SEGMENTS, False), (PART_SEGMENTS, True), (FEW, True)],
    ids=["shared", "own", "parts"],
    indirect=["here"],
)
async def test_a_workspace_is_the_same_in_the_other_database(here: Cell, there: Cell, own_tables: bool) -> None:
    session_id, key = await fill(here, own_tables=own_tables)
    before = {question: await here.hits(question) for question in QUESTIONS}
    [run] = (await here.citewell.library.sessions.list_runs(ANN)).runs
    told = await log_of(await here.citewell.runner.join(ANN, run.run_id))
    stored = await contents(here)
    assert all(stored.values()), "a table that nothing was in"
    report = await move(here.url, there.url)
    assert report.other == redacted_address(there.url)
    assert await contents(there) == stored
    assert {question: await there.hits(question) for question in QUESTIONS} == before
    moved = there.citewell.library
    place = await moved.workspaces.place("tenant")
    assert (place.own, place.parts > 2) == (own_tables, partitions.PART_SEGMENTS == FEW)
    assert await log_of(await there.citewell.runner.join(ANN, run.run_id)) == told
    grant = await ApiKeys(moved.database, moved.workspaces).find(key)
    assert grant is not None
    assert grant.identity == ANN
    await there.ask(session_id, "And when?")
    assert len((await moved.sessions.get(ANN, session_id)).messages) == 4
    [_, first] = await moved.versions.list(ANN, LIGHTHOUSE)
    assert first.version == 1
    assert await moved.originals.read_whole(await moved.originals.find(ANN, LIGHTHOUSE)) == LAST_TEXT.encode()


async def test_a_moved_workspace_is_neither_read_nor_changed_where_it_was(here: Cell, there: Cell) -> None:
    session_id, key = await fill(here)
    library = here.citewell.library
    await library.workspaces.create("neighbour")
    await move(here.url, there.url)
    changed = document(LIGHTHOUSE, "Lighthouse manual", "It fell down.")
    with pytest.raises(WorkspaceMoved):
        await here.hits("lamp")
    with pytest.raises(WorkspaceMoved):
        await library.ingestor.ingest(ANN, changed)
    with pytest.raises(WorkspaceMoved):
        await here.ask(session_id, "Who?")
    with pytest.raises(WorkspaceMoved):
        await library.sessions.delete(ANN, session_id)
    with pytest.raises(WorkspaceMoved):
        await move(here.url, there.url)
    assert await library.workspaces.names() == ("default", "neighbour")
    await library.ingestor.ingest(Identity("neighbour"), changed)
    [moved] = [each for each in await library.workspaces.list() if each.name == "tenant"]
    assert (moved.move, moved.other) == ("moved", redacted_address(there.url))
    settings = here.settings.model_copy(update={"auth": AuthSettings(mode="keys")})
    headers = {"authorization": f"Bearer {key}"}
    async with client_of(create_app(settings, citewell=here.citewell)) as client:
        assert_problem(await client.get("/api/sessions", headers=headers), 421, "workspace_moved")
    async with client_of(create_app(settings, citewell=there.citewell)) as client:
        assert (await client.get("/api/sessions", headers=headers)).json()["sessions"][0]["session_id"] == session_id
    # Once it is deleted here the name is free, and it may come back.
    await library.workspaces.delete("tenant")
    assert await here.rows("SELECT FROM sessions") == []
    assert await here.rows("SELECT workspace FROM documents") == [(await library.workspaces.number("neighbour"),)]
    await move(there.url, here.url)
    assert await here.hits("lamp")
    with pytest.raises(WorkspaceMoved):
        await there.hits("lamp")


async def test_what_sweeps_all_workspaces_passes_over_those_that_are_elsewhere(here: Cell, there: Cell) -> None:
    await fill(here)
    await move(here.url, there.url)
    library = here.citewell.library
    of = [await library.workspaces.number_anywhere("tenant"), await library.workspaces.number("default")]
    async with library.database.connection() as conn, may_change_closed(conn):
        # Everything is due, in both.
        for number in of:
            await conn.execute(
                'INSERT INTO sessions (session_id, workspace, "user", expires_at)'
                " VALUES (gen_random_uuid(), %s, %s, now())",
                [number, "ann"],
            )
            await conn.execute(
                'INSERT INTO ingestion_jobs (workspace, "user", state, finished_at) VALUES (%s, %s, %s, %s)',
                [number, "ann", "finished", "2020-01-01"],
            )
            await conn.execute(
                'INSERT INTO spending (workspace, charge_id, model, kind, "user", day, address)'
                " VALUES (%s, gen_random_uuid(), 'm', 'run', 'ann', '2020-01-01', '::1')",
                [number],
            )
        await conn.execute("UPDATE document_versions SET replaced_at = '2020-01-01'")
        await conn.execute("UPDATE shares SET expires_at = '2020-01-01'")
        await conn.execute("UPDATE ingestion_jobs SET state = 'queued' WHERE finished_at IS NULL")
        await conn.execute(
            "UPDATE runs SET status = 'running', outcome = NULL, stop_reason = NULL, lease_until = '-infinity'"
        )
    expired = await expire(library.database, retention=Retention(7), spending=library.spending)
    assert (expired.sessions, expired.jobs) == (1, 1)
    assert await expire_versions(library.database, days=1) == 0
    await expire_shares(library.database)
    assert await Leases(library.database, str(uuid4()), 10).take_over(5) == []
    library.job_worker.start()
    await library.job_worker.close()
    await reindex(library.database, library.embedder)
    left = "SELECT workspace FROM {} WHERE day < '2021-01-01'"
    assert await here.rows(left.format("spending")) == [(of[0],)]
    assert await here.rows("SELECT count(*) FROM shares") == [(1,)]


PAUSE = 0.05  # seconds between two writes: what writes as fast as it can is all that a busy machine gets done


@pytest.mark.parametrize(
    ("here", "quick"),
    [(PART_SEGMENTS, 0.0), (PART_SEGMENTS, 60.0), (FEW, 0.0)],
    ids=["by_what_changed", "by_every_row", "parts"],
    indirect=["here"],
)
async def test_what_is_written_meanwhile_comes_across_or_is_refused(
    here: Cell, there: Cell, quick: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writers go on until they are refused; what was acknowledged is in the other database, and nothing else is."""
    monkeypatch.setattr(moving, "QUICK_SECONDS", quick)
    session_id, _ = await fill(here, own_tables=partitions.PART_SEGMENTS == FEW)
    library = here.citewell.library
    texts: dict[str, str] = {}
    asked = 1
    refused: list[CitewellError] = []

    async def write() -> None:
        for number in count():
            name = str(UUID(int=number % 7))
            text = f"Note {number} of the lamp. " * (1 + number % 3)
            await library.ingestor.ingest(ANN, document(name, "Note", text))
            texts[name] = text
            if number % 5 == 4:
                gone = str(UUID(int=(number - 2) % 7))
                await library.documents.delete(ANN, gone)
                texts.pop(gone, None)
                await library.documents.purge("tenant")
            await asyncio.sleep(PAUSE)

    async def ask() -> None:
        nonlocal asked
        while True:
            await here.ask(session_id, "Who oils the gears?")
            asked += 1
            await asyncio.sleep(PAUSE)

    async def until_refused(work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (WorkspaceMoving, WorkspaceMoved) as error:
            refused.append(error)

    report, *_ = await asyncio.gather(
        move(here.url, there.url, limits=MoveLimits(runs=60, closed=60, lock=30)),
        until_refused(write()),
        until_refused(ask()),
    )
    assert len(refused) == 2
    assert report.changes_refused_seconds <= report.questions_refused_seconds
    moved = there.citewell.library
    pages = [page async for page in _documents(there)]
    assert {page for page in pages if page.startswith("00000000")} == texts.keys()
    for name, text in texts.items():
        raw = await moved.documents.raw_text(ANN, name)
        assert "".join(segment["text"] for segment in raw["segments"]) == text
    assert len((await moved.sessions.get(ANN, session_id, limit=1000)).messages) == 2 * asked
    assert await contents(there) == await contents(here)
    [(segments, said)] = await there.rows(
        "SELECT (SELECT count(*) FROM all_segments AS s WHERE s.workspace = number), segments"
        " FROM workspaces JOIN library_statistics ON workspace = number WHERE name = 'tenant'"
    )
    assert segments == said


async def _documents(of: Cell) -> AsyncIterator[str]:
    for (document_id,) in await of.rows(
        "SELECT document_id::text FROM documents JOIN workspaces ON number = workspace WHERE name = 'tenant'"
        " AND deleted_at IS NULL"
    ):
        yield document_id


MOMENTS: list[tuple[str, Moment, int]] = [
    ("'arriving'", "before", 2),  # of the transaction that makes the workspace there
    ("ANALYZE", "before", 3),
    ('DELETE FROM "messages"', "after", 1),
    ("SET state = %s", "after", 1),  # questions are refused
    ("SET state = %s", "after", 2),  # all changes are
    ("pg_advisory_xact_lock", "after", 1),
    ("attempt + 1", "after", 1),
    ("state = 'sealed', until", "before", 1),
    ("state = 'sealed', until", "after", 1),
    ("clock_timestamp() > ", "after", 1),
    ("state = 'arrived'", "before", 1),
    ("state = 'arrived'", "after", 1),  # not yet committed
    ("state = 'moved'", "before", 1),
    ("state = 'moved'", "after", 1),
]
MOMENTS_OF_PARTS: list[tuple[str, Moment, int]] = [
    ("SET part_segments", "before", 2),
    ("SET part_segments", "after", 2),
    ("DROP CONSTRAINT", "after", 4),  # of the first further part's two tables, attached and not yet committed
    ('DELETE FROM "segments_', "after", 2),
    ("pg_advisory_xact_lock", "after", 2),
    ("state = 'sealed', until", "after", 1),
    ("state = 'arrived'", "after", 1),
]


@pytest.fixture(scope="module")
async def two_cells(
    postgres: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Cell, Cell]]:
    """Two deployments for all moments: each has a workspace of its own."""
    async for here in fresh_database(postgres, template):
        async for there in fresh_database(postgres, template):
            both = [
                Settings(**NO_FILE, database_url=SecretStr(url), data_dir=tmp_path_factory.mktemp("data"), pool_size=4)
                for url in (here, there)
            ]
            async with cell(both[0]) as one, cell(both[1]) as two:
                yield one, two


@pytest.mark.parametrize(
    ("part", "moment", "nth", "parts"), [(*each, 1) for each in MOMENTS] + [(*each, 3) for each in MOMENTS_OF_PARTS]
)
async def test_a_move_that_is_killed_leaves_one_whole_and_is_ended_by_the_next(
    two_cells: tuple[Cell, Cell], part: str, moment: Moment, nth: int, parts: int
) -> None:
    here, there = two_cells
    name = f"{part} {moment} {nth} {parts}"[:100]
    me = Identity(name, "ann")
    library = here.citewell.library
    number = await library.workspaces.create(name, own_tables=parts > 1)
    kept = [str(uuid4()) for _ in range(3)]
    for document_id in kept:
        await library.ingestor.ingest(me, document(document_id, "Note", f"A note on the lamp {document_id}."))
        async with library.database.connection() as conn, conn.transaction():
            place = await lock_library(conn, number)
            if place.parts < parts:
                await open_part(conn, place)
    session = await library.sessions.create(me)
    run = await here.citewell.runner.start(
        session.session_id, RunRequest("Who oils?", Context(workspace=name, user="ann"))
    )
    await run.finished()
    process = FORKED.Process(target=move_and_die, args=(here.url, there.url, name, part, moment, nth))
    process.start()
    await asyncio.to_thread(process.join)
    assert process.exitcode == -signal.SIGKILL, "the moment never came"
    accepted = []
    for side in (here, there):
        side.citewell.library.workspaces.forget(name)
        new = str(uuid4())
        try:
            # The name of a workspace that is not there is no reason to make it.
            await side.citewell.library.workspaces.number(name)
            await side.citewell.library.ingestor.ingest(me, document(new, "Late", f"A late note {new}."))
        except (WorkspaceMoving, WorkspaceMoved, NotFound):
            continue
        accepted.append(side)
        kept.append(new)
    assert len(accepted) <= 1, "both take changes"
    state = await here.rows(
        "SELECT state FROM workspace_moves JOIN workspaces ON number = workspace WHERE name = %s", name
    )
    if state != [("moved",)]:
        await _again(here.url, there.url, name)
    with pytest.raises(WorkspaceMoved):
        await library.ingestor.ingest(me, document(kept[0], "Note", "Changed where it was."))
    moved = there.citewell.library
    found = (await moved.documents.list(me, limit=100)).documents
    assert sorted(each.document_id for each in found) == sorted(kept)
    for document_id in kept[:3]:
        [raw] = (await moved.documents.raw_text(me, document_id))["segments"]
        assert raw["text"] == f"A note on the lamp {document_id}."
    assert len((await moved.sessions.get(me, session.session_id)).messages) == 2
    async with moved.database.connection() as conn, conn.transaction():
        place = await lock_library(conn, await moved.workspaces.number(name))
        rows = [
            (
                await (
                    await conn.execute(
                        f"SELECT count(*) FROM {each.segments.as_string()} WHERE workspace = {place.workspace}".encode()
                    )
                ).fetchall()
            )[0][0]
            for each in place.tables
        ]
    assert (place.parts, sum(rows), tuple(rows)) == (parts, len(kept), place.filled)


async def _again(source: str, target: str, name: str) -> None:
    """Move once the server has noticed that the process before is gone, whose locks it holds until then."""
    while True:
        try:
            async with opened_move(source, target, name, limits=QUICK) as moving:
                await moving.run()
            return
        except InvalidRequest as error:
            if "Another process" not in error.message and "between tables" not in error.message:
                raise
            await asyncio.sleep(0.05)


async def test_a_question_that_is_being_answered_is_waited_for_and_an_abandoned_one_goes_along(
    here: Cell, there: Cell
) -> None:
    await fill(here)
    run_id = await _begin_run(here)
    lines: list[str] = []
    with pytest.raises(SessionBusy):
        await move(here.url, there.url, on_progress=lines.append)
    assert any("New questions wait" in line for line in lines)
    assert await here.state() == "copying"
    await here.citewell.library.ingestor.ingest(ANN, document(LIGHTHOUSE, "Manual", "It still stands."))
    await here.rows("UPDATE runs SET lease_until = now() - interval '1 second' WHERE run_id = %s RETURNING 1", run_id)
    await move(here.url, there.url)
    assert await Leases(here.citewell.library.database, "me", 10).take_over(5) == []
    [taken] = await Leases(there.citewell.library.database, "me", 10).take_over(5)
    assert (taken.run_id, taken.attempt) == (run_id, 3)


async def _begin_run(of: Cell) -> str:
    """Begin a run that nobody answers, in a session that has one."""
    run_id = new_run_id()
    await of.rows(
        'INSERT INTO runs (run_id, session_id, workspace, "user", question, request, status, lease_until)'
        " SELECT %s, session_id, workspace, \"user\", question, request, 'running', now() + interval '1 hour'"
        " FROM runs WHERE workspace = %s ORDER BY run_id LIMIT 1 RETURNING run_id",
        run_id,
        await of.citewell.library.workspaces.number("tenant"),
    )
    return run_id


async def test_a_run_that_has_ended_makes_room_there_for_the_next_of_its_session(here: Cell, there: Cell) -> None:
    """Only one of a session may be running, also while both come across in one pass, whichever is read first."""
    await fill(here)
    first = await _begin_run(here)
    with pytest.raises(SessionBusy):
        await move(here.url, there.url)
    end = "UPDATE runs SET status = 'finished', outcome = 'cancelled', stop_reason = 'cancelled' WHERE run_id = %s"
    await here.rows(f"{end} RETURNING 1", first)
    second = await _begin_run(here)
    await here.rows("UPDATE runs SET lease_until = now() - interval '1 second' WHERE run_id = %s RETURNING 1", second)
    await here.rows("UPDATE runs SET question = 'Who?' WHERE run_id = %s RETURNING 1", first)  # and lies behind now
    await move(here.url, there.url)
    [taken] = await Leases(there.citewell.library.database, "me", 10).take_over(5)
    assert taken.run_id == second


async def test_a_move_that_is_given_up_leaves_nothing_there(here: Cell, there: Cell) -> None:
    await fill(here)

    def stop(line: str) -> None:
        if line.startswith("Pass 2"):
            raise InterruptedError(line)

    with pytest.raises(InterruptedError):
        await move(here.url, there.url, on_progress=stop)
    with pytest.raises(WorkspaceMoving):
        await there.hits("lamp")
    with pytest.raises(InvalidRequest, match="half-way"):
        await here.citewell.library.workspaces.delete("tenant")
    assert await abandon_move(here.url, "tenant", there.url) == redacted_address(there.url)
    assert await here.state() is None
    assert await there.rows("SELECT name FROM workspaces WHERE name = 'tenant'") == []
    for table in ("documents", "shared_segments", "sessions", "checkpoints", "original_chunks", "messages"):
        assert await there.rows(f"SELECT 1 FROM {table}") == []
    with pytest.raises(InvalidRequest, match="not on its way"):
        await abandon_move(here.url, "tenant", there.url)
    await move(here.url, there.url)
    with pytest.raises(InvalidRequest):
        await abandon_move(here.url, "tenant", there.url)
    assert await there.hits("lamp")


async def test_a_move_is_over_before_the_server_knows_that_its_process_has_gone(here: Cell, there: Cell) -> None:
    await fill(here)
    async with proxied(here.url) as (proxy, url):
        proxy.hides_ends = True
        async with opened_move(url, there.url, "tenant", limits=QUICK) as planned:
            await planned.plan()
        assert (await move(here.url, there.url)).passes


async def test_what_cannot_move_is_refused_before_anything_is_copied(here: Cell, there: Cell) -> None:
    await fill(here)
    with pytest.raises(NotFound):
        async with opened_move(here.url, there.url, "nobody"):
            pass
    with pytest.raises(InvalidRequest, match="can't be read"):
        await move(here.url, "no address")
    with pytest.raises(InvalidRequest, match="already"):
        await move(here.url, here.url)
    [(newest,)] = await there.rows("SELECT version_num FROM alembic_version")
    await there.rows("UPDATE alembic_version SET version_num = '0001' RETURNING 1")
    with pytest.raises(InvalidRequest, match=f"{newest}, and .* at 0001"):
        await move(here.url, there.url)
    await there.rows("UPDATE alembic_version SET version_num = %s RETURNING 1", newest)
    await there.rows("INSERT INTO embedding_models (model, dimension) VALUES ('another', 3) RETURNING 1")
    with pytest.raises(EmbeddingMismatch):
        await move(here.url, there.url)
    await there.rows("DELETE FROM embedding_models RETURNING 1")
    await there.citewell.library.workspaces.create("tenant")
    with pytest.raises(InvalidRequest, match="already"):
        await move(here.url, there.url)
    assert await here.state() is None
    async with here.citewell.library.database.connection() as conn:
        await conn.execute("CREATE TABLE forgotten (id integer)")
        with pytest.raises(ConfigurationError, match="forgotten"):
            await moved_tables(conn)


@pytest.mark.parametrize("here", [FEW], indirect=True)
async def test_parts_that_are_opened_while_it_moves_are_opened_there(here: Cell, there: Cell) -> None:
    await fill(here, own_tables=True)
    library = here.citewell.library

    async def parts() -> list[int]:
        found = [
            await each.rows("SELECT cardinality(part_segments) FROM library_statistics WHERE part_segments IS NOT NULL")
            for each in (here, there)
        ]
        return [rows[0][0] for rows in found]

    def stop(line: str) -> None:
        if line.startswith("Pass 2"):
            raise InterruptedError(line)

    async with opened_move(here.url, there.url, "tenant") as planned:
        plan = await planned.plan()
    [(segments,)] = await here.rows("SELECT segments FROM library_statistics WHERE part_segments IS NOT NULL")
    assert (plan.rows["segments"], plan.rows["segment_vectors"]) == (segments, segments)
    with pytest.raises(InterruptedError):
        await move(here.url, there.url, on_progress=stop)
    before = await parts()
    # One goes to another part, one is new, and one is gone.
    [chapters] = [each for each in LIBRARY if each.document_id == LONG]
    await library.ingestor.ingest(ANN, replace(chapters, data=b"It is short now."))
    for number in range(9):
        await library.ingestor.ingest(ANN, document(str(UUID(int=number)), "Note", f"Note {number} of the lamp."))
    await library.ingestor.ingest(ANN, chapters)
    await library.documents.delete(ANN, str(UUID(int=3)))
    await library.documents.purge("tenant")
    hits = {question: await here.hits(question) for question in QUESTIONS}
    await move(here.url, there.url)
    assert await contents(there) == await contents(here)
    assert {question: await there.hits(question) for question in QUESTIONS} == hits
    assert before[0] == before[1] < (await parts())[1] == (await parts())[0]
    # What is stored from then on goes where there is room.
    await there.citewell.library.ingestor.ingest(ANN, document(LIGHTHOUSE, "Manual", "The lamp burnt out."))
    assert (await there.hits("lamp burnt out"))[0][2] == "The lamp burnt out."


@pytest.mark.parametrize("here", [FEW], indirect=True)
async def test_parts_of_a_move_that_was_cut_short_are_given_up_with_it(here: Cell, there: Cell) -> None:
    await fill(here, own_tables=True)

    def stop(line: str) -> None:
        raise InterruptedError(line)

    with pytest.raises(InterruptedError):
        await move(here.url, there.url, on_progress=stop)
    async with here.citewell.library.database.connection() as conn:
        number = await here.citewell.library.workspaces.number("tenant")
        assert await share_tables_again(conn, number)
        assert await give_own_tables(conn, number)
    with pytest.raises(InvalidRequest, match="in fewer here"):
        await move(here.url, there.url)
    await abandon_move(here.url, "tenant", there.url)
    assert (
        await there.rows("SELECT 1 FROM pg_class WHERE relispartition AND relname ~ '_segments_3_|^segments_3'") == []
    )
    await move(here.url, there.url)
    assert await contents(there) == await contents(here)


async def test_every_table_moves_or_has_a_reason_not_to_and_refuses_changes(here: Cell) -> None:
    """A table of a later migration fails here until it refers to a workspace, or has a line in moved_tables."""
    async with here.citewell.library.database.connection() as conn:
        moving = {table.name for table in await moved_tables(conn)}
    tables = {row[0] for row in await here.rows("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")}
    assert moving | LEFT_OUT.keys() <= tables
    guarded = {
        row[0] for row in await here.rows("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'guarded'")
    }
    # The others are changed in a transaction that changes one of these, too, or the session's row is locked.
    assert moving - guarded == {
        "segments",
        "segment_vectors",
        "term_statistics",
        "vocabulary",
        "original_chunks",
        "ingestion_uploads",
        "note_entries",
        "messages",
        "run_events",
        "checkpoints",
        "checkpoint_blobs",
        "checkpoint_writes",
    }


async def test_originals_in_a_folder_come_along(here: Cell, there: Cell, tmp_path: Path) -> None:
    folder, another = str(tmp_path / "here"), str(tmp_path / "there")
    async with cell(here.settings.model_copy(update={"originals": folder})) as old:
        await fill(old)
        with pytest.raises(InvalidRequest, match="are in"):
            await move(old.url, there.url)
        stores = OutsideOriginals(folder, open_object_store(folder), open_object_store(another), another)
        await move(old.url, there.url, originals=stores)
    async with cell(there.settings.model_copy(update={"originals": another})) as new:
        originals = new.citewell.library.originals
        assert await originals.read_whole(await originals.find(ANN, LIGHTHOUSE)) == LAST_TEXT.encode()
