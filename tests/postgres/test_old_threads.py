"""Threads that earlier releases left are read, gone on with, and finished where they broke off."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from graph.state import SCHEMA_VERSION
from tests.postgres.conversing import ME, Conversation
from tests.postgres.old_threads import BROKEN_OFF, HANDBOOK, QUESTIONS, Rows, load, threads
from tools.process.library import Library, open_library
from tools.settings import Settings
from tools.storage.database import Database

KEPT = threads()


@pytest.fixture
async def library(settings: Settings) -> AsyncIterator[Library]:
    async with open_library(settings) as opened:
        await opened.ingestor.ingest(ME, HANDBOOK)
        yield opened


@pytest.fixture(params=list(KEPT.values()), ids=list(KEPT))
async def conversation(library: Library, request: pytest.FixtureRequest) -> Conversation:
    kept: Rows = request.param
    return Conversation(library, await load(library.database, kept))


def test_this_release_is_among_those_kept() -> None:
    assert f"schema-{SCHEMA_VERSION}" in KEPT


async def test_its_messages_are_read(conversation: Conversation) -> None:
    history = await conversation.library.sessions.get(ME, conversation.session_id)
    assert history.session.title == "Leave"
    assert [m.content for m in history.messages if m.role == "user"] == list(QUESTIONS)
    for answer in history.messages[1::2]:
        assert answer.body["citations"]
        assert {citation["freshness"] for citation in answer.body["citations"]} == {"fresh"}


async def test_a_follow_up_remembers_what_was_said(conversation: Conversation) -> None:
    state = await conversation.follow("How many days of it lapse?")
    assert [turn["question"] for turn in state.turns] == list(QUESTIONS)
    assert all(turn["answer"] for turn in state.turns)
    assert state.outcome
    assert state.schema_version == SCHEMA_VERSION


async def test_a_run_that_broke_off_is_finished(conversation: Conversation) -> None:
    state = await conversation.follow(None)
    assert (state.asked, state.outcome) == (BROKEN_OFF, "answered")
    assert [row["verdict"] for row in state.claims] == ["supported"]
    assert [turn["question"] for turn in state.turns] == list(QUESTIONS)


async def test_an_answer_is_given_anew(conversation: Conversation) -> None:
    history = await conversation.library.sessions.get(ME, conversation.session_id)
    await conversation.ask(regenerate=history.messages[-1].message_id)
    assert [turn["question"] for turn in conversation.states[-1].turns] == [QUESTIONS[0]]
    again = await conversation.library.sessions.get(ME, conversation.session_id)
    assert again.messages[-1].versions == [history.messages[-1].message_id, again.messages[-1].message_id]
    assert history.messages[-1].content in again.messages[-1].content  # a sentence then, its passage today


async def change_state(database: Database, session_id: str, statement: str, *values: Any) -> None:
    async with database.connection() as connection:
        changed = await connection.execute(
            f"UPDATE checkpoints SET checkpoint = {statement} WHERE thread_id = %s", [*values, session_id]
        )
    assert changed.rowcount > 2


@pytest.mark.parametrize("question", [None, BROKEN_OFF], ids=["broken off", "another question"])
async def test_fields_of_another_release_are_no_hindrance(conversation: Conversation, question: str | None) -> None:
    database, session_id = conversation.library.database, conversation.session_id
    version = f"{1:032}.0.1"  # as the saver writes them
    added = (
        "jsonb_set(jsonb_set(checkpoint, '{channel_values,mood}', '\"curious\"'), '{channel_versions,mood}', %s::jsonb)"
    )
    await change_state(database, session_id, added, f'"{version}"')
    missing = ("schema_version", "history", "disputes", "disagreements", "exhausted", "revisions", "intent")
    for name in missing:
        await change_state(
            database,
            session_id,
            "checkpoint #- array['channel_values', %s] #- array['channel_versions', %s]",
            name,
            name,
        )
    state = await conversation.follow(question)
    assert state.outcome == "answered"
    assert [turn["question"] for turn in state.turns] == list(QUESTIONS)
