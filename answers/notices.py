"""What a family without a model says of itself: that it only quotes, and how a model is added."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import prompts
from graph.evidence import NoticeCode
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText
from graph.state import State


def notices_of(state: State) -> list[NoticeCode]:
    """Return what is to be said: each time that quotes are not what was asked for, and how to change it once.

    A turn that has said either has said how: the end of a long answer is not kept.
    """
    first: list[NoticeCode] = ["quotes_only"] if state.beyond_quotes else []
    said = (prompts.lines(state.language).quotes_only, prompts.lines(state.language).add_model)
    is_told = any(line in turn["answer"] for turn in state.turns for line in said)
    return first if is_told else [*first, "add_model"]


async def with_notices(drafts: AsyncIterator[Draft], state: State) -> AsyncIterator[Draft]:
    """Say before the first of a writer's sections that it is not what was asked for, and behind the last what would be.

    A writer that writes nothing is given no notice, since the refusal will say it.
    """
    wording = prompts.lines(state.language)
    written = False
    async with aclosing(drafts) as stream:  # type: ignore[type-var]  # a port says iterator; each is a generator
        async for draft in stream:
            if isinstance(draft, DraftOpened) and not written:
                written = True
                line = prompts.join_lines(state.language, [wording.quotes_only, wording.comes_nearest])
                for each in _section(line, "quotes_only"):
                    yield each
            yield draft
    if written and "add_model" in notices_of(state):
        for each in _section(wording.add_model, "add_model"):
            yield each


def _section(text: str, notice: NoticeCode) -> tuple[Draft, ...]:
    return DraftOpened(source_ids=()), DraftText(text), DraftClosed(text, (), notice=notice)
