"""An endpoint's calls against a real server that misbehaves: counted, bounded, and never taken for done when broken."""

import asyncio
import gc
import json
import time
from contextlib import aclosing
from email.utils import formatdate
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from graph.errors import BudgetExhausted, ModelContextExceeded, ModelRefused, ModelReplyInvalid, ModelUnavailable
from graph.usage import Meter
from tests.scripted_openai import (
    Break,
    Fail,
    Hold,
    Raw,
    Reply,
    Say,
    ScriptedOpenAI,
    Think,
    say,
    scripted_openai,
    status,
    token,
)
from tools.llm.model_endpoint import Endpoint
from tools.llm.model_reply import ReplyEnd, ReplyPart, ReplyText, ReplyThinking, ReplyTokens
from tools.llm.reply_schemas import preparation_schema
from tools.settings import ModelSettings

__all__ = ["scripted_openai"]

PREPARATION = preparation_schema([], sub_questions=False)


def endpoint(
    server: ScriptedOpenAI, *, timeout: float = 15.0, temperature: float | None = 0.0, **model: Any
) -> Endpoint:
    settings = ModelSettings(
        name="scripted", base_url=server.base_url, model="upstream", timeout_seconds=timeout, **model
    )
    return Endpoint(settings, "upstream", temperature=temperature)


async def reply(
    to: Endpoint, *, schema: Any = None, meter: Meter | None = None, max_characters: int = 10_000
) -> list[ReplyPart]:
    asked = [("system", "Be brief."), ("user", "Go on.")]
    parts = to.reply(asked, schema=schema, max_characters=max_characters, meter=meter or Meter())
    return [part async for part in parts]


def said(parts: list[ReplyPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, ReplyText))


async def test_a_reply_streams_and_is_counted(scripted_openai):
    scripted_openai.script(say("Hel", "lo.", tokens=17))
    meter = Meter()
    parts = await reply(endpoint(scripted_openai), meter=meter)
    assert parts == [ReplyText("Hel"), ReplyText("lo."), ReplyEnd(cut=False)]
    assert (meter.calls, meter.tokens) == (1, 17)
    body = scripted_openai.requests[0].body
    assert body["model"] == "upstream"
    assert body["temperature"] == 0.0
    assert body["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go on."}]


async def test_a_reply_is_freed_when_it_ends_and_not_by_a_collection_of_garbage(scripted_openai):
    scripted_openai.script(say("Hello."))
    asked = endpoint(scripted_openai)
    gc.collect()
    gc.disable()
    try:
        known = set(map(id, _responses()))
        await reply(asked)
        for _ in range(10):  # the loop closes generators that the SDK left open
            await asyncio.sleep(0)
        assert set(map(id, _responses())) <= known
    finally:
        gc.enable()


def _responses() -> list[httpx2.Response]:
    return [each for each in gc.get_objects() if type(each) is httpx2.Response]


async def test_tokens_are_estimated_where_the_endpoint_reports_none(scripted_openai):
    scripted_openai.script(say("Hello.", tokens=None))
    meter = Meter()
    await reply(endpoint(scripted_openai), meter=meter)
    assert meter.tokens > 0


async def test_text_is_out_while_the_rest_is_held_and_closing_drops_the_connection(scripted_openai):
    hold = Hold()
    scripted_openai.script(Reply([Say("first half"), hold, Say(" second half")]))
    async with aclosing(
        endpoint(scripted_openai).reply([("user", "Go on.")], schema=None, max_characters=100, meter=Meter())
    ) as parts:
        assert await anext(parts) == ReplyText("first half")
        await asyncio.to_thread(hold.wait_reached)
    assert await asyncio.to_thread(scripted_openai.requests[0].wait_disconnected)


async def test_cancelling_the_task_drops_the_connection(scripted_openai):
    hold = Hold()
    scripted_openai.script(Reply([Say("first half"), hold]))
    meter = Meter()
    task = asyncio.create_task(reply(endpoint(scripted_openai), meter=meter))
    await asyncio.to_thread(hold.wait_reached)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(scripted_openai.requests[0].wait_disconnected)
    assert meter.calls == 1


