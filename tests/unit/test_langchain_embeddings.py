"""The embedder behind LangChain's interface, on a loop that has few threads."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tools.langchain.vector_store import LibraryEmbeddings


class Threaded:
    """An embedder that works in a thread of its loop, as one of the machine's own models may."""

    async def embed(self, texts: list[str]) -> Any:
        return await asyncio.to_thread(np.ones, (len(texts), 2))

    async def embed_question(self, text: str) -> Any:
        return (await self.embed([text]))[0]


def test_to_embed_on_a_loop_takes_none_of_its_threads() -> None:
    async def embed() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        embeddings = LibraryEmbeddings(Threaded())  # type: ignore[arg-type]
        async with asyncio.timeout(60):
            assert await asyncio.gather(*(embeddings.aembed_query("a") for _ in range(3))) == [[1.0, 1.0]] * 3
            assert await embeddings.aembed_documents(["a", "b"]) == [[1.0, 1.0]] * 2

    asyncio.run(embed())  # a loop of its own, for the others of this process have more threads
