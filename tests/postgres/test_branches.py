"""Questions that are edited and answers that are given anew: a tree of messages, read one branch at a time."""

from dataclasses import replace
from uuid import uuid4

import pytest

from graph.context import Context
from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tests.entering import entered
from tests.postgres.conversing import ME, store_turn
from tools.sessions.run_request import Fork, RunRequest, resolve_fork
from tools.sessions.session_store import Sessions, StoredMessage
from tools.storage.database import Database
from tools.storage.tenants import Workspaces


@pytest.fixture
def sessions(database: Database) -> Sessions:
    return Sessions(database, Workspaces(database))


@pytest.fixture
async def session_id(sessions: Sessions) -> str:
    return (await sessions.create(ME)).session_id


async def fork(database: Database, session_id: str, question: str = "", **request: str) -> Fork:
    async with database.connection() as connection:
        return await resolve_fork(connection, session_id, RunRequest(question, Context(), **request))


async def checkpoint(database: Database, session_id: str, checkpoint_id: str) -> None:
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (%s, %s, '{}')",
            [session_id, checkpoint_id],
        )


def said(messages: list[StoredMessage]) -> list[str]:
    return [message.content for message in messages]


async def test_a_regenerated_answer_takes_the_place_of_the_old_one(
    sessions: Sessions, database: Database, session_id: str
) -> None:
    await checkpoint(database, session_id, "1")
    await store_turn(database, session_id, "Q1", "A1")
    await checkpoint(database, session_id, "2")
    asked = {"page_ids": ["p"], "selected_text": "this"}
    question, answer = await store_turn(database, session_id, "Q2", "A2", question_body=asked)
    await checkpoint(database, session_id, "3")

    again = await fork(database, session_id, regenerate=answer)
    asked_again = RunRequest("Q2", Context(), ("p",), "this", regenerate=answer)
    assert again == Fork(asked_again, question, "1")
    by_question = await fork(database, session_id, regenerate=question)
    assert by_question == Fork(replace(asked_again, regenerate=question), question, "1")
    _, anew = await store_turn(database, session_id, "Q2", "A2'", fork=again)

    history = await sessions.get(ME, session_id)
    assert said(history.messages) == ["Q1", "A1", "Q2", "A2'"]
    assert history.messages[-1].versions == [answer, anew]
    assert [len(message.versions) for message in history.messages] == [1, 1, 1, 2]
    old = await sessions.get(ME, session_id, branch=answer)
    assert said(old.messages) == ["Q1", "A1", "Q2", "A2"]
    assert old.messages[-1].versions == [answer, anew]


async def test_an_edited_question_begins_a_branch_and_the_old_one_stays(
    sessions: Sessions, database: Database, session_id: str
) -> None:
    await checkpoint(database, session_id, "1")
    first, _ = await store_turn(database, session_id, "Q1", "A1")
    await checkpoint(database, session_id, "2")
    _, behind = await store_turn(database, session_id, "Q2", "A2")
    await checkpoint(database, session_id, "3")

    edited = await fork(database, session_id, "Q1'", edit=first)
    assert edited == Fork(edited.request, None, "")
    anew, _ = await store_turn(database, session_id, "Q1'", "A1'", fork=edited)
    await store_turn(database, session_id, "Q2'", "A2'", fork=await fork(database, session_id, "Q2'"))

    history = await sessions.get(ME, session_id)
    assert said(history.messages) == ["Q1'", "A1'", "Q2'", "A2'"]
    assert history.messages[0].versions == [first, anew]
    for through in (first, behind):
        assert said((await sessions.get(ME, session_id, branch=through)).messages) == ["Q1", "A1", "Q2", "A2"]
    assert said((await sessions.get(ME, session_id, branch=anew)).messages) == ["Q1'", "A1'", "Q2'", "A2'"]


