import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from evals.scripted_endpoint import ModelRequest, Reply, ScriptedEndpoint, embeddings
from graph.errors import ConfigurationError, EmbeddingUnavailable
from tests.contract.embedder import EmbedderContract
from tests.contract.embeddings_server import DIMENSION, serve_embeddings, vector
from tools.embeddings.embedder import Embedder, EndpointEmbedder, StaticEmbedder, open_embedder
from tools.settings import EmbeddingSettings, Settings


@pytest.fixture
async def server() -> AsyncIterator[ScriptedEndpoint]:
    async with serve_embeddings() as running:
        yield running


@asynccontextmanager
async def connected(server: ScriptedEndpoint, **changes: Any) -> AsyncIterator[EndpointEmbedder]:
    known: dict[str, Any] = {"model": "m", "base_url": server.base_url, "dimension": DIMENSION}
    embedder = await EndpointEmbedder.connect(EmbeddingSettings(**known | changes))
    try:
        yield embedder
    finally:
        await embedder.close()


class TestStaticEmbedder(EmbedderContract):
    @pytest.fixture(params=[256, 64])
    async def embedder(self, request: pytest.FixtureRequest) -> Embedder:
        return await StaticEmbedder.load(request.param)


class TestEndpointEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self, server: ScriptedEndpoint) -> AsyncIterator[Embedder]:
        async with connected(server) as embedder:
            yield embedder

    async def test_what_is_sent(self, server: ScriptedEndpoint) -> None:
        async with connected(server, api_key=SecretStr("k")) as embedder:
            await embedder.embed(["one", "  ", "two"])
        [request] = server.requests
        assert request.path == "/v1/embeddings"
        assert request.body == {"input": ["one", "two"], "model": "m", "encoding_format": "float"}


@pytest.mark.parametrize(
    ("model", "text", "coverage"),
    [
        ("bge-m3", "Phà rời bến cảng vào buổi trưa.", 1.0),
        ("anything", "渡轮中午离开港口。", 1.0),
        ("BAAI/bge-small-en-v1.5", "The ferry leaves at noon.", 1.0),
        ("BAAI/bge-small-en-v1.5", "渡轮中午离开港口。", 0.1),
    ],
)
async def test_a_model_counts_for_every_language_that_it_may_know(
    server: ScriptedEndpoint, model: str, text: str, coverage: float
) -> None:
    async with connected(server, model=model) as embedder:
        assert embedder.coverage(text) == coverage


def reply(status: int, body: Any) -> Callable[[ModelRequest], Reply]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda _: Reply(status=status, body=data)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(reply(500, {"error": {"message": "out of memory"}}), id="server error"),
        pytest.param(reply(401, {"error": {"message": "no"}}), id="refused key"),
        pytest.param(reply(200, b"<html>gateway</html>"), id="no JSON"),
        pytest.param(reply(200, {"data": []}), id="no vectors"),
        pytest.param(reply(200, {"answer": 42}), id="another shape"),
        pytest.param(reply(200, []), id="a list"),
        pytest.param(lambda _: embeddings([vector("a")]), id="one vector for two texts"),
        pytest.param(lambda _: embeddings([vector("a"), vector("b")[:5]]), id="uneven vectors"),
        pytest.param(
            lambda _: embeddings([vector("a"), ["x"] * DIMENSION]),
            id="words for numbers",
            marks=pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),  # from the client
        ),
        pytest.param(lambda _: embeddings([vector("a"), [float("nan")] * DIMENSION]), id="not a number"),
        pytest.param(lambda _: embeddings([vector("a"), [0.0] * DIMENSION]), id="zero vector"),
    ],
)
async def test_a_reply_that_is_no_use(server: ScriptedEndpoint, broken: Callable[[ModelRequest], Reply]) -> None:
    server.respond = broken
    async with connected(server) as embedder:
        with pytest.raises(EmbeddingUnavailable):
            await embedder.embed(["a", "b"])


