"""Embeddings from any OpenAI-compatible endpoint."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graph.errors import ConfigurationError, EmbeddingUnavailable
from tools.settings import EmbeddingSettings

if TYPE_CHECKING:
    from langchain_openai import OpenAIEmbeddings
    from openai import AsyncOpenAI

BATCH_TEXTS = 64
RETRIES = 1


class EndpointEmbedder:
    """An embedder that calls ``/v1/embeddings``. Create it with ``connect``, and ``close`` it after use."""

    def __init__(self, settings: EmbeddingSettings, client: "AsyncOpenAI", embeddings: "OpenAIEmbeddings") -> None:
        self.model = settings.model
        self.dimension = settings.dimension
        self._client = client
        self._embeddings = embeddings

    @classmethod
    async def connect(cls, settings: EmbeddingSettings) -> "EndpointEmbedder":
        """Create the client, without a request to the endpoint."""
        return cls(settings, *await asyncio.to_thread(_clients, settings))

    async def close(self) -> None:
        """Close the connections to the endpoint."""
        await self._client.close()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as unit vectors, shape (n, dimension); a blank text is the zero vector and isn't sent.

        Raises EmbeddingUnavailable if the endpoint fails or its reply can't be read, ConfigurationError if its vectors
        don't have the configured dimension.
        """
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        nonblank = [index for index, text in enumerate(texts) if text.strip()]
        if nonblank:
            vectors[nonblank] = await self._request([texts[index] for index in nonblank])
        return vectors

    def coverage(self, text: str) -> float:
        """Return 1: a configured model is assumed to understand the library's languages."""
        return 1.0

    async def _request(self, texts: list[str]) -> NDArray[np.float32]:
        from openai import OpenAIError

        try:
            reply = np.asarray(await self._embeddings.aembed_documents(texts), np.float32)
        except OpenAIError as error:
            raise EmbeddingUnavailable(f"The embedding endpoint failed: {type(error).__name__}.") from error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise EmbeddingUnavailable("The embedding endpoint's reply cannot be read.") from error
        if reply.ndim == 2 and reply.shape[1] != self.dimension:
            raise ConfigurationError(
                f"{self.model!r} returns vectors of {reply.shape[1]} dimensions, but {self.dimension} are configured.",
                suggestion=f"Set CITEWELL_EMBEDDING__DIMENSION={reply.shape[1]}.",
            )
        norms = np.linalg.norm(reply, axis=-1, keepdims=True)
        if reply.shape != (len(texts), self.dimension) or not np.isfinite(norms).all() or not norms.all():
            raise EmbeddingUnavailable("The embedding endpoint's reply is not a vector for each text.")
        return np.asarray(reply / norms, np.float32)


def _clients(settings: EmbeddingSettings) -> "tuple[AsyncOpenAI, OpenAIEmbeddings]":
    from langchain_openai import OpenAIEmbeddings
    from openai import AsyncOpenAI

    # The client refuses an empty key, and local endpoints need none.
    key = settings.api_key.get_secret_value() or "none"
    client = AsyncOpenAI(base_url=settings.base_url, api_key=key, timeout=settings.timeout_seconds, max_retries=RETRIES)
    embeddings = OpenAIEmbeddings(
        model=settings.model,
        client=client.embeddings,  # never used; without it, OpenAIEmbeddings would create a blocking client
        async_client=client.embeddings,
        chunk_size=BATCH_TEXTS,
        check_embedding_ctx_length=False,
        model_kwargs={"encoding_format": "float"},  # not every endpoint supports base64, the default
    )
    return client, embeddings
