"""What a family without a model says of itself: that it only quotes, and how a model is added."""

from collections.abc import Sequence
from contextlib import aclosing

import prompts
from graph.evidence import NoticeCode
from graph.ports import Draft, DraftOpened, Drafts, fixed_section
from graph.state import State


def notices_of(state: State) -> list[NoticeCode]:
    """Return what is to be said: each time that quotes are not what was asked for, and how to change it once.

    A turn that has said either has said how: the end of a long answer is not kept.
    """
    first: list[NoticeCode] = ["quotes_only"] if state.beyond_quotes else []
    said = (prompts.lines(state.language).quotes_only, prompts.lines(state.language).add_model)
    is_told = any(line in turn["answer"] for turn in state.turns for line in said)
    return first if is_told else [*first, "add_model"]


async def with_notices(drafts: Drafts, state: State) -> Drafts:
    """Say before a writer's first section that it is not what was asked for, and behind the last how to get that."""
    wording = prompts.lines(state.language)
    written = False
    line = prompts.join_lines(state.language, [wording.quotes_only, wording.comes_nearest])
    async with aclosing(introduced(drafts, fixed_section(line, notice="quotes_only"))) as stream:
        async for draft in stream:
            written = True
            yield draft
    if written and "add_model" in notices_of(state):
        for each in fixed_section(wording.add_model, notice="add_model"):
            yield each


async def introduced(drafts: Drafts, section: Sequence[Draft]) -> Drafts:
    """Put a section before the first of a writer's, once there is one."""
    is_opened = False
    async with aclosing(drafts) as stream:
        async for draft in stream:
            if isinstance(draft, DraftOpened) and not is_opened:
                is_opened = True
                for each in section:
                    yield each
            yield draft