async def test_another_dimension_than_the_settings_say(server: ScriptedEndpoint) -> None:
    async with connected(server, dimension=64) as embedder:
        with pytest.raises(ConfigurationError) as caught:
            await embedder.embed(["a"])
    assert f"CITEWELL_EMBEDDING__DIMENSION={DIMENSION}" in caught.value.advice


class TestDimension:
    @pytest.mark.parametrize(
        ("model", "known", "sent"),
        [
            ("text-embedding-3-small", 1536, None),
            ("text-embedding-3-large", 3072, None),
            ("embedding-3", 1024, 1024),
            ("embedding-2", 1024, None),
            ("BAAI/bge-m3", 1024, None),
            ("nomic-embed-text:latest", 768, None),
        ],
    )
    async def test_that_of_a_known_model_needs_no_request(
        self, server: ScriptedEndpoint, model: str, known: int, sent: int | None
    ) -> None:
        server.respond = lambda request: embeddings([vector(text, known) for text in request.body["input"]])
        async with connected(server, model=model, dimension=None) as embedder:
            assert (embedder.dimension, server.requests) == (known, [])
            assert (await embedder.embed(["a"])).shape == (1, known)
        assert server.requests[0].body.get("dimensions") == sent

    async def test_a_shorter_one_is_asked_for_where_the_model_can(self, server: ScriptedEndpoint) -> None:
        async with connected(server, model="text-embedding-3-small") as embedder:
            await embedder.embed(["a"])
        assert server.requests[0].body["dimensions"] == DIMENSION

    async def test_that_of_an_unknown_model_is_asked_of_its_endpoint_once(self, server: ScriptedEndpoint) -> None:
        async with connected(server, dimension=None) as embedder:
            assert (embedder.dimension, len(server.requests)) == (DIMENSION, 1)
            await embedder.embed(["a"])
        assert len(server.requests) == 2

    async def test_one_that_is_recorded_is_not_asked_for(self, server: ScriptedEndpoint) -> None:
        settings = Settings(_env_file=None).model_copy(
            update={"embedding": EmbeddingSettings(model="m", base_url=server.base_url)}
        )
        embedder = await open_embedder(settings, ("m", 48))
        assert (embedder.dimension, server.requests) == (48, [])
        await embedder.close()
        other = await open_embedder(settings, ("another", 48))
        assert (other.dimension, len(server.requests)) == (DIMENSION, 1)
        await other.close()

    async def test_an_endpoint_that_can_not_be_asked_says_what_to_set(self, server: ScriptedEndpoint) -> None:
        with pytest.raises(EmbeddingUnavailable) as caught:
            async with connected(server, base_url="http://127.0.0.1:1", dimension=None):
                pass
        assert "CITEWELL_EMBEDDING__DIMENSION" in caught.value.advice

    async def test_vectors_that_can_not_be_stored_are_refused_at_the_start(self, server: ScriptedEndpoint) -> None:
        server.respond = lambda request: embeddings([vector(text, 4096) for text in request.body["input"]])
        with pytest.raises(ConfigurationError, match="4096 dimensions"):
            async with connected(server, dimension=None):
                pass


async def test_an_endpoint_that_is_not_there(server: ScriptedEndpoint) -> None:
    async with connected(server, base_url="http://127.0.0.1:1") as embedder:
        with pytest.raises(EmbeddingUnavailable):
            await embedder.embed(["a"])


async def test_a_failure_in_passing_is_tried_again(server: ScriptedEndpoint) -> None:
    replies = iter([Reply(status=503, body=b"{}"), embeddings([vector("a")])])
    server.respond = lambda _: next(replies)
    async with connected(server) as embedder:
        vectors = await embedder.embed(["a"])
    expected = np.asarray(vector("a"), np.float32)
    np.testing.assert_allclose(vectors[0], expected / np.linalg.norm(expected), atol=1e-6)
