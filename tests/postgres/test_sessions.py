import asyncio
from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from graph.errors import InvalidRequest, NotFound, SessionBusy
from graph.events import RunFinished
from graph.evidence import Identity, Message, Section
from tests.entering import entered, finish
from tests.postgres.conversing import ME
from tools.sessions.checkpoints import RunSaver
from tools.sessions.session_store import Sessions
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

STRANGERS = [Identity("default", "someone-else"), Identity("elsewhere", "local")]


@pytest.fixture
async def sessions(database: Database) -> Sessions:
    await Workspaces(database).create("elsewhere")
    return Sessions(database, Workspaces(database))


async def answer(database: Database, session_id: str, text: str) -> str:
    """Ask and answer once, as a run does; returns the id of the answer."""
    run = await entered(database, session_id)
    message = Message(answer=text, sections=[Section(text=text, source_ids=[])], citations=[], sources=[])
    end = RunFinished(outcome="answered", stop_reason="answer_complete", message=message, spent={})
    await finish(database, run, end)
    return run.message_id


async def test_a_new_session_is_empty_and_keeps_its_pages(sessions: Sessions) -> None:
    page = str(uuid4())
    made = await sessions.create(ME, title="Invoices", page_ids=[page])
    history = await sessions.get(ME, made.session_id)
    assert history.session == made
    assert (made.title, made.page_ids, made.ephemeral) == ("Invoices", [page], False)
    assert history.messages == []


async def test_messages_come_in_order_with_what_proves_them(sessions: Sessions, database: Database) -> None:
    session_id = (await sessions.create(ME)).session_id
    last = await answer(database, session_id, "Because.")
    history = await sessions.get(ME, session_id)
    assert [m.role for m in history.messages] == ["user", "assistant"]
    assert [m.content for m in history.messages] == ["Why?", "Because."]
    assert history.messages[1].message_id == last
    assert history.messages[1].parent_message_id == history.messages[0].message_id
    assert history.messages[1].body["sections"] == [{"text": "Because.", "source_ids": []}]
    assert history.messages[1].outcome == "answered"
    assert [m.versions for m in history.messages] == [[m.message_id] for m in history.messages]


async def test_history_pages_back_without_gap_or_repeat(sessions: Sessions, database: Database) -> None:
    session_id = (await sessions.create(ME)).session_id
    for turn in range(5):
        await answer(database, session_id, f"answer {turn}")
    whole = (await sessions.get(ME, session_id)).messages
    assert len(whole) == 10
    paged: list[Any] = []
    cursor = None
    while True:
        page = await sessions.get(ME, session_id, limit=3, cursor=cursor)
        paged = page.messages + paged
        cursor = page.next_cursor
        if cursor is None:
            break
    assert paged == whole


async def test_sessions_list_the_last_used_first_in_pages(sessions: Sessions, database: Database) -> None:
    made = [(await sessions.create(ME, title=f"session {n}")).session_id for n in range(5)]
    await answer(database, made[0], "Used again.")
    expected = [made[0], *reversed(made[1:])]
    seen: list[str] = []
    cursor = None
    while True:
        page = await sessions.list(ME, limit=2, cursor=cursor)
        seen += [session.session_id for session in page.sessions]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == expected


async def test_sessions_used_at_the_same_instant_are_all_listed(sessions: Sessions, database: Database) -> None:
    made = {(await sessions.create(ME)).session_id for _ in range(4)}
    async with database.connection() as connection:
        await connection.execute("UPDATE sessions SET updated_at = now()")
    first = await sessions.list(ME, limit=3)
    rest = await sessions.list(ME, limit=3, cursor=first.next_cursor)
    assert {s.session_id for s in first.sessions + rest.sessions} == made
    assert len(first.sessions) + len(rest.sessions) == 4


async def test_an_ephemeral_session_is_read_but_not_listed(sessions: Sessions) -> None:
    made = await sessions.create(ME, ephemeral=True)
    assert (await sessions.list(ME)).sessions == []
    assert (await sessions.get(ME, made.session_id)).session.ephemeral


async def test_an_external_id_names_one_session_per_user_and_dialect(sessions: Sessions) -> None:
    first = await sessions.create(ME, external_id="c1", dialect="conversation")
    again = await sessions.create(ME, external_id="c1", dialect="conversation")
    other_dialect = await sessions.create(ME, external_id="c1", dialect="ai_sdk")
    other_user = await sessions.create(STRANGERS[0], external_id="c1", dialect="conversation")
    assert again.session_id == first.session_id
    assert len({first.session_id, other_dialect.session_id, other_user.session_id}) == 3


async def test_an_external_id_brought_many_times_at_once_makes_one_session(sessions: Sessions) -> None:
    made = await asyncio.gather(*(sessions.create(ME, external_id="c1", dialect="ag_ui") for _ in range(12)))
    assert len({each.session_id for each in made}) == 1
    assert [each.session_id for each in (await sessions.list(ME)).sessions] == [made[0].session_id]


@pytest.mark.parametrize("external_id", ["c" * 501, "c\0"], ids=["too long", "NUL"])
async def test_an_external_id_that_cannot_be_stored_is_refused(sessions: Sessions, external_id: str) -> None:
    with pytest.raises(InvalidRequest, match="id"):
        await sessions.create(ME, external_id=external_id, dialect="ag_ui")
    longest = "\U0001f600" * 500
    assert (await sessions.create(ME, external_id=longest, dialect="ag_ui")).external_id == longest


