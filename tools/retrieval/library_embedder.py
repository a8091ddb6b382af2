"""The embedder of an open library, also while the library is embedded anew with another model."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
from numpy.typing import NDArray

from graph.errors import DatabaseUnavailable
from tools.concurrency.tasks import cancel_and_wait
from tools.embeddings.embedder import Embedder, open_embedder, recorded_embedding, refuse_mismatch
from tools.embeddings.static_embedding import StaticEmbedder
from tools.retrieval.reindexing import gathered
from tools.settings import Settings
from tools.storage.database import Database

ASKED_EVERY_SECONDS = 2.0

log = logging.getLogger("citewell.retrieval")


class ChangingEmbedder(Embedder):
    """The bundled model, as long as the library's vectors are its own, and then the configured one."""

    def __init__(self, present: Embedder, configured: Embedder) -> None:
        self._configured = configured
        self._take(present)

    def _take(self, embedder: Embedder) -> None:
        self._present = embedder
        self.model, self.dimension, self.scale = embedder.model, embedder.dimension, embedder.scale

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed documents as the library's are; see ``Embedder``."""
        return await self._present.embed(texts)

    async def embed_question(self, text: str) -> NDArray[np.float32]:
        """Embed a question as the library's documents are; see ``Embedder``."""
        return await self._present.embed_question(text)

    def coverage(self, text: str) -> float:
        """Return how well the present model understands a text."""
        return self._present.coverage(text)

    async def close(self) -> None:
        """Close the configured embedder; the bundled one has nothing to close."""
        await self._configured.close()

    async def follow(self, database: Database) -> None:
        """Take the configured model once the library's vectors are its own."""
        while True:
            await asyncio.sleep(ASKED_EVERY_SECONDS)
            try:
                async with database.connection() as connection:
                    recorded = await recorded_embedding(connection)
            except DatabaseUnavailable:
                continue
            if recorded == (self._configured.model, self._configured.dimension):
                self._take(self._configured)
                log.info("The library's vectors are those of %s now", self.model)
                return


@asynccontextmanager
async def open_library_embedder(settings: Settings, database: Database) -> AsyncIterator[Embedder]:
    """Open the configured embedder, or while a reindex to it has begun, one that changes to it when that ends.

    Raises EmbeddingMismatch if the library's vectors come from another model, and as ``open_embedder`` does.
    """
    async with database.connection() as connection:
        recorded = await recorded_embedding(connection)
        embedder = await open_embedder(settings, recorded)
        following: asyncio.Task[None] | None = None
        try:
            bundled = await StaticEmbedder.load()
            if recorded == (bundled.model, bundled.dimension) != (embedder.model, embedder.dimension) and (
                begun := await gathered(connection, embedder)
            ):
                log.warning("Searching by the bundled model. %s", begun)
                embedder = changing = ChangingEmbedder(bundled, embedder)
                following = asyncio.create_task(changing.follow(database))
            await refuse_mismatch(connection, embedder)
        except BaseException:
            if following is not None:
                await cancel_and_wait(following)
            await embedder.close()
            raise
    try:
        yield embedder
    finally:
        if following is not None:
            await cancel_and_wait(following)
        await embedder.close()
