"""A stalled stream times out; a cancellation that comes together with a chunk is not lost, as wait_for loses it."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from graph.errors import BudgetExhausted
from graph.usage import Meter
from tools.llm.model_call import with_timeout


async def chunks(arrivals: list["asyncio.Future[str]"]) -> AsyncGenerator[str, None]:
    for arrival in arrivals:
        yield await arrival


async def test_what_comes_is_given_in_order() -> None:
    loop = asyncio.get_running_loop()
    arrivals = [loop.create_future() for _ in range(2)]
    for arrival, text in zip(arrivals, ("a", "b"), strict=True):
        arrival.set_result(text)
    assert [text async for text in with_timeout(5, chunks(arrivals), meter=Meter())] == ["a", "b"]


async def test_a_stall_is_an_error() -> None:
    with pytest.raises(TimeoutError):
        async for _ in with_timeout(0.01, chunks([asyncio.get_running_loop().create_future()]), meter=Meter()):
            pass


async def test_a_cancellation_that_comes_with_a_chunk_is_heard() -> None:
    first, never = (asyncio.get_running_loop().create_future() for _ in range(2))
    heard: list[str] = []

    async def read() -> None:
        async for text in with_timeout(5, chunks([first, never]), meter=Meter()):
            heard.append(text)

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    first.set_result("chunk")
    reading.cancel()
    done, _ = await asyncio.wait({reading}, timeout=5)
    assert reading in done
    assert reading.cancelled()


async def test_a_stream_ends_with_the_meters_seconds_whether_it_stalls_or_not() -> None:
    async def endless() -> AsyncGenerator[str, None]:
        while True:
            await asyncio.sleep(0)
            yield "x"

    for stream in (endless(), chunks([asyncio.get_running_loop().create_future()])):
        meter = Meter(seconds_left=0.05)
        with pytest.raises(BudgetExhausted, match="seconds"):
            async for _ in with_timeout(5, stream, meter=meter):
                pass
        assert meter.exhausted == "seconds"


async def test_a_timeout_of_the_stream_itself_is_not_taken_for_the_meters() -> None:
    async def broken() -> AsyncGenerator[str, None]:
        raise TimeoutError
        yield ""

    meter = Meter(seconds_left=5)
    with pytest.raises(TimeoutError):
        async for _ in with_timeout(60, broken(), meter=meter):
            pass
    assert meter.exhausted is None


async def test_a_cancellation_is_not_taken_for_the_end_of_the_seconds() -> None:
    async def read() -> None:
        stream = chunks([asyncio.get_running_loop().create_future()])
        async for _ in with_timeout(60, stream, meter=Meter(seconds_left=30)):
            pass

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    reading.cancel()
    done, _ = await asyncio.wait({reading}, timeout=5)
    assert reading in done
    assert reading.cancelled()
