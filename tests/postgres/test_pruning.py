"""What a thread keeps of its checkpoints: of each finished run the last, and no more bytes than that takes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from graph.context import Context
from graph.events import RunFinished
from graph.evidence import Hit, Identity, answer_text
from graph.ports import Draft
from graph.usage import Meter
from tests.fakes import HeldFamily, quote
from tests.postgres.conversing import ME, Conversation, store_turn
from tests.postgres.processes import Process, process
from tools.extractive.extractive_family import ExtractiveGrader, ExtractiveWriter
from tools.library.ingestion import NewDocument
from tools.process.library import Library, open_library
from tools.runs.live_run import Run
from tools.sessions.pruning import delete_threads, prune_thread
from tools.settings import Settings
from tools.storage.startup import open_database

MOST_BYTES_A_TURN = 20_000
FACTS = {
    "How many days of annual leave does an employee get?": "Every employee gets 25 days of annual leave a year.",
    "How long is the notice period?": "The notice period is three months.",
    "How long does probation last?": "Probation lasts six months from the first working day.",
    "When does the canteen open?": "The canteen opens at eleven and closes at two.",
    "What does parking cost?": "Parking costs 40 euros a month and is paid with the salary.",
}
QUESTIONS = list(FACTS)
_BYTES = """
SELECT (SELECT coalesce(sum(pg_column_size(c.*)), 0) FROM checkpoints c WHERE thread_id = %(thread)s)
     + (SELECT coalesce(sum(pg_column_size(b.*)), 0) FROM checkpoint_blobs b WHERE thread_id = %(thread)s)
     + (SELECT coalesce(sum(pg_column_size(w.*)), 0) FROM checkpoint_writes w WHERE thread_id = %(thread)s)