async def test_a_session_keeps_the_page_that_it_was_begun_on(sessions: Sessions) -> None:
    page = str(uuid4())
    made = await sessions.create(ME, page_id=page)
    assert made.page_id == page
    assert (await sessions.list(ME)).sessions == [made]
    assert (await sessions.create(ME)).page_id is None


async def test_a_title_and_selected_pages_are_changed_each_by_itself(sessions: Sessions) -> None:
    page = str(uuid4())
    first, second = [(await sessions.create(ME)).session_id for _ in range(2)]
    renamed = await sessions.change(ME, first, title="Leave")
    assert (renamed.title, renamed.page_ids) == ("Leave", [])
    changed = await sessions.change(ME, first, page_ids=[page])
    assert (changed.title, changed.page_ids) == ("Leave", [page])
    assert (await sessions.get(ME, first)).session == changed
    assert [each.session_id for each in (await sessions.list(ME)).sessions] == [second, first], "no use, no move"


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda who: f"{who.workspace}/{who.user}")
async def test_another_ones_session_is_not_there(sessions: Sessions, database: Database, stranger: Identity) -> None:
    session_id = (await sessions.create(ME)).session_id
    run_id = (await entered(database, session_id)).run_id
    with pytest.raises(NotFound):
        await sessions.get(stranger, session_id)
    with pytest.raises(NotFound):
        await sessions.delete(stranger, session_id)
    with pytest.raises(NotFound):
        await sessions.run(stranger, run_id)
    with pytest.raises(NotFound):
        await sessions.change(stranger, session_id, title="Mine now")
    with pytest.raises(NotFound):
        await sessions.auto_title(stranger, session_id)
    with pytest.raises(NotFound):
        await sessions.list_runs(stranger, session_id=session_id)
    assert (await sessions.list_runs(stranger)).runs == []
    assert (await sessions.list(stranger)).sessions == []
    assert (await sessions.get(ME, session_id)).session.session_id == session_id


async def test_deleting_takes_messages_runs_and_checkpoints(sessions: Sessions, database: Database) -> None:
    gone, kept = [(await sessions.create(ME)).session_id for _ in range(2)]
    for session_id in (gone, kept):
        await answer(database, session_id, "Because.")
        config: Any = {"configurable": {"thread_id": session_id, "checkpoint_ns": ""}}
        await RunSaver(database.pool).aput(config, empty_checkpoint(), {}, {})
    await sessions.delete(ME, gone)
    with pytest.raises(NotFound):
        await sessions.get(ME, gone)
    for table, column in [("messages", "session_id"), ("runs", "session_id"), ("checkpoints", "thread_id")]:
        async with database.connection() as connection:
            found = await connection.execute(f"SELECT DISTINCT {column}::text FROM {table}")
            assert [row[0] for row in await found.fetchall()] == [kept]


async def test_a_session_that_is_answering_is_not_deleted(sessions: Sessions, database: Database) -> None:
    session_id = (await sessions.create(ME)).session_id
    run_id = (await entered(database, session_id)).run_id
    assert (await sessions.run(ME, run_id)).status == "running"
    with pytest.raises(SessionBusy):
        await sessions.delete(ME, session_id)


async def test_runs_list_the_newest_first_in_pages_by_session_and_status(
    sessions: Sessions, database: Database
) -> None:
    one, other = [(await sessions.create(ME)).session_id for _ in range(2)]
    for _ in range(3):
        await answer(database, one, "Because.")
    await answer(database, other, "Therefore.")
    waiting = (await entered(database, other)).run_id
    seen: list[Any] = []
    cursor = None
    while True:
        page = await sessions.list_runs(ME, limit=2, cursor=cursor)
        seen += page.runs
        cursor = page.next_cursor
        if cursor is None:
            break
    assert [run.session_id for run in seen] == [other, other, one, one, one]
    assert seen[0].run_id == waiting
    assert (await sessions.list_runs(ME, session_id=one)).runs == seen[2:]
    assert (await sessions.list_runs(ME, status="running")).runs == seen[:1]
    assert (await sessions.list_runs(ME, session_id=one, status="queued")).runs == []
    assert await sessions.run(ME, waiting) == seen[0]


async def test_a_session_whose_process_died_is_deleted(sessions: Sessions, database: Database) -> None:
    session_id = (await sessions.create(ME)).session_id
    await entered(database, session_id)
    async with database.connection() as connection:
        await connection.execute("UPDATE runs SET lease_until = now() - interval '1 second'")
    await sessions.delete(ME, session_id)
    with pytest.raises(NotFound):
        await sessions.get(ME, session_id)


@pytest.mark.parametrize("cursor", ["", "!", "bm90IGpzb24=", "WyIyMDI0IiwgMV0=", "e30=", "WzEsIDJd", "🙂"])
async def test_a_cursor_of_ones_own_making_is_refused(sessions: Sessions, cursor: str) -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        await sessions.list(ME, cursor=cursor)
    session_id = (await sessions.create(ME)).session_id
    with pytest.raises(InvalidRequest, match="cursor"):
        await sessions.get(ME, session_id, cursor=cursor)
    with pytest.raises(InvalidRequest, match="cursor"):
        await sessions.list_runs(ME, cursor=cursor)
