"""What becomes of an answer when the budget ends before it: broken off where it began, else written more simply."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace

from graph.errors import BudgetExhausted, left_out
from graph.evidence import Failure
from graph.ports import Draft, DraftOpened, DraftThought


async def within_budget(
    drafts: AsyncGenerator[Draft, None],
    *,
    broken_off: Callable[[], Iterable[Draft]],
    understudy: AsyncIterator[Draft],
    instead: str,
) -> AsyncGenerator[Draft, None]:
    """Give drafts for as long as the budget lasts.

    Where it ends after a section began, ``broken_off`` gives the drafts that close it. Before that the understudy
    writes, and its first section says why; ``instead`` says in a sentence what it does.
    """
    begun = False
    try:
        async with aclosing(drafts) as stream:
            async for draft in stream:
                begun = begun or not isinstance(draft, DraftThought)
                yield draft
        return
    except BudgetExhausted as error:
        said: Failure | None = left_out(error, instead)
    if begun:
        for draft in broken_off():
            yield draft
        return
    async with aclosing(understudy) as simpler:  # type: ignore[type-var]
        async for draft in simpler:
            if isinstance(draft, DraftOpened):
                draft, said = replace(draft, fallback=said), None
            yield draft
