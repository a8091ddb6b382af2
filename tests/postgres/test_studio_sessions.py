"""A session of the product in the server of Studio: read as it is stored, forked beside it, never written."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from api.studio.chat_steps import ChatSteps
from api.studio.session_threads import SessionSaver
from graph.builder import build
from tests.postgres.conversing import ME, Conversation
from tools.library.ingestion import NewDocument
from tools.process.library import Library, open_library
from tools.sessions.checkpoints import RunSaver
from tools.settings import Settings

NOTICE, PAY = "How long is the notice period?", "When is the salary paid?"
TEXT = "# Notice\n\nThe notice period is three months.\n\n# Pay\n\nThe salary is paid on the 28th."
_STORED = """
SELECT 'checkpoint', checkpoint_id, md5(checkpoint::text) FROM checkpoints WHERE thread_id = %(thread)s
UNION SELECT channel, version, md5(blob) FROM checkpoint_blobs WHERE thread_id = %(thread)s
UNION SELECT channel, task_id, md5(blob) FROM checkpoint_writes WHERE thread_id = %(thread)s
"""


@pytest.fixture
async def library(settings: Settings) -> AsyncIterator[Library]:
    async with open_library(settings) as opened:
        await opened.ingestor.ingest(ME, NewDocument(name="handbook.md", title="Handbook", text=TEXT))
        yield opened


@pytest.fixture
async def conversation(library: Library) -> Conversation:
    asked = Conversation(library, (await library.sessions.create(ME)).session_id)
    for question in (NOTICE, PAY, NOTICE):
        await asked.ask(question)
    return asked


@pytest.fixture
async def studio(library: Library) -> Any:
    """The graph with the checkpointer of Studio's server."""
    saver = SessionSaver(InMemorySaver(), RunSaver(library.database.pool))
    return build(library.resources, around=ChatSteps(library.resources)).compile(checkpointer=saver)


async def stored(conversation: Conversation) -> set[tuple[Any, ...]]:
    async with conversation.library.database.connection() as connection:
        return set(await (await connection.execute(_STORED, {"thread": conversation.session_id})).fetchall())


def texts(values: dict[str, Any]) -> list[str]:
    return [message.text for message in values["messages"]]


async def test_a_session_is_read_with_the_messages_that_its_turns_make(conversation: Conversation, studio: Any) -> None:
    place = {"configurable": {"thread_id": conversation.session_id}}
    state = await studio.aget_state(place)
    answers = ["The notice period is three months.", "The salary is paid on the 28th."]
    begun = [text.split("\n\n")[0] for text in texts(state.values)]
    assert begun == [NOTICE, answers[0], PAY, answers[1], NOTICE, answers[0]]
    ids = [message.id for message in state.values["messages"]]
    assert len(set(ids)) == len(ids)
    finished = [each async for each in studio.aget_state_history(place) if not each.next]
    assert [len(each.values["messages"]) for each in finished] == [6, 4, 2]
    assert [message.id for message in finished[1].values["messages"]] == ids[:4]


async def test_what_is_asked_in_studio_goes_on_beside_the_session(conversation: Conversation, studio: Any) -> None:
    before = await stored(conversation)
    place = {"configurable": {"thread_id": conversation.session_id}}
    went_on = await studio.ainvoke({"messages": [("user", PAY)]}, place)
    assert [turn["question"] for turn in went_on["turns"]] == [NOTICE, PAY, NOTICE]
    assert texts(await studio.ainvoke({"question": NOTICE}, place))[-4:-2] == [
        PAY,
        "The salary is paid on the 28th.[1]",
    ]
    first = [each async for each in studio.aget_state_history(place) if not each.next][-1]
    forked = await studio.ainvoke({"messages": [("user", PAY)]}, first.config)
    assert texts(forked)[2:] == [PAY, "The salary is paid on the 28th.[1]"]
    await studio.checkpointer.adelete_thread(conversation.session_id)
    assert await stored(conversation) == before
    await conversation.ask(PAY)
    assert [turn["question"] for turn in conversation.states[-1].turns] == [NOTICE, PAY, NOTICE]
    assert texts((await studio.aget_state(place)).values)[-2] == PAY


async def test_the_products_own_threads_store_no_messages(conversation: Conversation) -> None:
    assert {"messages", "passages"}.isdisjoint(row[0] for row in await stored(conversation))
    assert all(state.messages == [] for state in conversation.states)
