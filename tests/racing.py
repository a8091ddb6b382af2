"""What several tasks do side by side, until one of them is done."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def until_one_ends(*coroutines: Coroutine[Any, Any, Any]) -> None:
    """Run them side by side; when one ends the others are cancelled, and gone."""
    tasks = [asyncio.create_task(each) for each in coroutines]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