async def test_thinking_goes_apart_from_the_answer(scripted_openai):
    scripted_openai.script(Reply([Think("Hm"), Think("m."), Say("Yes.")]), say("<thi", "nk>Hmm.</th", "ink>Yes."))
    for _ in range(2):
        parts = await reply(endpoint(scripted_openai))
        assert said(parts) == "Yes."
        assert "".join(part.text for part in parts if isinstance(part, ReplyThinking)) == "Hmm."


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (Reply([Say("Hel"), Fail()]), ModelUnavailable),
        (Reply([Say("Hel"), Break()]), ModelUnavailable),
        (say("Hello.", finish_reason=None, done=False, tokens=None), ModelUnavailable),
        (Reply([Say("Hel"), Raw(b"data: {oops\n\n")]), ModelReplyInvalid),
        (Reply([Say("Hel"), Raw(b"data: 7\n\n")]), ModelReplyInvalid),
        (Reply([Say("Hel"), Raw(b"data: \xff\xfe\n\n")]), ModelReplyInvalid),
        (
            Reply([Raw(b"<html>Not an endpoint</html>\n\n")], finish_reason=None, done=False, tokens=None),
            ModelReplyInvalid,
        ),
        (say("", finish_reason="content_filter"), ModelReplyInvalid),
        (status(401, "bad key sk-123"), ModelUnavailable),
        (status(404), ModelUnavailable),
        (status(400, "nonsense"), ModelUnavailable),
    ],
)
async def test_a_reply_that_broke_is_a_failure_and_is_not_asked_for_again(scripted_openai, broken, error):
    scripted_openai.script(broken)
    meter = Meter()
    with pytest.raises(error) as failure:
        await reply(endpoint(scripted_openai), meter=meter)
    assert meter.calls == len(scripted_openai.requests) == 1
    assert "sk-123" not in failure.value.message
    assert "127.0.0.1" not in failure.value.message


async def test_text_that_says_done_is_not_the_end(scripted_openai):
    scripted_openai.script(say("data: [DONE]\n\n", "\ndata: [DONE]", done=False, finish_reason=None))
    with pytest.raises(ModelUnavailable):
        await reply(endpoint(scripted_openai))


@pytest.mark.parametrize("ending", [{"done": False}, {"finish_reason": None}])
async def test_either_sign_of_the_end_is_believed(scripted_openai, ending):
    scripted_openai.script(say("Hello.", **ending))
    assert said(await reply(endpoint(scripted_openai))) == "Hello."


async def test_a_reply_that_comes_whole_although_a_stream_was_asked_for_is_read(scripted_openai):
    whole = {
        "id": "1",
        "object": "chat.completion",
        "model": "upstream",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 4, "total_tokens": 11},
    }
    headers = {"Content-Type": "application/json"}
    scripted_openai.script(Reply(body=json.dumps(whole).encode(), headers=headers))
    meter = Meter()
    assert said(await reply(endpoint(scripted_openai), meter=meter)) == "Hello."
    assert meter.tokens == 11


def delta(**said: Any) -> Raw:
    return Raw(f"data: {json.dumps({'choices': [{'index': 0, 'delta': said}]})}\n\n".encode())


