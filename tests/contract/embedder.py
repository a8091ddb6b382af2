"""The kit that every embedder passes. A test class takes it over and provides the fixture ``embedder``."""

import asyncio

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tools.embeddings.embedder import Embedder

TEXTS = ["The war began in 1914.", "Chiến tranh bắt đầu năm 1914.", "战争始于1914年。", "a", "🙂", "line\r\nbreak"]


class EmbedderContract:
    async def test_a_unit_vector_for_each_text(self, embedder: Embedder) -> None:
        vectors = await embedder.embed(TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.dimension)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)

    async def test_nothing_gives_nothing(self, embedder: Embedder) -> None:
        assert (await embedder.embed([])).shape == (0, embedder.dimension)

    async def test_an_empty_text_is_the_zero_vector_and_moves_no_other(self, embedder: Embedder) -> None:
        vectors = await embedder.embed([TEXTS[0], "", TEXTS[1]])
        assert not vectors[1].any()
        np.testing.assert_allclose(vectors[[0, 2]], await embedder.embed(TEXTS[:2]), atol=1e-6)

    async def test_order_holds_beyond_any_batch(self, embedder: Embedder) -> None:
        texts = [f"{TEXTS[n % len(TEXTS)]} {n}" for n in range(600)]
        vectors = await embedder.embed(texts)
        for n in (0, 63, 64, 255, 256, 599):
            np.testing.assert_allclose(vectors[n : n + 1], await embedder.embed([texts[n]]), atol=1e-5)

    async def test_different_texts_differ(self, embedder: Embedder) -> None:
        first, second = await embedder.embed(TEXTS[:2])
        assert float(first @ second) < 0.999

    async def test_a_long_text(self, embedder: Embedder) -> None:
        assert np.isclose(np.linalg.norm(await embedder.embed(["word and number 7, " * 5_000])), 1.0)

    async def test_many_at_once(self, embedder: Embedder) -> None:
        alone = await embedder.embed(TEXTS)
        for vectors in await asyncio.gather(*[embedder.embed(TEXTS) for _ in range(8)]):
            np.testing.assert_allclose(vectors, alone, atol=1e-6)

    async def test_it_names_itself(self, embedder: Embedder) -> None:
        assert embedder.model
        assert embedder.dimension > 0

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # an embedder keeps nothing of a text
    @given(text=st.text(max_size=200))
    def test_coverage_is_a_share(self, embedder: Embedder, text: str) -> None:
        assert 0.0 <= embedder.coverage(text) <= 1.0
