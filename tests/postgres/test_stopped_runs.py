"""What a stopped run leaves, and what is in a session while a question is being answered."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from graph.context import Context
from graph.events import SectionChecked
from graph.evidence import Hit
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText
from graph.usage import Meter
from tests.fakes import HeldFamily, ScriptedFamily, WordJudge, quote
from tests.postgres.test_runs import LEAVE, ME, Desk, desk
from tools.runs.live_run import Run
from tools.sessions.history import History
from tools.sessions.run_request import RunRequest
from tools.sessions.session_store import Sessions
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

SENTENCE = "Staff get 25 days of annual leave."


@dataclass
class Slow(ScriptedFamily):
    """A family that finishes the sections in ``before``, writes its pieces into another one and then waits."""

    before: Sequence[str] = ()
    pieces: Sequence[str] = ()
    writing: asyncio.Event = field(default_factory=asyncio.Event)

    async def write(
        self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> AsyncIterator[Draft]:
        async for draft in self._write((sources[0].segment.segment_id,)):
            yield draft

    async def converse(self, question: str, turns: Any, **options: Any) -> AsyncIterator[Draft]:
        async for draft in self._write(()):
            yield draft

    async def _write(self, source_ids: tuple[str, ...]) -> AsyncIterator[Draft]:
        for text in self.before:
            for draft in quote(text, *source_ids):
                yield draft
        yield DraftOpened(source_ids=source_ids)
        for piece in self.pieces:
            yield DraftText(piece)
        self.writing.set()
        await asyncio.Event().wait()
        yield DraftClosed("".join(self.pieces), source_ids)


async def history(at: Desk, **page: Any) -> History:
    return await Sessions(at.database, Workspaces(at.database)).get(ME, at.session_id, **page)


async def stopped(at: Desk, family: Slow | HeldFamily, **knobs: Any) -> dict[str, Any]:
    run = await at.start(**knobs)
    await family.writing.wait()
    return await stop(at, run)


async def stop(at: Desk, run: Run) -> dict[str, Any]:
    await run.cancel("cancel_requested")
    last = (await history(at)).messages[-1]
    assert (last.role, last.outcome) == ("assistant", "cancelled")
    return {"answer": last.content, **last.body}


async def test_a_stopped_answer_keeps_its_checked_claims_with_their_proofs(database: Database) -> None:
    family = Slow(pieces=[SENTENCE, " Unused days may be", " carried over"])
    async with desk(database, family) as at:
        kept = await stopped(at, family)
    assert kept["answer"] == SENTENCE
    mark = {"start": 0, "end": len(SENTENCE)}
    assert kept["sections"] == [{"text": SENTENCE, "source_ids": [LEAVE.segment_id], "marks": [mark]}]
    [claim] = kept["claims"]
    assert (claim["text"], claim["verdict"], claim["section_index"]) == (SENTENCE, "supported", 0)
    assert [(each["quote"], each["section_index"]) for each in kept["citations"]] == [(LEAVE.text, 0)]
    assert kept["citations"][0]["freshness"] == "deleted"  # the library of this test is not in the database
    assert [source["segment_id"] for source in kept["sources"]] == [LEAVE.segment_id]


async def test_a_finished_section_is_kept_whole(database: Database) -> None:
    family = HeldFamily()
    async with desk(database, family) as at:
        kept = await stopped(at, family)
    assert kept["answer"] == LEAVE.text
    assert len(kept["citations"]) == len(kept["claims"]) == 1


async def test_a_claim_that_a_judge_failed_ends_what_is_kept_of_its_section(database: Database) -> None:
    family = Slow(before=[f"{SENTENCE} Staff get 99 days of annual leave. {SENTENCE}"], pieces=[SENTENCE, " And"])
    async with desk(database, family, WordJudge()) as at:
        run = await at.start()
        await family.writing.wait()
        async with aclosing(run.events()) as events:
            async for envelope in events:
                if isinstance(envelope.event, SectionChecked) and not envelope.event.judging:
                    break
        kept = await stop(at, run)
    assert [section["text"] for section in kept["sections"]] == [SENTENCE, SENTENCE]


async def test_a_claim_that_code_alone_doubts_is_kept_without_a_mark(database: Database) -> None:
    family = Slow(pieces=[SENTENCE, " Staff get 99 days of annual leave.", " And"])
    async with desk(database, family) as at:
        kept = await stopped(at, family)
    [section] = kept["sections"]
    assert section["text"] == f"{SENTENCE} Staff get 99 days of annual leave."
    assert section["marks"] == [{"start": 0, "end": len(SENTENCE)}]


async def test_text_of_the_models_own_is_kept_as_it_is_and_told_apart(database: Database) -> None:
    family = Slow(pieces=["Leave is a right", " in most count"])
    async with desk(database, family) as at:
        kept = await stopped(at, family, answer_from="model")
    assert kept["sections"] == [{"text": "Leave is a right in most", "source_ids": [], "grounded": False}]
    assert (kept["citations"], kept["sources"]) == ([], [])


async def test_nothing_checked_leaves_nothing(database: Database) -> None:
    family = Slow(pieces=["Staff get"])
    async with desk(database, family) as at:
        kept = await stopped(at, family)
    assert (kept["answer"], kept["sections"], kept["claims"], kept["sources"]) == ("", [], [], [])


class TestAskedQuestion:
    async def test_it_is_in_the_session_while_it_is_answered_and_once_afterwards(self, database: Database) -> None:
        family = HeldFamily()
        async with desk(database, family) as at:
            run = await at.start("annual leave")
            await family.writing.wait()
            during = await history(at)
            [asked] = during.shown
            assert (during.messages, asked.answering) == ([], True)
            assert (asked.role, asked.content, asked.body) == ("user", "annual leave", {"page_ids": []})
            family.released.set()
            await run.finished()
            question, answer = (await history(at)).shown
            [(created_at,)] = await at.rows("SELECT created_at FROM runs")
        assert question.message_id == asked.message_id
        assert question.created_at == asked.created_at == created_at < answer.created_at
        assert not question.answering

    async def test_questions_that_wait_are_there_in_their_order(self, database: Database) -> None:
        family = HeldFamily()
        async with desk(database, family) as at:
            await at.start("annual leave")
            await family.writing.wait()
            waiting = RunRequest("leave days", Context(), while_running="enqueue")
            second = await at.runner.start(at.session_id, waiting)
            assert [each.content for each in (await history(at)).shown] == ["annual leave", "leave days"]
            await second.cancel("cancel_requested")
            assert [(each.content, each.answering) for each in (await history(at)).shown] == [
                ("leave days", False),
                ("", False),
                ("annual leave", True),
            ]
            family.released.set()

    async def test_after_a_question_that_waited_the_branch_is_whole(self, database: Database) -> None:
        family = HeldFamily()
        async with desk(database, family) as at:
            first = await at.start("annual leave")
            await family.writing.wait()
            waiting = RunRequest("leave days", Context(), while_running="enqueue")
            second = await at.runner.start(at.session_id, waiting)
            family.released.set()
            await first.finished()
            await second.finished()
            shown = (await history(at)).shown
        assert [each.role for each in shown] == ["user", "assistant"] * 2
        assert [each.created_at for each in shown] == sorted(each.created_at for each in shown)

    async def test_an_edited_question_is_shown_on_its_own_branch(self, database: Database) -> None:
        family = HeldFamily()
        async with desk(database, family) as at:
            family.released.set()
            await (await at.start("annual leave")).finished()
            question = (await history(at)).messages[0]
            family.released.clear()
            family.writing.clear()
            edited = RunRequest("leave days", Context(), edit=question.message_id)
            run = await at.runner.start(at.session_id, edited)
            await family.writing.wait()
            assert [each.content for each in (await history(at)).shown] == ["leave days"]
            assert [each.content for each in (await history(at, branch=question.message_id)).shown] == [
                "annual leave",
                f"{LEAVE.text}\n\n{LEAVE.text}",
            ]
            family.released.set()
            await run.finished()

    async def test_an_answer_that_is_written_again_has_its_question_once(self, database: Database) -> None:
        family = HeldFamily()
        async with desk(database, family) as at:
            family.released.set()
            await (await at.start("annual leave")).finished()
            answer = (await history(at)).messages[-1]
            family.released.clear()
            family.writing.clear()
            again = RunRequest("", Context(), regenerate=answer.message_id)
            run = await at.runner.start(at.session_id, again)
            await family.writing.wait()
            assert [each.content for each in (await history(at)).shown].count("annual leave") == 1
            family.released.set()
            await run.finished()
