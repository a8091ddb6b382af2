"""Embeddings from any OpenAI-compatible endpoint, within whatever limits it has."""

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import ConfigurationError, EmbeddingUnavailable
from graph.evidence import ModelUse
from graph.usage import current_account
from text.language import language
from tools.embeddings.similarity_scale import FITTED, SimilarityScale
from tools.settings import EmbeddingSettings
from tools.telemetry.tracing import model_call
from tools.web.endpoint_reason import endpoint_reason
from tools.web.retry_after import retry_after

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI
    from openai.types import CreateEmbeddingResponse

ATTEMPTS = 2  # for a question, which is searched for by its words if this fails
BATCH_ATTEMPTS = 5  # for documents, which can wait
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds; where the endpoint says how long, that, up to the longest
TOO_MUCH = (400, 413, 422, 500)  # the statuses with which endpoints refuse what is too large: 500 is llama.cpp's
BUSY = (408, 409, 429, 502, 503, 504)
LEAST_CUT = 50  # characters that any endpoint takes; a text no longer than that is refused for another reason
REQUEST_SECONDS = 10.0  # for 64 texts at most, which a small machine embeds in a few
LEAST_DIMENSION, MOST_DIMENSION = 8, 4000  # what pgvector can index as half precision
# Models that return shorter vectors on request, with the length of a whole one.
FULL_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "embedding-3": 2048}
# The dimensions used where none is set. That of embedding-3 is the one its users ask for.
KNOWN_DIMENSIONS = FULL_DIMENSIONS | {
    "embedding-3": 1024,
    "embedding-2": 1024,
    "text-embedding-ada-002": 1536,
    "all-minilm": 384,
    "all-minilm-l6-v2": 384,
    "bge-base-en-v1.5": 768,
    "bge-large-en-v1.5": 1024,
    "bge-m3": 1024,
    "bge-small-en-v1.5": 384,
    "multilingual-e5-base": 768,
    "multilingual-e5-large": 1024,
    "multilingual-e5-small": 384,
    "mxbai-embed-large": 1024,
    "nomic-embed-text": 768,
    "nomic-embed-text-v1.5": 768,
}
# Models for English alone. What they make of another language is as good as nothing.
ENGLISH_ONLY = {
    "all-minilm",
    "all-minilm-l6-v2",
    "bge-base-en-v1.5",
    "bge-large-en-v1.5",
    "bge-small-en-v1.5",
    "mxbai-embed-large",
    "nomic-embed-text",
    "nomic-embed-text-v1.5",
}
OF_ANOTHER_LANGUAGE = 0.1

log = logging.getLogger(__name__)


class _Refused(Exception):
    """A request that an endpoint refuses as it is; the message is the endpoint's own."""