DECLINED = delta(refusal="I can't help with that.")
CALLED = delta(
    tool_calls=[{"index": 0, "id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]
)


@pytest.mark.parametrize(
    ("told", "reason", "message"),
    [(DECLINED, "stop", "declined to answer: I can't help"), (CALLED, "tool_calls", "called a tool")],
)
async def test_a_reply_without_text_is_told_for_what_it_is(scripted_openai, told, reason, message):
    scripted_openai.script(Reply([told], finish_reason=reason))
    with pytest.raises(ModelReplyInvalid, match=message):
        await reply(endpoint(scripted_openai))


async def test_the_endpoint_s_reason_for_a_refusal_is_in_the_log_and_not_in_the_error(scripted_openai, caplog):
    scripted_openai.script(status(400, "top_k is not one of ours"))
    with pytest.raises(ModelRefused) as refused:
        await reply(endpoint(scripted_openai))
    assert "top_k is not one of ours" in caplog.text
    assert "top_k" not in refused.value.message


@pytest.mark.parametrize(
    "refusal",
    [
        "System role not supported",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
async def test_a_model_without_a_system_role_is_told_by_its_user(scripted_openai, refusal):
    scripted_openai.script(status(400, refusal), say("Yes."), say("Yes."))
    to = endpoint(scripted_openai)
    await reply(to)
    await reply(to)
    folded = [{"role": "user", "content": "Be brief.\n\nGo on."}]
    assert [request.body["messages"] for request in scripted_openai.requests[1:]] == [folded, folded]


@pytest.mark.parametrize(
    ("refusal", "tokens"),
    [
        ("This model's maximum context length is 8192 tokens. However, you requested 9001 tokens.", 8192),
        ("The request exceeds the available context size. n_ctx: 4096, n_prompt_tokens: 9001", 4096),
        ("prompt is too long: 9001 tokens > 6000 maximum", 6000),
        ("The input token count (9001) exceeds the maximum number of tokens allowed (7000).", 7000),
        ("the model is loaded with context length of only 4096 tokens", 4096),
    ],
)
async def test_the_context_is_learned_from_a_refusal(scripted_openai, refusal, tokens):
    scripted_openai.script(status(400, refusal))
    to = endpoint(scripted_openai, context_tokens=32_000)
    with pytest.raises(ModelContextExceeded, match=f"{tokens:,}"):
        await reply(to)
    assert to.context_tokens == tokens


async def test_a_stall_ends_after_the_models_timeout(scripted_openai):
    scripted_openai.script(Reply([Say("Hel"), Hold()]), Reply([Hold()]))
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="in time"):
            await reply(endpoint(scripted_openai, timeout=0.3))
        assert await asyncio.to_thread(scripted_openai.requests[-1].wait_disconnected)


async def test_pings_without_text_are_a_stall_too(scripted_openai):
    pings = [Raw(b": ping\n\n")] * 3
    scripted_openai.script(Reply([Say("Hel"), *pings, Hold()]))
    with pytest.raises(ModelUnavailable, match="in time"):
        await reply(endpoint(scripted_openai, timeout=0.3))


@pytest.mark.parametrize(
    "refusal",
    [
        status(429, headers={"Retry-After": "0"}),
        status(429, headers={"Retry-After": formatdate(time.time() - 5, usegmt=True)}),
        status(429),
        status(500),
        status(503, headers={"Retry-After": "0"}),
        Reply([Break()]),
        Reply([Fail()]),
    ],
)
async def test_what_may_pass_is_tried_again_and_every_attempt_counted(scripted_openai, refusal):
    scripted_openai.script(refusal, refusal, say("At last."))
    meter = Meter()
    assert said(await reply(endpoint(scripted_openai), meter=meter)) == "At last."
    assert meter.calls == 3


async def test_retry_after_is_honoured(scripted_openai):
    scripted_openai.script(status(429, headers={"Retry-After": "1"}), say("At last."))
    began = time.monotonic()
    assert said(await reply(endpoint(scripted_openai))) == "At last."
    assert time.monotonic() - began >= 1.0


@pytest.mark.parametrize(
    ("refusal", "calls"),
    [
        (status(500), 3),
        (status(429, headers={"Retry-After": "3600"}), 1),
        (status(429, code="insufficient_quota"), 1),
    ],
)
async def test_trying_again_has_bounds(scripted_openai, refusal, calls):
    scripted_openai.script(*[refusal] * 4)
    meter = Meter()
    with pytest.raises(ModelUnavailable):
        await reply(endpoint(scripted_openai), meter=meter)
    assert meter.calls == calls


async def test_an_attempt_beyond_the_budget_is_not_made(scripted_openai):
    scripted_openai.script(*[status(500)] * 4)
    with pytest.raises(BudgetExhausted):
        await reply(endpoint(scripted_openai), meter=Meter(calls_left=2))
    assert len(scripted_openai.requests) == 2


async def test_nobody_listening_is_unavailable():
    with ScriptedOpenAI() as server:
        to = endpoint(server)
    with pytest.raises(ModelUnavailable, match="reached"):
        await reply(to)


def formats(server: ScriptedOpenAI) -> list[str]:
    return [exchange.body.get("response_format", {"type": "none"})["type"] for exchange in server.requests]


async def test_a_format_refused_is_asked_for_more_simply_and_remembered(scripted_openai):
    scripted_openai.script(status(400, "no schema"), status(400, "no format"), say("{}"), say("{}"))
    to, meter = endpoint(scripted_openai), Meter()
    await reply(to, schema=PREPARATION, meter=meter)
    await reply(to, schema=PREPARATION, meter=meter)
    assert formats(scripted_openai) == ["json_schema", "json_object", "none", "none"]
    assert meter.calls == 4


async def test_a_request_refused_in_every_form_teaches_nothing(scripted_openai):
    scripted_openai.script(*[status(400, "too long")] * 3, say("{}"))
    to = endpoint(scripted_openai)
    with pytest.raises(ModelUnavailable, match="refused"):
        await reply(to, schema=PREPARATION)
    await reply(to, schema=PREPARATION)
    assert formats(scripted_openai)[-1] == "json_schema"


async def test_only_the_field_that_is_refused_is_left_out(scripted_openai):
    refusal = status(400, "Unsupported value: 'temperature' does not support 0.", param="temperature")
    scripted_openai.script(refusal, status(422, "stream_options: unknown field"), say("{}"))
    await reply(endpoint(scripted_openai), schema=PREPARATION)
    last = scripted_openai.requests[-1].body
    assert "temperature" not in last
    assert "stream_options" not in last
    assert last["response_format"]["type"] == "json_schema"


async def test_an_endless_reply_is_cut_and_the_connection_closed(scripted_openai):
    scripted_openai.script(Reply([Say("x" * 60), Say("x" * 60), Hold()]), say("y" * 10, finish_reason="length"))
    parts = await reply(endpoint(scripted_openai), max_characters=100)
    assert said(parts) == "x" * 100
    assert parts[-1] == ReplyEnd(cut=True)
    assert await asyncio.to_thread(scripted_openai.requests[0].wait_disconnected)
    assert (await reply(endpoint(scripted_openai)))[-1] == ReplyEnd(cut=True)


async def test_a_character_that_the_endpoint_cut_in_two_arrives_whole(scripted_openai):
    scripted_openai.script(say("a\ud83d", "\ude00b"))
    assert said(await reply(endpoint(scripted_openai))) == "a😀b"


async def test_the_key_of_another_service_is_never_sent(scripted_openai, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    await reply(endpoint(scripted_openai))
    await reply(endpoint(scripted_openai, api_key=SecretStr("sk-own")))
    keys = [exchange.headers["authorization"] for exchange in scripted_openai.requests]
    assert keys == ["Bearer no-key", "Bearer sk-own"]


async def test_calls_that_overlap_keep_what_each_has_learned(scripted_openai):
    hold = Hold()
    scripted_openai.script(Reply([Say("first"), hold, Say(" last")]))
    to = endpoint(scripted_openai)
    early = asyncio.create_task(reply(to))
    await asyncio.to_thread(hold.wait_reached)
    scripted_openai.script(status(400, "temperature is not supported"))
    await reply(to)
    hold.release()
    await early
    await reply(to)
    assert ["temperature" in request.body for request in scripted_openai.requests] == [True, True, False, False]


async def test_log_probabilities_are_asked_for_only_where_they_are_read(scripted_openai):
    tokens = [token("Yes", 0.75, No=0.25)]
    scripted_openai.script(*[Reply([Say("Yes", tokens=tokens)])] * 2)
    to = endpoint(scripted_openai)
    asked = to.reply([("user", "Go on.")], schema=None, max_characters=100, meter=Meter(), logprobs=True)
    parts = [part async for part in asked]
    assert [type(part) for part in parts] == [ReplyTokens, ReplyText, ReplyEnd]
    assert parts[0].tokens[0].alternatives == (("Yes", pytest.approx(0.75)), ("No", pytest.approx(0.25)))
    assert [type(part) for part in await reply(to)] == [ReplyText, ReplyEnd]
    assert [request.body.get("top_logprobs") for request in scripted_openai.requests] == [5, None]
