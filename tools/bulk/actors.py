"""An actor of Ray Data whose work is asynchronous."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from typing import Any, Generic, TypeVar

from graph.errors import ConfigurationError

Opened = TypeVar("Opened")
Result = TypeVar("Result")

Table = Any  # of pyarrow, which is not there without the extra


def own_release() -> str:
    """Return the release of Citewell that this process has."""
    return version("citewell")


class Actor(Generic[Opened]):
    """Has an event loop in a thread of its own, so that time limits hold while Ray holds the actor's results back.

    ``opening`` is entered by the first call, whose error Ray passes on, unlike that of a constructor. It is left when
    the process ends.
    """

    def __init__(self, release: str, opening: AbstractAsyncContextManager[Opened]) -> None:
        self._release = release
        self._opening = opening
        self._entered: Opened | None = None
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    @property
    def opened(self) -> Opened:
        """What does the work. Raises ConfigurationError on a node that has another release of Citewell."""
        if self._entered is None:
            if own_release() != self._release:
                raise ConfigurationError(
                    f"A node of the cluster has Citewell {own_release()}, and the command is of {self._release}.",
                    suggestion="Install the same release on all nodes.",
                )
            self._entered = self.submit(self._entering()).result()
        return self._entered

    def submit(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Begin work in the actor's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _entering(self) -> Opened:
        return await self._opening.__aenter__()