async def test_an_edit_in_the_middle_goes_on_from_the_answer_before(database: Database, session_id: str) -> None:
    await checkpoint(database, session_id, "1")
    _, before = await store_turn(database, session_id, "Q1", "A1")
    await checkpoint(database, session_id, "2")
    failed, _ = await store_turn(database, session_id, "Q2", None)
    await checkpoint(database, session_id, "3")
    question, _ = await store_turn(database, session_id, "Q3", "A3")
    edited = await fork(database, session_id, "Q3'", edit=question)
    assert edited == Fork(edited.request, failed, "1"), "a question without an answer is not remembered"
    assert (await fork(database, session_id, "Q2'", edit=failed)).parent_message_id == before
    assert (await fork(database, session_id, regenerate=failed)).parent_message_id == failed


async def test_a_follow_up_needs_no_fork_unless_a_failed_one_lies_behind(
    database: Database, sessions: Sessions, session_id: str
) -> None:
    assert await fork(database, session_id, "Q1") == Fork(RunRequest("Q1", Context()))
    await checkpoint(database, session_id, "1")
    first, _ = await store_turn(database, session_id, "Q1", "A1")
    await checkpoint(database, session_id, "2")
    await store_turn(database, session_id, "Q2", "A2")
    assert await fork(database, session_id, "Q3") == Fork(RunRequest("Q3", Context()))

    await checkpoint(database, session_id, "3")
    edited, _ = await store_turn(
        database, session_id, "Q1'", None, fork=await fork(database, session_id, "Q1'", edit=first)
    )
    assert await fork(database, session_id, "Q2'") == Fork(RunRequest("Q2'", Context()), edited, "")
    run = await entered(database, session_id, "Q2'")
    async with database.connection() as connection:
        stored = await connection.execute(
            "SELECT parent_message_id::text, fork_checkpoint FROM runs WHERE run_id = %s", [run.run_id]
        )
        assert await stored.fetchone() == (edited, "")
    assert run.fork_checkpoint == ""
    assert await fork(database, session_id, "Q3'") == Fork(RunRequest("Q3'", Context())), (
        "which goes on from the run in progress"
    )


async def test_a_branch_pages_back_without_gap_or_repeat(
    sessions: Sessions, database: Database, session_id: str
) -> None:
    for turn in range(6):
        question, _ = await store_turn(database, session_id, f"Q{turn}", f"A{turn}")
        if turn % 2:
            again = Fork(RunRequest(f"Q{turn}", Context(), regenerate=question), question, "")
            await store_turn(database, session_id, f"Q{turn}", f"A{turn} anew", fork=again)
    whole = (await sessions.get(ME, session_id)).messages
    assert len(whole) == 12
    paged: list[StoredMessage] = []
    cursor = None
    while True:
        page = await sessions.get(ME, session_id, limit=5, cursor=cursor)
        paged = page.messages + paged
        cursor = page.next_cursor
        if cursor is None:
            break
    assert paged == whole


async def test_what_a_session_does_not_have_is_not_found(
    sessions: Sessions, database: Database, session_id: str
) -> None:
    question, answer = await store_turn(database, session_id, "Q", "A")
    elsewhere = (await sessions.create(ME)).session_id
    for message_id in (answer, str(uuid4()), "msg_1"):
        with pytest.raises(NotFound, match="regenerate"):
            await fork(database, elsewhere, regenerate=message_id)
        with pytest.raises(NotFound, match="edit"):
            await fork(database, elsewhere, "Q", edit=message_id)
    with pytest.raises(NotFound):
        await sessions.get(ME, elsewhere, branch=answer)
    cursor = (await sessions.get(ME, session_id, limit=1)).next_cursor
    with pytest.raises(InvalidRequest, match="cursor"):
        await sessions.get(ME, elsewhere, cursor=cursor)
    with pytest.raises(InvalidRequest, match="edit"):
        await fork(database, session_id, "Q", edit=answer)
    with pytest.raises(InvalidRequest, match="edit"):
        await fork(database, session_id, "Q", edit=question, regenerate=answer)


async def test_a_stranger_learns_nothing_of_a_message(database: Database, session_id: str) -> None:
    _, answer = await store_turn(database, session_id, "Q", "A")
    theirs = Identity("default", "someone-else")
    request = RunRequest("Q", Context(user=theirs.user), edit=answer)
    async with database.connection() as connection:
        with pytest.raises(NotFound):
            await resolve_fork(connection, session_id, request)
