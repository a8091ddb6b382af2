"""The scripted endpoint speaks the protocol that clients of OpenAI expect, and fails as it is scripted to."""

import time
from itertools import pairwise

import httpx
import pytest
from openai import APIConnectionError, APIError, AsyncOpenAI, RateLimitError

from evals.scripted_endpoint import (
    Break,
    Fail,
    ModelRequest,
    Reply,
    Say,
    Wait,
    embeddings,
    say,
    scripted_endpoint,
    status,
)
from evals.scripted_replies import sensible

QUESTION = {"role": "user", "content": "Hm?"}


async def streamed(reply: Reply) -> str:
    async with (
        scripted_endpoint(lambda _: reply) as endpoint,
        AsyncOpenAI(base_url=endpoint.base_url, api_key="none", max_retries=0) as client,
    ):
        stream = await client.chat.completions.create(model="any", messages=[QUESTION], stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


async def test_a_reply_is_streamed_and_whole() -> None:
    reply = say("Par", "is.")
    assert await streamed(reply) == "Paris."
    async with (
        scripted_endpoint(lambda _: reply) as endpoint,
        AsyncOpenAI(base_url=endpoint.base_url, api_key="none") as client,
    ):
        whole = await client.chat.completions.create(model="any", messages=[QUESTION])
        assert whole.choices[0].message.content == "Paris."
        assert whole.usage is not None
        assert whole.usage.total_tokens == 42


@pytest.mark.parametrize("stream", [True, False])
async def test_a_paced_reply_takes_its_time_and_says_when_it_wrote_each_delta(*, stream: bool) -> None:
    async with (
        scripted_endpoint(lambda _: Reply([Wait(0.2), Say("Par"), Wait(0.2), Say("is.")])) as endpoint,
        httpx.AsyncClient(base_url=endpoint.base_url) as client,
    ):
        began = time.monotonic_ns()
        await client.post("/chat/completions", json={"model": "any", "messages": [QUESTION], "stream": stream})
        took = (time.monotonic_ns() - began) / 1e9
        written = endpoint.requests[0].written
    assert took >= 0.2  # a loop that is busy as a timer begins counts from when that iteration began
    assert len(written) == (2 if stream else 0)
    assert all(later - earlier >= 0.1e9 for earlier, later in pairwise(written))


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (status(429, "slow down"), RateLimitError),
        (Reply(steps=[Say("Par"), Fail("out of memory")]), APIError),
        (Reply(steps=[Say("Par"), Break()]), httpx.ReadError),
        (Reply(status=502, body=b"<html>gateway</html>"), APIError),
    ],
)
async def test_a_reply_fails_as_scripted(reply: Reply, error: type[Exception]) -> None:
    with pytest.raises((error, APIConnectionError) if error is httpx.ReadError else error):
        await streamed(reply)


async def test_embeddings_and_models() -> None:
    def of_lengths(request: ModelRequest) -> Reply:
        return embeddings([[float(len(text)), 1.0] for text in request.body["input"]])

    async with (
        scripted_endpoint(of_lengths) as endpoint,
        AsyncOpenAI(base_url=endpoint.base_url, api_key="none") as client,
    ):
        made = await client.embeddings.create(model="any", input=["a", "bcd"], encoding_format="float")
        assert [row.embedding for row in made.data] == [[1.0, 1.0], [3.0, 1.0]]
        assert [model.id async for model in client.models.list()] == ["scripted"]


async def test_a_kept_connection_carries_one_request_after_the_other() -> None:
    limits = httpx.Limits(max_connections=1)
    async with (
        scripted_endpoint(lambda request: say(sensible(request)), keep_alive=True) as endpoint,
        httpx.AsyncClient(base_url=endpoint.base_url, limits=limits) as client,
    ):
        for stream in (False, True, False):
            body = {"model": "any", "messages": [QUESTION], "stream": stream}
            response = await client.post("/chat/completions", json=body)
            assert response.headers["connection"] == "keep-alive"
            assert "Hello." in response.text
        assert [request.wait_disconnected() for request in endpoint.requests] == [False, False, False]
        assert (await client.get("/models")).json()["object"] == "list"
