"""Endpoints with the limits that servers and providers have: each embeds a library, and none loses a text."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pytest

from evals.scripted_endpoint import ModelRequest, Reply, ScriptedEndpoint, embeddings
from graph.errors import EmbeddingUnavailable
from tests.contract.embeddings_server import DIMENSION, serve_embeddings, vector
from tools.embeddings.embedder import EndpointEmbedder
from tools.settings import EmbeddingSettings

LIBRARY = [f"Segment {number} of a library. " * (1 + number % 12) for number in range(300)]


@dataclass(frozen=True)
class Limits:
    """What an endpoint takes: texts a request, characters of a text and of a request; and how it refuses more."""

    texts: int = 1_000_000
    text: int = 1_000_000
    request: int = 1_000_000
    status: int = 400
    body: Any = None
    busy_every: int = 0


ENDPOINTS = {
    "text-embeddings-inference": Limits(
        texts=32,
        status=413,
        body={"error": "batch size 64 > maximum allowed batch size 32", "error_type": "Validation"},
    ),
    "dashscope": Limits(
        texts=10, body={"error": {"message": "batch size is invalid, it should not be larger than 10."}}
    ),
    "openai": Limits(texts=2048, text=30_000, body={"error": {"message": "maximum input length is 8192 tokens."}}),
    "gemini": Limits(texts=100, body=[{"error": {"code": 400, "message": "at most 100 requests can be in one batch"}}]),
    "ollama": Limits(text=200, body={"error": "the input length exceeds the context length"}),
    "vllm": Limits(text=250, body={"object": "error", "message": "This model's maximum context length is 512 tokens."}),
    "llama.cpp": Limits(
        text=300, status=500, body={"error": {"code": 500, "message": "input is too large to process"}}
    ),
    "voyage": Limits(texts=128, request=4_000, body={"detail": "The max allowed tokens per batch is 120000."}),
    "cohere": Limits(texts=96, body={"message": "total number of texts must be at most 96"}),
    "azure": Limits(texts=16, busy_every=3, body={"error": {"message": "Too many inputs. The max number is 16."}}),
}


def answering(limits: Limits) -> Callable[[ModelRequest], Reply]:
    """Return what an endpoint of such limits replies."""
    requests = count(1)

    def respond(request: ModelRequest) -> Reply:
        texts: list[str] = request.body["input"]
        if limits.busy_every and next(requests) % limits.busy_every == 0:
            return Reply(status=429, body=b'{"error": {"message": "Busy."}}', headers={"Retry-After": "0.001"})
        is_too_much = len(texts) > limits.texts or sum(map(len, texts)) > limits.request
        if is_too_much or max(map(len, texts)) > limits.text:
            return Reply(status=limits.status, body=json.dumps(limits.body).encode())
        return embeddings([vector(text) for text in texts])

    return respond


@pytest.fixture
async def server() -> AsyncIterator[ScriptedEndpoint]:
    async with serve_embeddings() as running:
        yield running


async def embedder_of(server: ScriptedEndpoint, **settings: Any) -> EndpointEmbedder:
    made = EmbeddingSettings(model="m", base_url=server.base_url, dimension=DIMENSION, **settings)
    return await EndpointEmbedder.connect(made)


@pytest.mark.parametrize("name", ENDPOINTS)
async def test_a_library_is_embedded_within_the_limits(server: ScriptedEndpoint, name: str) -> None:
    limits = ENDPOINTS[name]
    server.respond = answering(limits)
    embedder = await embedder_of(server)
    vectors = await embedder.embed(LIBRARY)
    await embedder.close()
    whole = [index for index, text in enumerate(LIBRARY) if len(text) <= limits.text]
    expected = np.array([vector(LIBRARY[index]) for index in whole])
    np.testing.assert_allclose(vectors[whole], expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-5)
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [1.0] * len(LIBRARY)


async def test_a_limit_is_run_into_once(server: ScriptedEndpoint) -> None:
    server.respond = answering(ENDPOINTS["dashscope"])
    embedder = await embedder_of(server)
    await embedder.embed(LIBRARY)
    sent = len(server.requests)
    await embedder.embed(LIBRARY)
    await embedder.close()
    assert all(len(request.body["input"]) <= 10 for request in server.requests[sent:])


async def test_settings_say_how_much_a_request_holds(server: ScriptedEndpoint) -> None:
    embedder = await embedder_of(server, batch_texts=20, batch_characters=1_000)
    await embedder.embed(LIBRARY)
    await embedder.close()
    sent = [request.body["input"] for request in server.requests]
    assert [text for texts in sent for text in texts] == LIBRARY
    assert max(map(len, sent)) <= 20
    assert max(sum(map(len, texts)) for texts in sent) <= 1_000


async def test_the_endpoint_s_own_reason_is_told_without_its_key_and_address(server: ScriptedEndpoint) -> None:
    said = f"model nomic has no embeddings at {server.base_url} for sk-1234567890"
    server.respond = lambda _: Reply(status=400, body=json.dumps({"error": {"message": said}}).encode())
    embedder = await embedder_of(server)
    with pytest.raises(EmbeddingUnavailable) as caught:
        await embedder.embed(LIBRARY)
    await embedder.close()
    assert "model nomic has no embeddings" in caught.value.message
    assert "127.0.0.1" not in caught.value.message
    assert "sk-1234567890" not in caught.value.message
    assert len(server.requests) < 16
