"""Open the configured embedding model, and check it against the model that the library was embedded with."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graph.errors import EmbeddingMismatch
from tools.embeddings.endpoint_embedding import EndpointEmbedder
from tools.embeddings.similarity_scale import FITTED, SimilarityScale
from tools.embeddings.static_embedding import WIDTH, StaticEmbedder, count_tokens
from tools.settings import STATIC, Settings
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
    """An embedding model: text to unit vectors. Vectors of different ``model`` names are never compared."""

    model: str
    dimension: int
    scale: SimilarityScale = FITTED

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed documents in order, shape (n, dimension), each row of norm 1; an empty text is the zero vector.

        Raises EmbeddingUnavailable.
        """
        ...

    async def embed_question(self, text: str) -> NDArray[np.float32]:
        """Embed a question, shape (dimension,). Raises EmbeddingUnavailable."""
        vector: NDArray[np.float32] = (await self.embed([text]))[0]
        return vector

    def coverage(self, text: str) -> float:
        """Return how well the model understands a text, from 0 to 1. Takes tens of microseconds."""
        ...

    async def close(self) -> None:
        """Close the embedder's connections. Called by the code that opened it."""
        ...


async def open_embedder(settings: Settings, recorded: tuple[str, int] | None = None) -> Embedder:
    """Open the embedder that the settings name; ``recorded`` is the model and dimension of the library's vectors.

    Its endpoint is asked for nothing, unless the dimension is neither set nor recorded nor known by the model's name.
    Raises ConfigurationError if the model can't be used or doesn't have the dimension, EmbeddingUnavailable if an
    endpoint is asked for it and does not answer.
    """
    embedding = settings.embedding
    if embedding.model == STATIC:
        return await StaticEmbedder.load(embedding.dimension or WIDTH)
    if embedding.folder is not None:
        from tools.embeddings.onnx_embedding import OnnxEmbedder

        return await OnnxEmbedder.open(embedding.folder, embedding.dimension)
    if embedding.dimension is None and recorded is not None and recorded[0] == embedding.model:
        embedding = embedding.model_copy(update={"dimension": recorded[1]})
    return await EndpointEmbedder.connect(embedding)


async def check_recorded(connection: Connection, embedder: Embedder) -> None:
    """Record the embedder on first use; later, check it against the record. Raises EmbeddingMismatch."""
    await connection.execute(
        "INSERT INTO embedding_models (model, dimension) SELECT %s, %s"
        " WHERE NOT EXISTS (SELECT FROM embedding_models) ON CONFLICT (only_one) DO NOTHING",
        [embedder.model, embedder.dimension],
    )
    await refuse_mismatch(connection, embedder)


async def refuse_mismatch(connection: Connection, embedder: Embedder) -> None:
    """Check the embedder against the record, without writing one. Raises EmbeddingMismatch."""
    recorded = await recorded_embedding(connection)
    if recorded is not None and recorded != (embedder.model, embedder.dimension):
        raise EmbeddingMismatch(
            f"The library was embedded by {recorded[0]} with {recorded[1]} dimensions, "
            f"but the settings name {embedder.model} with {embedder.dimension}.",
        )


async def recorded_embedding(connection: Connection) -> tuple[str, int] | None:
    """Read the model and dimension of the library's vectors; None if nothing has been embedded yet."""
    found = await connection.execute("SELECT model, dimension FROM embedding_models")
    row = await found.fetchone()
    return None if row is None else (str(row[0]), int(row[1]))
