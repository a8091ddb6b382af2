"""Open the embedding model of the settings, and check it against the model that the library was embedded with."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graph.errors import EmbeddingMismatch
from tools.embeddings.endpoint_embedding import EndpointEmbedder
from tools.embeddings.static_embedding import StaticEmbedder, count_tokens
from tools.settings import Settings
from tools.storage.database import Connection

__all__ = [
    "Embedder",
    "EndpointEmbedder",
    "StaticEmbedder",
    "check_recorded",
    "count_tokens",
    "open_embedder",
    "recorded_embedding",
    "refuse_mismatch",
]


class Embedder(Protocol):
    """Turns text into unit vectors. ``model`` names what made them: vectors of two models never meet."""

    model: str
    dimension: int

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts in their order, shape (n, dimension), each row of length 1; an empty text is the zero vector.

        Raises EmbeddingUnavailable.
        """
        ...

    def coverage(self, text: str) -> float:
        """Return how far the model understands this text, from 0 to 1. Costs tens of microseconds."""
        ...

    async def close(self) -> None:
        """End whatever the embedder holds open; whoever opened it does so."""
        ...


async def open_embedder(settings: Settings) -> Embedder:
    """Open the embedder that the settings name; an endpoint isn't asked anything yet.

    Raises ConfigurationError where the static model has no such dimension.
    """
    if settings.embedding.model == "static":
        return await StaticEmbedder.load(settings.embedding.dimension)
    return await EndpointEmbedder.connect(settings.embedding)


async def check_recorded(connection: Connection, embedder: Embedder) -> None:
    """Record the embedder on first use, and hold it to the record afterwards.

    Raises EmbeddingMismatch where the library's vectors come from another model.
    """
    await connection.execute(
        "INSERT INTO embedding_models (model, dimension) SELECT %s, %s"
        " WHERE NOT EXISTS (SELECT FROM embedding_models) ON CONFLICT (only_one) DO NOTHING",
        [embedder.model, embedder.dimension],
    )
    await refuse_mismatch(connection, embedder)


async def refuse_mismatch(connection: Connection, embedder: Embedder) -> None:
    """Hold the embedder to the record, and write none.

    Raises EmbeddingMismatch where the library's vectors come from another model.
    """
    recorded = await recorded_embedding(connection)
    if recorded is not None and recorded != (embedder.model, embedder.dimension):
        raise EmbeddingMismatch(
            f"The library was embedded by {recorded[0]} with {recorded[1]} dimensions, "
            f"and the settings name {embedder.model} with {embedder.dimension}.",
        )


async def recorded_embedding(connection: Connection) -> tuple[str, int] | None:
    """Read the model and dimension of the library's vectors; None where nothing has been embedded yet."""
    found = await connection.execute("SELECT model, dimension FROM embedding_models")
    row = await found.fetchone()
    return None if row is None else (str(row[0]), int(row[1]))
