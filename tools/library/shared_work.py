"""Work that all who want its result share."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from tools.concurrency.tasks import cancel_and_wait
from tools.telemetry.tracing import background_context

T = TypeVar("T")


class SharedWork(Generic[T]):
    """Work under way, by its key. It goes on where those who wait leave: else they could have it begun for ever."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Task[T]] = {}

    async def result(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for the work of a key, and begin it where it is not under way. Raises what it does."""
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(work(), context=background_context())
            task.add_done_callback(lambda done: self._ended(key, done))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancel what is under way, and wait for its end."""
        await cancel_and_wait(*self._under_way.values())

    def _ended(self, key: Hashable, done: asyncio.Task[T]) -> None:
        del self._under_way[key]
        if not done.cancelled():
            done.exception()  # retrieved, for all who waited may have left
