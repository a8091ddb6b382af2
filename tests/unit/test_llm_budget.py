"""Where the budget ends, each step degrades as it says it does, and no call outlives the run's seconds."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from graph.errors import BudgetExhausted
from graph.evidence import Hit
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, DraftThought, FaultySection
from graph.spending import Meter
from graph.state import Turn
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


async def written(server: ScriptedOpenAI, meter: Meter, **options: bool) -> list[Draft]:
    drafts = scripted_family(server, **options).writer.write(QUESTION, HITS, language="en", meter=meter)
    return [draft async for draft in drafts]


CAPS = pytest.mark.parametrize("cap", ["model_calls", "tokens", "seconds"])


@CAPS
async def test_a_question_is_prepared_by_rule(scripted_openai, cap):
    meter = spent(scripted_openai, cap)
    family = scripted_family(scripted_openai)
    with no_longer_than(SECONDS):
        prepared = await family.preparer.prepare(
            "And when was it finished?", TURNS, search="auto", has_pages=False, meter=meter
        )
    assert prepared.needs_retrieval
    assert "Cedar Bridge" in prepared.standalone_question
    assert prepared.fallback is not None
    assert prepared.fallback["code"] == "budget_exhausted"
    assert cap in prepared.fallback["message"]
    assert meter.exhausted == cap
    if cap == "seconds":
        assert await asyncio.to_thread(scripted_openai.requests[0].wait_disconnected)
    else:
        assert scripted_openai.requests == []


async def test_small_talk_stays_small_talk(scripted_openai):
    preparer = scripted_family(scripted_openai).preparer
    prepared = await preparer.prepare("Thanks!", [], search="auto", has_pages=False, meter=Meter(calls_left=0))
    assert (prepared.intent, prepared.needs_retrieval) == ("small_talk", False)
    assert prepared.fallback is not None


@CAPS
async def test_candidates_are_kept_by_their_search_score(scripted_openai, cap):
    meter = spent(scripted_openai, cap)
    grading = await scripted_family(scripted_openai).grader.grade(QUESTION, HITS, meter=meter)
    assert grading.kept == ((BRIDGE.segment_id, 0.9), (BAKERY.segment_id, 0.4))
    assert grading.fallback is not None
    assert grading.fallback["code"] == "budget_exhausted"


@CAPS
async def test_the_sources_are_quoted_and_the_first_section_says_why(scripted_openai, cap):
    drafts = await written(scripted_openai, spent(scripted_openai, cap))
    opened = [draft for draft in drafts if isinstance(draft, DraftOpened)]
    assert opened[0].fallback is not None
    assert opened[0].fallback["code"] == "budget_exhausted"
    assert [draft.fallback for draft in opened[1:]] == [None] * (len(opened) - 1)
    closed = [draft for draft in drafts if isinstance(draft, DraftClosed)]
    assert closed[0] == DraftClosed("The Cedar Bridge was finished in 1911.", (BRIDGE.segment_id,))


async def test_thinking_is_no_answer_yet(scripted_openai):
    scripted_openai.script(Reply([Think("Let me see…"), Hold()]))
    drafts = await written(scripted_openai, Meter(seconds_left=SECONDS), thinking=True)
    assert drafts[0] == DraftThought("Let me see…")
    assert isinstance(drafts[1], DraftOpened)
    assert drafts[1].fallback is not None


async def test_in_mid_answer_what_is_finished_stays_and_the_open_section_is_broken_off(scripted_openai):
    begun = '{"sections":[{"text":"In 1911.","source_ids":["' + BRIDGE.segment_id + '"]},{"text":"It carries tw'
    scripted_openai.script(Reply([Say(begun), Hold()]))
    meter = Meter(seconds_left=SECONDS)
    with no_longer_than(SECONDS):
        drafts = await written(scripted_openai, meter)
    assert drafts == [
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


async def test_an_answer_that_is_whole_is_not_marked_as_broken_off(scripted_openai):
    whole = '{"sections":[{"text":"In 1911.","source_ids":[]}]}'
    scripted_openai.script(Reply([Say(whole), Hold()]))
    drafts = await written(scripted_openai, Meter(seconds_left=SECONDS))
    assert drafts[-1] == DraftClosed("In 1911.", ())


async def test_a_reply_that_trickles_ends_with_the_seconds_too(scripted_openai):
    scripted_openai.script(Reply([Say('{"sections":[{"text":"'), *[Say("a ")] * 20_000, Hold()]))
    with no_longer_than(SECONDS):
        drafts = await written(scripted_openai, Meter(seconds_left=SECONDS))
    assert isinstance(drafts[-1], DraftClosed)
    assert drafts[-1].text.endswith("…")


async def test_revising_gives_up(scripted_openai):
    writer, faulty = scripted_family(scripted_openai).writer, [FaultySection(0, "Wrong.", ())]
    scripted_openai.script(Reply([Say('{"sections": ['), Hold()]))
    for meter in (Meter(seconds_left=SECONDS), Meter(calls_left=0)):
        with pytest.raises(BudgetExhausted):
            await writer.revise(QUESTION, faulty, HITS, language="en", meter=meter)


async def converse(server: ScriptedOpenAI, meter: Meter, said: str, intent: str) -> list[Draft]:
    writer = scripted_family(server).writer
    drafts = writer.converse(said, [], language="zh", intent=intent, meter=meter)  # type: ignore[arg-type]
    return [draft async for draft in drafts]


@CAPS
async def test_small_talk_gets_a_fixed_line_and_a_question_none(scripted_openai, cap):
    opened, text, closed = await converse(scripted_openai, spent(scripted_openai, cap), "谢谢", "small_talk")
    assert isinstance(opened, DraftOpened)
    assert opened.fallback is not None
    assert (text, closed) == (DraftText(lines("zh").thanks), DraftClosed(lines("zh").thanks, ()))
    assert await converse(scripted_openai, Meter(calls_left=0), "法国的首都是哪里？", "content_query") == []


async def test_a_reply_to_small_talk_is_broken_off(scripted_openai):
    scripted_openai.script(Reply([Say("You are [S"), Hold()]))
    drafts = await converse(scripted_openai, Meter(seconds_left=SECONDS), "Thanks!", "small_talk")
    assert drafts == [DraftOpened(), DraftText("You are"), DraftText(" [S…"), DraftClosed("You are [S…", ())]


async def test_no_retry_waits_longer_than_what_is_left(scripted_openai):
    scripted_openai.script(status(429, headers={"Retry-After": "15"}))
    meter = Meter(seconds_left=5)
    with no_longer_than(0):
        grading = await scripted_family(scripted_openai).grader.grade(QUESTION, HITS, meter=meter)
    assert grading.fallback is not None
    assert (grading.fallback["code"], meter.exhausted, meter.calls) == ("budget_exhausted", "seconds", 1)


async def test_a_cancelled_run_is_cancelled_and_not_out_of_time(scripted_openai):
    hold = Hold()
    scripted_openai.script(Reply([hold]))
    meter = Meter(seconds_left=30)
    writing = asyncio.create_task(written(scripted_openai, meter))
    await asyncio.to_thread(hold.wait_reached)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert meter.exhausted is None
