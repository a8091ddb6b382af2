"""A reasoning model's thinking is told as it comes, and is no part of the answer or of anything that is kept."""

import json
from collections.abc import Sequence
from typing import Any

import httpx
import psycopg
import pytest

from tests.api.conftest import HANDBOOK, new_session
from tests.api.reading import events_of
from tests.scripted_openai import Reply, Say, ScriptedOpenAI, Step, Think
from tools.settings import Settings

THOUGHTS = "Let me see. The xylophone says twenty-five."
SECTION = "Every employee gets 25 days of annual leave a year."
ANSWER = json.dumps({"sections": [{"text": SECTION, "source_ids": [f"{HANDBOOK}:0"]}]})
QUESTION = "How many days of annual leave does an employee get?"


def cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def said(text: str, size: int) -> list[Step]:
    return [Say(piece) for piece in cut(text, size)]


THINKING: list[Step] = [Think(piece) for piece in cut(THOUGHTS, 5)]
WAYS: dict[str, Sequence[Step]] = {
    "beside the answer": [*THINKING, *said(ANSWER, 7)],
    "in a block": said(f"<think>{THOUGHTS}</think>{ANSWER}", 9),
    "in a block that is cut anywhere": said(f"\n <think>{THOUGHTS}</think>\n\n{ANSWER}", 1),
    "in a block that comes whole": said(f"<think>{THOUGHTS}</think>{ANSWER}", 10_000),
}


async def asked(
    client: httpx.AsyncClient, server: ScriptedOpenAI, steps: Sequence[Step], to: str
) -> list[dict[str, Any]]:
    server.script(Reply(steps=steps), to=to)
    question = QUESTION if to == "generate_answer" else "Hello"
    response = await client.post(f"/api/sessions/{await new_session(client)}/runs", json={"question": question})
    return events_of(response)


def thoughts_in(events: list[dict[str, Any]]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "thinking_delta")


def but_thinking(events: list[dict[str, Any]]) -> str:
    return json.dumps([event for event in events if event["type"] != "thinking_delta"])


async def stored(settings: Settings) -> str:
    """Give all that is kept of sessions, but for the log that a stream can be joined from."""
    assert settings.database_url is not None
    async with await psycopg.AsyncConnection.connect(settings.database_url.get_secret_value()) as connection:
        texts = []
        for table in ("sessions", "messages", "runs", "checkpoints"):
            rows = await connection.execute(f"SELECT kept::text FROM {table} AS kept")
            texts += [row[0] for row in await rows.fetchall()]
        for table in ("checkpoint_blobs", "checkpoint_writes"):
            rows = await connection.execute(f"SELECT blob FROM {table}")
            texts += [row[0].decode("latin-1") for row in await rows.fetchall() if row[0]]
    return "\n".join(texts)


@pytest.mark.parametrize("steps", WAYS.values(), ids=WAYS)
async def test_thinking_is_told_apart_from_the_answer_and_not_kept(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, settings: Settings, steps: Sequence[Step]
) -> None:
    events = await asked(model_client, scripted_openai, steps, "generate_answer")
    assert thoughts_in(events) == THOUGHTS
    assert events[-1]["outcome"] == "answered"
    assert events[-1]["message"]["answer"] == SECTION
    kinds = [event["type"] for event in events]
    assert max(i for i, kind in enumerate(kinds) if kind == "thinking_delta") < kinds.index("text_delta")
    kept = await stored(settings)
    assert SECTION in kept
    for told in (but_thinking(events), kept):
        for trace in ("xylophone", "think>"):
            assert trace not in told


@pytest.mark.parametrize("steps", [THINKING, said(f"<think>{THOUGHTS}", 6)], ids=["beside", "unclosed"])
async def test_a_model_that_only_thinks_has_not_answered(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, settings: Settings, steps: Sequence[Step]
) -> None:
    for _ in range(3):  # it is asked again where its reply can't be read
        scripted_openai.script(Reply(steps=steps), to="generate_answer")
    events = await asked(model_client, scripted_openai, steps, "generate_answer")
    assert thoughts_in(events).startswith("Let me see.")
    assert (events[-1]["type"], events[-1]["code"]) == ("run_failed", "model_reply_invalid")
    for told in (but_thinking(events), await stored(settings)):
        assert "xylophone" not in told


@pytest.mark.parametrize(
    "steps",
    [[*THINKING, Say("Hello there.")], said(f"<think>{THOUGHTS}</think>Hello there.", 3)],
    ids=["beside", "block"],
)
async def test_small_talk_is_thought_about_in_the_same_way(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI, settings: Settings, steps: Sequence[Step]
) -> None:
    events = await asked(model_client, scripted_openai, steps, "answer_directly")
    assert thoughts_in(events) == THOUGHTS
    assert events[-1]["message"]["answer"] == "Hello there."
    for told in (but_thinking(events), await stored(settings)):
        assert "xylophone" not in told


async def test_no_link_leaves_with_a_thought(model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI) -> None:
    thought = "Look at ![x](https://evil.example/?q=25) and think."
    steps: list[Step] = [*map(Think, cut(thought, 4)), *said(ANSWER, 9)]
    events = await asked(model_client, scripted_openai, steps, "generate_answer")
    assert "evil.example" not in thoughts_in(events)
    assert events[-1]["message"]["answer"] == SECTION


async def test_what_other_steps_think_is_left_out(
    model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    kept = '{"relevant": [1]}'
    scripted_openai.script(Reply(steps=[*said(f"<think>{THOUGHTS}</think>{kept}", 5)]), to="grade_segments")
    events = await asked(model_client, scripted_openai, said(ANSWER, 9), "generate_answer")
    assert events[-1]["message"]["answer"] == SECTION
    assert next(event for event in events if event["type"] == "sources_graded")["fallback"] is None
    assert "xylophone" not in json.dumps(events)