"""
_ORPHANS = """
SELECT channel, version FROM checkpoint_blobs WHERE thread_id = %(thread)s
EXCEPT
SELECT named.key, named.value FROM checkpoints, jsonb_each_text(checkpoint -> 'channel_versions') AS named
WHERE thread_id = %(thread)s
"""


@pytest.fixture
async def library(settings: Settings) -> AsyncIterator[Library]:
    async with open_library(settings) as opened:
        text = "\n\n".join(FACTS.values())
        await opened.ingestor.ingest(Identity(), NewDocument(name="handbook.md", title="Handbook", text=text))
        yield opened


@pytest.fixture
async def conversation(library: Library) -> Conversation:
    return Conversation(library, (await library.sessions.create(ME)).session_id)


async def prune(conversation: Conversation) -> int:
    async with conversation.library.database.connection() as connection:
        return await prune_thread(connection, conversation.session_id)


async def thread_bytes(conversation: Conversation) -> int:
    async with conversation.library.database.connection() as connection:
        row = await (await connection.execute(_BYTES, {"thread": conversation.session_id})).fetchone()
    assert row is not None
    return int(row[0])


async def checkpoints(conversation: Conversation) -> list[str]:
    async with conversation.library.database.connection() as connection:
        query = "SELECT checkpoint_id FROM checkpoints WHERE thread_id = %s ORDER BY checkpoint_id"
        return [row[0] for row in await (await connection.execute(query, [conversation.session_id])).fetchall()]


def question(turn: int) -> str:
    return QUESTIONS[turn % len(QUESTIONS)]


async def test_twenty_turns_grow_by_little_and_every_one_can_be_forked_from(conversation: Conversation) -> None:
    sizes, answers = [], []
    for turn in range(20):
        answers.append(await conversation.ask(question(turn)))
        assert await prune(conversation) > 0
        sizes.append(await thread_bytes(conversation))
    assert sizes[19] - sizes[18] <= MOST_BYTES_A_TURN
    assert sizes[19] - sizes[18] <= 1.5 * (sizes[9] - sizes[8])
    assert len(await checkpoints(conversation)) == 20
    async with conversation.library.database.connection() as connection:
        orphans = await (await connection.execute(_ORPHANS, {"thread": conversation.session_id})).fetchall()
    assert orphans == []
    ended = list(conversation.states)
    for turn in (0, 1, 9, 19):
        await conversation.ask(regenerate=answers[turn])
        again = conversation.states[-1]
        assert again.turns == ended[turn].turns
        assert again.sections == ended[turn].sections
        assert again.claims == ended[turn].claims
        await prune(conversation)


class WordyWriter(ExtractiveWriter):
    """Answers with all that it was shown, up to 5,000 characters."""

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        for hit in sources[: 5000 // len(sources[0].segment.text)]:
            for draft in quote(hit.segment.text, hit.segment.segment_id):
                yield draft


async def test_long_answers_keep_within_the_bound(settings: Settings) -> None:
    numbers = Random(7)
    async with open_library(settings.model_copy(update={"segment_size": "900 tokens"})) as library:
        for page in range(4):
            lines = [f"Nhân viên số {numbers.randrange(10**6)} nghỉ {numbers.randrange(400)} giờ." for _ in range(60)]
            await library.ingestor.ingest(ME, NewDocument(name=f"{page}.md", text=" ".join(lines)))
        wordy = replace(library.families(""), writer=WordyWriter(), grader=ExtractiveGrader(refuse_below=0.0))
        session_id = (await library.sessions.create(ME)).session_id
        conversation = Conversation(library, session_id, Context(min_score=0.0, max_repairs=0), wordy)
        sizes = []
        for turn in range(7):
            await conversation.ask(f"Nhân viên được nghỉ bao nhiêu giờ trong tháng {turn + 1}?")
            await prune(conversation)
            sizes.append(await thread_bytes(conversation))
    assert min(len(answer_text(state.sections)) for state in conversation.states) > 1500
    assert sizes[6] - sizes[5] <= MOST_BYTES_A_TURN


async def test_without_pruning_a_thread_keeps_every_step(conversation: Conversation) -> None:
    await conversation.ask(question(0))
    before = await checkpoints(conversation)
    assert len(before) > 5
    assert await prune(conversation) == len(before) - 1
    assert await checkpoints(conversation) == before[-1:]
    assert await prune(conversation) == 0


async def begin_run(conversation: Conversation) -> None:
    async with conversation.library.database.connection() as connection:
        await connection.execute(
            'INSERT INTO runs (run_id, session_id, workspace, "user", question, status)'
            " SELECT %s, session_id, workspace, \"user\", '?', 'running' FROM sessions WHERE session_id = %s",
            [uuid4(), conversation.session_id],
        )


async def test_what_a_run_that_goes_on_has_written_stays(conversation: Conversation) -> None:
    await conversation.ask(question(0))
    await begin_run(conversation)
    await conversation.follow(question(1), interrupt_before=["check_claims"])
    before = await checkpoints(conversation)
    assert await prune(conversation) == 0
    assert await checkpoints(conversation) == before
    state = await conversation.follow(None)
    assert (state.outcome, [turn["question"] for turn in state.turns]) == ("answered", [question(0)])


async def test_a_run_is_answered_while_its_thread_is_pruned_over_and_over(conversation: Conversation) -> None:
    alone = Conversation(conversation.library, (await conversation.library.sessions.create(ME)).session_id)
    for each in (conversation, alone):
        await each.ask(question(0))
        await each.ask(question(1))
    expected = await alone.follow(question(2))
    await begin_run(conversation)
    answering = asyncio.create_task(conversation.follow(question(2)))
    while not answering.done():
        await prune(conversation)
    state = await answering
    assert (state.outcome, state.sections, state.turns) == (expected.outcome, expected.sections, expected.turns)


async def test_a_session_that_is_being_deleted_is_left_to_whoever_does(conversation: Conversation) -> None:
    await conversation.ask(question(0))
    async with conversation.library.database.connection() as connection, connection.transaction():
        await connection.execute("SELECT 1 FROM sessions WHERE session_id = %s FOR UPDATE", [conversation.session_id])
        pruning = asyncio.create_task(prune(conversation))
        async with asyncio.timeout(60):
            await until_somebody_waits(conversation)
        await delete_threads(connection, [conversation.session_id])
        await connection.execute("DELETE FROM sessions WHERE session_id = %s", [conversation.session_id])
    assert await pruning == 0


async def until_somebody_waits(conversation: Conversation) -> None:
    query = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with conversation.library.database.connection() as connection:
        while True:
            if await (await connection.execute(query)).fetchone() is not None:
                return
            await asyncio.sleep(0.01)


async def test_another_thread_is_left_alone(conversation: Conversation) -> None:
    other = Conversation(conversation.library, (await conversation.library.sessions.create(ME)).session_id)
    await other.ask(question(0))
    await conversation.ask(question(0))
    before = await checkpoints(other)
    await prune(conversation)
    assert await checkpoints(other) == before


async def test_a_run_that_failed_leaves_what_came_before_it(conversation: Conversation) -> None:
    answered = await conversation.ask(question(0))
    await prune(conversation)
    await conversation.follow(question(1), interrupt_before=["grade_segments"])
    await store_turn(conversation.library.database, conversation.session_id, question(1), None)
    await prune(conversation)
    assert len(await checkpoints(conversation)) == 2
    await conversation.ask(question(2))
    assert [turn["question"] for turn in conversation.states[-1].turns] == [question(0)]
    await prune(conversation)
    assert len(await checkpoints(conversation)) == 2
    await conversation.ask(regenerate=answered)
    assert conversation.states[-1].turns == []


@asynccontextmanager
async def ended_but_not_pruned(settings: Settings, **runs: Any) -> AsyncIterator[tuple[Process, Run]]:
    """A process with a run that has ended, while somebody else's transaction holds the run's first checkpoints."""
    family = HeldFamily()
    async with open_database(settings) as elsewhere, process(settings, family, **runs) as at:
        run = await at.ask(await at.session())
        await family.writing.wait()
        async with elsewhere.connection() as connection, connection.transaction():
            held = await connection.execute("SELECT 1 FROM checkpoints FOR UPDATE")
            assert held.rowcount > 0
            family.released.set()
            assert isinstance(await run.finished(), RunFinished)
            yield at, run


async def test_a_run_that_has_ended_is_pruned_behind_its_slot_though_its_reader_leaves(settings: Settings) -> None:
    async with ended_but_not_pruned(settings, drain_seconds=60) as (at, run):
        assert run.task is not None
        before = run.stop_reason
        await run.cancel("client_disconnected")
        assert run.stop_reason == before
        async with asyncio.timeout(60):
            await run.task
        assert at.runner.load.active == 0
    async with open_database(settings) as database, database.connection() as connection:
        assert await (await connection.execute("SELECT count(*) FROM checkpoints")).fetchone() == (1,)


async def test_a_process_that_closes_leaves_no_pruning_behind(settings: Settings) -> None:
    async with ended_but_not_pruned(settings) as (at, _):
        await at.runner.close()
        assert [each.get_name() for each in asyncio.all_tasks() if each.get_name().startswith("citewell-prune")] == []
