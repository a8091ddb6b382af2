"""A library that lives in a thread of its own, so that synchronous code and any event loop can use it.

Its connections belong to the event loop that opened them. Synchronous code has none, a notebook's runs already, and
``asyncio.run`` makes another each time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import AsyncExitStack
from dataclasses import dataclass
from threading import Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from tools.langchain.vector_store import await_on, library_vector_store, wait_on
from tools.process.library import Library, open_library
from tools.settings import Settings, load_settings

if TYPE_CHECKING:
    from langchain_postgres import PGVectorStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Opened:
    library: Library
    loop: asyncio.AbstractEventLoop
    stores: AsyncExitStack
    closing: asyncio.Event

    async def do(self, work: Callable[[Library], Awaitable[T]]) -> T:
        return await work(self.library)


class SharedLibrary:
    """A library for synchronous code and any event loops, opened by ``with`` or at its first use.

    ``close``, or the end of ``with``, closes it; used again, it opens again. Without settings it takes those of the
    environment.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._changing = Lock()
        self._opening: Future[_Opened] | None = None
        self._thread: Thread | None = None

    def run(self, work: Callable[[Library], Awaitable[T]]) -> T:
        """Do work with the library and wait for it; it is done in the library's thread.

        Raises what the work raises, ConfigurationError, DatabaseUnavailable, EmbeddingMismatch.
        """
        opened = self._open().result()
        return wait_on(opened.loop, opened.do(work))

    async def arun(self, work: Callable[[Library], Awaitable[T]]) -> T:
        """Do work with the library as ``run`` does, and await it on whatever event loop runs."""
        opened = await asyncio.shield(asyncio.wrap_future(self._open()))
        return await await_on(opened.loop, opened.do(work))

    def vector_store(self, workspace: str = "default") -> "PGVectorStore":
        """Open a workspace as LangChain's ``PGVectorStore``, which is closed with the library.

        Its synchronous and its asynchronous methods work from anywhere; those that add or delete raise. Raises as
        ``run`` does, NotFound for an unknown workspace, ConfigurationError if the database has no pgvector.
        """
        opened = self._open().result()
        library = opened.library
        store = library_vector_store(library.database, library.workspaces, library.embedder, workspace)
        return wait_on(opened.loop, opened.stores.enter_async_context(store))

    def close(self) -> None:
        """Close the library and end its thread; call it from another thread than work is done in."""
        with self._changing:
            opening, thread = self._opening, self._thread
            self._opening = self._thread = None
        if opening is None or thread is None:
            return
        if opening.exception() is None:
            opened = opening.result()
            opened.loop.call_soon_threadsafe(opened.closing.set)
        thread.join()

    def __enter__(self) -> Self:
        self._open().result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> "Future[_Opened]":
        """Start opening the library, unless it is open or about to be; one that failed is tried again."""
        with self._changing:
            if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
                self._opening = Future()
                # A daemon: a program that closes nothing ends all the same, and its database is released then.
                self._thread = Thread(target=self._live, args=(self._opening,), name="citewell-library", daemon=True)
                self._thread.start()
            return self._opening

    def _live(self, opening: "Future[_Opened]") -> None:
        try:
            asyncio.run(self._keep_open(opening))
        except BaseException as error:  # whoever waits for the library gets it
            if opening.done():
                raise
            opening.set_exception(error)

    async def _keep_open(self, opening: "Future[_Opened]") -> None:
        async with open_library(self._settings or load_settings()) as library, AsyncExitStack() as stores:
            closing = asyncio.Event()
            opening.set_result(_Opened(library, asyncio.get_running_loop(), stores, closing))
            await closing.wait()