class EndpointEmbedder:
    """An embedder that calls ``/v1/embeddings``. Create it with ``connect``, and ``close`` it after use."""

    scale: SimilarityScale = FITTED

    def __init__(self, settings: EmbeddingSettings, dimension: int, client: "AsyncOpenAI") -> None:
        self.model = settings.model
        self.dimension = dimension
        self._knows_all = known_name(settings.model) not in ENGLISH_ONLY
        self._most_texts = settings.batch_texts
        self._most_characters = settings.batch_characters
        self._too_long: int | None = None  # characters of the shortest text that was refused for itself
        self._client = client
        # Not every endpoint supports base64, the SDK's default.
        self._options: dict[str, Any] = {"model": settings.model, "encoding_format": "float"}
        if FULL_DIMENSIONS.get(known_name(settings.model), dimension) != dimension:
            self._options["dimensions"] = dimension

    @classmethod
    async def connect(cls, settings: EmbeddingSettings) -> "EndpointEmbedder":
        """Create the client. The endpoint is asked only for a dimension that is neither set nor known.

        Raises EmbeddingUnavailable if it does not answer then, ConfigurationError if its vectors can't be stored.
        """
        dimension = settings.dimension or KNOWN_DIMENSIONS.get(known_name(settings.model), 0)
        embedder = cls(settings, dimension, await asyncio.to_thread(_client, settings))
        if not dimension:
            try:
                await embedder._ask_dimension()
            except BaseException:
                await embedder.close()
                raise
        return embedder

    async def _ask_dimension(self) -> None:
        try:
            vectors = await self._vectors(["dimension"])
        except (EmbeddingUnavailable, _Refused) as error:
            advice = "Check the embedding endpoint, or set CITEWELL_EMBEDDING__DIMENSION so that it need not be asked."
            message = error.message if isinstance(error, EmbeddingUnavailable) else f"It refused a text: {error}"
            raise EmbeddingUnavailable(message, suggestion=advice) from error
        self.dimension = vectors.shape[1] if vectors.ndim == 2 else 0
        if not LEAST_DIMENSION <= self.dimension <= MOST_DIMENSION:
            raise ConfigurationError(
                f"{self.model!r} returns vectors of {self.dimension} dimensions; "
                f"{LEAST_DIMENSION} to {MOST_DIMENSION} can be stored.",
                suggestion="Choose another embedding model with CITEWELL_EMBEDDING__MODEL.",
            )

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

    async def embed_question(self, text: str) -> NDArray[np.float32]:
        """Embed a question; see ``embed``."""
        vector: NDArray[np.float32] = (await self.embed([text]))[0]
        return vector

    def coverage(self, text: str) -> float:
        """Return 1, or little for text in another language of a model that is known to be for English alone."""
        return 1.0 if self._knows_all or language(text) == "en" else OF_ANOTHER_LANGUAGE

    async def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        """Request vectors, again after a wait where the endpoint is busy or away; a refusal is not asked again."""
        from openai import APIConnectionError, APIStatusError, OpenAIError

        waits = [FIRST_WAIT * 2**attempt for attempt in range((ATTEMPTS if len(texts) == 1 else BATCH_ATTEMPTS) - 1)]
        while True:
            try:
                with model_call("embeddings", self.model, str(self._client.base_url)):
                    reply = await self._client.embeddings.create(input=texts, **self._options)
                    self._charge(reply, texts)
                    return np.asarray([each.embedding for each in reply.data], np.float32)
            except APIStatusError as error:
                failure, wait = self._failure(error), retry_after(error.response.headers)
                if error.status_code not in BUSY or not waits:
                    raise failure from error
            except APIConnectionError as error:
                wait = None
                if not waits:
                    raise EmbeddingUnavailable("The embedding endpoint could not be reached.") from error
            except OpenAIError as error:
                raise EmbeddingUnavailable(f"The embedding endpoint failed: {type(error).__name__}.") from error
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise EmbeddingUnavailable("The embedding endpoint's reply cannot be read.") from error
            own_wait = waits.pop(0)
            await asyncio.sleep(min(own_wait if wait is None else wait, LONGEST_WAIT))

    def _charge(self, reply: "CreateEmbeddingResponse", texts: list[str]) -> None:
        """Charge the tokens of a request to the account of whoever asks for it."""
        if (account := current_account()) is not None:
            counted: dict[str, Any] = reply.usage.to_dict() if reply.usage else {}
            reported: int = counted.get("total_tokens") or counted.get("prompt_tokens") or 0
            tokens = reported or sum(map(len, texts)) // 4
            use = ModelUse(
                calls=1, input_tokens=tokens, cached_tokens=0, output_tokens=0, estimated_calls=0 if reported else 1
            )
            account.charge(self.model, use, embedding=True)

    def _failure(self, error: "APIStatusError") -> "EmbeddingUnavailable | _Refused":
        secrets = (self._client.api_key, self._client.base_url.host)
        reason = endpoint_reason(error.body, secrets=secrets) or "it gave no reason"
        if error.status_code in TOO_MUCH:
            return _Refused(reason)
        return EmbeddingUnavailable(f"The embedding endpoint answered with HTTP {error.status_code}: {reason}")

    async def _request(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed texts in as few requests as the endpoint's limits allow, so far as they are set or were found."""
        vectors: list[NDArray[np.float32]] = []
        start = 0
        while start < len(texts):
            end = start + self._fitting(texts[start : start + self._most_texts])
            vectors.append(await self._batch(texts[start:end]))
            start = end
        return np.concatenate(vectors)

    def _fitting(self, texts: Sequence[str]) -> int:
        """Return how many of the first texts one request may hold; a text that may be refused is alone in its own."""
        characters = 0
        for count, text in enumerate(texts):
            characters += len(text)
            is_over = self._most_characters is not None and characters > self._most_characters
            if count and (is_over or self._is_too_long(text)):
                return count
            if self._is_too_long(text):
                return 1
        return len(texts)

    def _is_too_long(self, text: str) -> bool:
        return self._too_long is not None and len(text) >= self._too_long

    async def _batch(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed texts in one request, or in two halves where it is refused; one text that is refused is cut.

        A refusal does not say reliably what it is for. A limit on the number of texts is known where both halves of a
        refused batch are taken.
        """
        try:
            return await self._once(texts)
        except _Refused as refused:
            if len(texts) == 1:
                return await self._shortened(texts[0], str(refused))
        half = (len(texts) + 1) // 2
        try:
            vectors = [await self._once(part) for part in (texts[:half], texts[half:])]
        except _Refused:
            return np.concatenate([await self._batch(part) for part in (texts[:half], texts[half:])])
        if half < self._most_texts:
            log.info("The embedding endpoint takes %d texts a request.", half)
            self._most_texts = half
        return np.concatenate(vectors)

    async def _shortened(self, text: str, reason: str) -> NDArray[np.float32]:
        self._too_long = min(self._too_long or len(text), len(text))
        kept = len(text) // 2
        while kept >= LEAST_CUT:
            try:
                vector = await self._once([text[:kept]])
            except _Refused:
                kept //= 2
                continue
            log.warning("The embedding endpoint read %d characters of a text of %d: %s", kept, len(text), reason)
            return vector
        raise EmbeddingUnavailable(f"The embedding endpoint refused a text: {reason}")

    async def _once(self, texts: list[str]) -> NDArray[np.float32]:
        reply = await self._vectors(texts)
        if reply.ndim == 2 and reply.shape[1] != self.dimension:
            raise ConfigurationError(
                f"{self.model!r} returns vectors of {reply.shape[1]} dimensions, but {self.dimension} are configured.",
                suggestion=f"Set CITEWELL_EMBEDDING__DIMENSION={reply.shape[1]}.",
            )
        if reply.shape != (len(texts), self.dimension):
            raise EmbeddingUnavailable("The embedding endpoint's reply is not a vector for each text.")
        norms = np.linalg.norm(reply, axis=-1, keepdims=True)
        if not np.isfinite(norms).all():
            raise EmbeddingUnavailable("The embedding endpoint returned a vector with NaN or infinity in it.")
        if not norms.all():
            raise EmbeddingUnavailable("The embedding endpoint returned a vector of zeros.")
        return np.asarray(reply / norms, np.float32)


def known_name(model: str) -> str:
    """Return a model's name without its vendor and tag, such as ``bge-m3`` for ``BAAI/bge-m3:latest``."""
    return model.rsplit("/", 1)[-1].partition(":")[0].lower()


def _client(settings: EmbeddingSettings) -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    # The client refuses an empty key, and local endpoints need none.
    key = settings.api_key.get_secret_value() or "none"
    return AsyncOpenAI(base_url=settings.base_url, api_key=key, timeout=REQUEST_SECONDS, max_retries=0)
