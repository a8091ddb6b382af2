"""A stalled stream times out; a cancellation that comes together with a chunk is not lost, as wait_for loses it."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from tools.llm.patience import within


async def chunks(arrivals: list["asyncio.Future[str]"]) -> AsyncGenerator[str, None]:
    for arrival in arrivals:
        yield await arrival


async def test_what_comes_is_given_in_order() -> None:
    loop = asyncio.get_running_loop()
    arrivals = [loop.create_future() for _ in range(2)]
    for arrival, text in zip(arrivals, ("a", "b"), strict=True):
        arrival.set_result(text)
    assert [text async for text in within(5, chunks(arrivals))] == ["a", "b"]


async def test_a_stall_is_an_error() -> None:
    with pytest.raises(TimeoutError):
        async for _ in within(0.01, chunks([asyncio.get_running_loop().create_future()])):
            pass


async def test_a_cancellation_that_comes_with_a_chunk_is_heard() -> None:
    first, never = (asyncio.get_running_loop().create_future() for _ in range(2))
    heard: list[str] = []

    async def read() -> None:
        async for text in within(5, chunks([first, never])):
            heard.append(text)

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    first.set_result("chunk")
    reading.cancel()
    done, _ = await asyncio.wait({reading}, timeout=5)
    assert reading in done
    assert reading.cancelled()
