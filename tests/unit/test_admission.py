"""Slots for runs: each is taken once and given back once, also by those who leave the line."""

import asyncio

from tools.runs.executor import Admission
from tools.runs.readings import Load


def ignore(_: int) -> None:
    """Take no note of a position in the line."""


def full() -> Admission:
    admission = Admission(max_active=1, max_waiting=9)
    assert admission.admit()
    return admission


async def waiting_for_a_slot(admission: Admission) -> asyncio.Task[None]:
    waiting = asyncio.create_task(admission.acquire(ignore))
    await asyncio.sleep(0)
    return waiting


async def test_who_is_cancelled_as_a_slot_is_released_leaves_it_free_once() -> None:
    admission = full()
    waiting = await waiting_for_a_slot(admission)
    waiting.cancel()
    admission.release()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    assert admission.load(leases=0) == Load(0, 0, 1, 9, 0)


async def test_who_is_cancelled_with_a_slot_gives_it_to_the_next() -> None:
    admission = full()
    waiting, following = await waiting_for_a_slot(admission), await waiting_for_a_slot(admission)
    admission.release()
    waiting.cancel()
    await asyncio.wait([waiting])
    await following
    assert waiting.cancelled()
    assert admission.load(leases=0) == Load(1, 0, 1, 9, 0)


async def test_who_leaves_the_line_takes_no_slot() -> None:
    admission = full()
    positions: list[int] = []
    waiting = await waiting_for_a_slot(admission)
    following = asyncio.create_task(admission.acquire(positions.append))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert positions == [2, 1]
    admission.release()
    await following
    assert admission.load(leases=0) == Load(1, 0, 1, 9, 0)
