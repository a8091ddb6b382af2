from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from graph.errors import EmbeddingMismatch
from tools.embeddings.embedder import Embedder, check_recorded, recorded_embedding, refuse_mismatch
from tools.storage.database import Database


class Named(Embedder):
    """An embedder of which only the name and the dimension matter."""

    def __init__(self, model: str, dimension: int) -> None:
        self.model = model
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("checking the record embeds nothing")

    def coverage(self, text: str) -> float:
        raise AssertionError("checking the record reads no text")

    async def close(self) -> None: ...


async def test_the_first_use_is_recorded(database: Database) -> None:
    async with database.connection() as connection:
        await refuse_mismatch(connection, Named("a", 8))
        assert await recorded_embedding(connection) is None
        await check_recorded(connection, Named("a", 8))
        assert await recorded_embedding(connection) == ("a", 8)
        await check_recorded(connection, Named("a", 8))


@pytest.mark.parametrize("other", [Named("b", 8), Named("a", 16)])
async def test_another_model_or_dimension_names_the_way_out(database: Database, other: Named) -> None:
    async with database.connection() as connection:
        await check_recorded(connection, Named("a", 8))
        with pytest.raises(EmbeddingMismatch, match="embedded by a with 8") as caught:
            await check_recorded(connection, other)
        assert await recorded_embedding(connection) == ("a", 8)
    assert "citewell reindex" in caught.value.advice
