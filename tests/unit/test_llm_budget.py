"""Where the budget ends, each step degrades as it says it does, and no call outlives the run's seconds."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from graph.errors import BudgetExhausted
from graph.evidence import Hit
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, DraftThinking, Family, FaultySection
from graph.rows import Turn
from graph.usage import Meter
from prompts import lines
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI, Think, scripted_openai, status
from tests.unit.llm_family import BAKERY, BRIDGE, scripted_family

__all__ = ["scripted_openai"]

SECONDS = 0.25
QUESTION = "When was the Cedar Bridge finished?"
TURNS = [Turn(question="Who built it?", standalone_question="Who built the Cedar Bridge?", answer="Ada Holm.")]
HITS = [Hit(BAKERY, 0.4), Hit(BRIDGE, 0.9)]


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Fail where it takes much longer, as on a busy machine it may a little."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds + 5


def spent(server: ScriptedOpenAI, cap: str) -> Meter:
    """Give a meter that has nothing left, or too few seconds for a server that hangs."""
    if cap == "seconds":
        server.script(Reply([Hold()]))
    return {"model_calls": Meter(calls_left=0), "tokens": Meter(tokens_left=0), "seconds": Meter(seconds_left=SECONDS)}[
        cap
    ]


@pytest.fixture
async def family(scripted_openai: ScriptedOpenAI) -> Family:
    """Give a family that has made its first calls: opening its clients takes seconds too."""
    family = scripted_family(scripted_openai, thinking=True)
    await family.at("thorough").grader.grade(QUESTION, HITS, meter=Meter())
    await written(family, Meter())
    scripted_openai.requests.clear()
    return family


async def written(family: Family, meter: Meter) -> list[Draft]:
    drafts = family.writer.write(QUESTION, HITS, language="en", meter=meter)
    return [draft async for draft in drafts]


async def ending_after(drafts: AsyncIterator[Draft], last: Draft, meter: Meter) -> list[Draft]:
    """Read drafts, and let the seconds run out as soon as ``last`` has come."""
    seen: list[Draft] = []
    async for draft in drafts:
        seen.append(draft)
        left = meter.remaining()
        if draft == last and meter.seconds_left and left:
            meter.seconds_left -= left - 0.02
    return seen


CAPS = pytest.mark.parametrize("cap", ["model_calls", "tokens", "seconds"])


@CAPS
async def test_a_question_is_prepared_by_rule(scripted_openai, family, cap):
    meter = spent(scripted_openai, cap)
    with no_longer_than(SECONDS):
        prepared = await family.preparer.prepare(
            "And when was it finished?", TURNS, search="auto", has_pages=False, meter=meter
        )
    assert prepared.needs_retrieval
    assert "Cedar Bridge" in prepared.standalone_question
    assert prepared.fallback is not None
    assert prepared.fallback["code"] == "budget_exhausted"
    assert cap.replace("_", " ") in prepared.fallback["message"]
    assert meter.exhausted == cap
    if cap == "seconds":
        assert await asyncio.to_thread(scripted_openai.requests[0].wait_disconnected)
    else:
        assert scripted_openai.requests == []


@pytest.mark.parametrize("effort", ["fast", "balanced", "thorough"])
@pytest.mark.parametrize("said", ["Thanks!", "Cảm ơn bạn!", "谢谢！"])
async def test_small_talk_takes_no_call(scripted_openai, family, effort, said):
    preparer, meter = family.at(effort).preparer, Meter(calls_left=0)
    prepared = await preparer.prepare(said, TURNS, search="auto", has_pages=False, meter=meter)
    assert (prepared.intent, prepared.needs_retrieval) == ("small_talk", False)
    assert (prepared.fallback, meter.exhausted) == (None, None)


@CAPS
async def test_candidates_are_kept_by_their_search_score(scripted_openai, family, cap):
    meter = spent(scripted_openai, cap)
    grading = await family.at("thorough").grader.grade(QUESTION, HITS, meter=meter)
    assert grading.kept == ((BRIDGE.segment_id, 0.9), (BAKERY.segment_id, 0.4))
    assert grading.fallback is not None
    assert grading.fallback["code"] == "budget_exhausted"


@CAPS
async def test_the_sources_are_quoted_and_the_first_section_says_why(scripted_openai, family, cap):
    drafts = await written(family, spent(scripted_openai, cap))
    opened = [draft for draft in drafts if isinstance(draft, DraftOpened)]
    assert opened[0].fallback is not None
    assert opened[0].fallback["code"] == "budget_exhausted"
    assert [draft.fallback for draft in opened[1:]] == [None] * (len(opened) - 1)
    closed = [draft for draft in drafts if isinstance(draft, DraftClosed)]
    assert "The Cedar Bridge was finished in 1911." in closed[0].text
    assert closed[0].source_ids == (BRIDGE.segment_id,)
    assert closed[0].passage is not None


async def test_thinking_is_no_answer_yet(scripted_openai, family):
    scripted_openai.script(Reply([Think("Let me see…"), Hold()]))
    meter = Meter(seconds_left=60)
    drafts = family.writer.write(QUESTION, HITS, language="en", meter=meter)
    thought, opened, *_ = await ending_after(drafts, DraftThinking("Let me see…"), meter)
    assert thought == DraftThinking("Let me see…")
    assert isinstance(opened, DraftOpened)
    assert opened.fallback is not None


async def test_in_mid_answer_what_is_finished_stays_and_the_open_section_is_broken_off(scripted_openai, family):
    begun = '{"sections":[{"text":"In 1911.","source_ids":["' + BRIDGE.segment_id + '"]},{"text":"It carries tw'
    scripted_openai.script(Reply([Say(begun), Hold()]))
    meter = Meter(seconds_left=60)
    drafts = family.writer.write(QUESTION, HITS, language="en", meter=meter)
    assert await ending_after(drafts, DraftText("It carries tw"), meter) == [
        DraftOpened(),
        DraftText("In 1911."),
        DraftClosed("In 1911.", (BRIDGE.segment_id,)),
        DraftOpened(),
        DraftText("It carries tw"),
        DraftText("…"),
        DraftClosed("It carries tw…", ()),
    ]
    assert meter.exhausted == "seconds"
    assert await asyncio.to_thread(scripted_openai.requests[0].wait_disconnected)


async def test_an_answer_that_is_whole_is_not_marked_as_broken_off(scripted_openai, family):
    scripted_openai.script(Reply([Say('{"sections":[{"text":"In 1911.","source_ids":[]}]}'), Hold()]))
    meter = Meter(seconds_left=60)
    drafts = family.writer.write(QUESTION, HITS, language="en", meter=meter)
    assert (await ending_after(drafts, DraftText("In 1911."), meter))[-1] == DraftClosed("In 1911.", ())


async def test_a_reply_that_trickles_ends_with_the_seconds_too(scripted_openai, family):
    scripted_openai.script(Reply([Say('{"sections":[{"text":"Begun'), *[Say(" a")] * 20_000, Hold()]))
    meter = Meter(seconds_left=60)
    drafts = family.writer.write(QUESTION, HITS, language="en", meter=meter)
    closed = (await ending_after(drafts, DraftText("Begun"), meter))[-1]
    assert isinstance(closed, DraftClosed)
    assert closed.text.endswith("…")
    assert len(closed.text) < 20_000


async def test_revising_gives_up(scripted_openai, family):
    writer, faulty = family.writer, [FaultySection(0, "Wrong.", ())]
    scripted_openai.script(Reply([Say('{"sections": ['), Hold()]))
    for meter in (Meter(seconds_left=SECONDS), Meter(calls_left=0)):
        with pytest.raises(BudgetExhausted):
            await writer.revise(QUESTION, faulty, HITS, language="en", meter=meter)


def converse(family: Family, meter: Meter, said: str, intent: str) -> AsyncIterator[Draft]:
    return family.writer.converse(said, [], language="zh", intent=intent, meter=meter)


@CAPS
async def test_small_talk_gets_a_fixed_line_and_a_question_none(scripted_openai, family, cap):
    line = converse(family, spent(scripted_openai, cap), "谢谢", "small_talk")
    opened, text, closed = [draft async for draft in line]
    assert isinstance(opened, DraftOpened)
    assert opened.fallback is not None
    assert (text, closed) == (DraftText(lines("zh").thanks), DraftClosed(lines("zh").thanks, ()))
    none = converse(family, Meter(calls_left=0), "法国的首都是哪里？", "content_query")
    assert [draft async for draft in none] == []


async def test_a_reply_to_small_talk_is_broken_off(scripted_openai, family):
    scripted_openai.script(Reply([Say("You are [S"), Hold()]))
    meter = Meter(seconds_left=60)
    drafts = converse(family, meter, "Thanks!", "small_talk")
    assert await ending_after(drafts, DraftText("You are"), meter) == [
        DraftOpened(source_ids=()),
        DraftText("You are"),
        DraftText(" [S…"),
        DraftClosed("You are [S…", ()),
    ]


async def test_no_retry_waits_longer_than_what_is_left(scripted_openai, family):
    scripted_openai.script(status(429, headers={"Retry-After": "15"}))
    meter = Meter(seconds_left=5)
    with no_longer_than(0):
        grading = await family.at("thorough").grader.grade(QUESTION, HITS, meter=meter)
    assert grading.fallback is not None
    assert (grading.fallback["code"], meter.exhausted, meter.calls) == ("budget_exhausted", "seconds", 1)


async def test_a_cancelled_run_is_cancelled_and_not_out_of_time(scripted_openai, family):
    hold = Hold()
    scripted_openai.script(Reply([hold]))
    meter = Meter(seconds_left=30)
    writing = asyncio.create_task(written(family, meter))
    await asyncio.to_thread(hold.wait_reached)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert meter.exhausted is None
