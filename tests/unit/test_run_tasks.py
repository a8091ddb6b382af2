"""Work that a cancel must not interrupt is finished, and what it raises is nobody's surprise."""

import asyncio
import gc
from typing import Any

import pytest

from tools.concurrency.tasks import finish_then_cancel


@pytest.mark.parametrize("cancels", [1, 2, 3])
async def test_work_is_finished_however_often_its_caller_is_cancelled(cancels: int) -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    release, ended = asyncio.Event(), []

    async def work() -> None:
        await release.wait()
        ended.append(True)
        raise ConnectionError

    caller = asyncio.create_task(finish_then_cancel(work()))
    try:
        for _ in range(cancels):
            await asyncio.sleep(0)
            caller.cancel()
        await asyncio.sleep(0)
        assert not caller.done()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await caller
        assert ended
        del caller
        gc.collect()
    finally:
        asyncio.get_running_loop().set_exception_handler(None)
    assert told == []


async def test_without_a_cancel_the_result_and_the_error_are_those_of_the_work() -> None:
    async def work(value: int) -> int:
        return 10 // value

    assert await finish_then_cancel(work(5)) == 2
    with pytest.raises(ZeroDivisionError):
        await finish_then_cancel(work(0))
