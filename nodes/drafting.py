"""Tell the world a draft while it is written."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from graph.events import AnyEvent, SectionFinished, SectionStarted, TextDelta, ThinkingDelta
from graph.evidence import Section
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, DraftThought


async def told(drafts: AsyncIterator[Draft], tell: Callable[[AnyEvent], None]) -> list[Section]:
    """Turn a writer's drafts into events as they come, and give back the finished sections."""
    sections: list[Section] = []
    async with aclosing(drafts) as stream:  # type: ignore[type-var]
        async for draft in stream:
            index = len(sections)
            match draft:
                case DraftOpened():
                    tell(SectionStarted(section_index=index))
                case DraftText(delta):
                    tell(TextDelta(section_index=index, delta=delta))
                case DraftThought(delta):
                    tell(ThinkingDelta(delta=delta))
                case DraftClosed(text, source_ids, unknown_ids):
                    sections.append(Section(text=text, source_ids=list(source_ids)))
                    tell(
                        SectionFinished(
                            section_index=index, text=text, source_ids=list(source_ids), unknown_ids=unknown_ids
                        )
                    )
    return sections
