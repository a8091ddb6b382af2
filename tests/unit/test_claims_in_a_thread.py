"""Checking a long answer, which takes seconds of code, leaves the event loop to other requests."""

import asyncio

from graph.ports import WrittenSection
from tests.fakes import segment
from tools.claims.code_checker import CodeChecker

SENTENCE = (
    "Depot {number} opened on {day} March {year} with {staff} employees and keeps {kept} crates of kind {number}. "
)


def told(number: int) -> str:
    return SENTENCE.format(
        number=number, day=1 + number % 28, year=1990 + number % 30, staff=10 + number, kept=7 * number
    )


async def test_a_long_answer_over_many_segments_is_checked_beside_other_requests() -> None:
    """45 kB over nine segments held every other request of the process for seconds."""
    segments = [
        segment("depots", at, "".join(told(number) for number in range(at * 60, at * 60 + 60))) for at in range(9)
    ]
    answer = "".join(told(number) for number in range(500))
    assert len(answer) > 35_000
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(others())
    await asyncio.sleep(0)
    before = turns
    found = await CodeChecker().check(WrittenSection(answer, tuple(segments)))
    waiting.cancel()
    assert {claim.verdict for claim in found} == {"supported"}
    assert turns - before > 20
