"""Emit a draft's events while it is written, without links that no cited source holds."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing

from answers.links import LinkFilter, RemovedLink, SourceLinks, links_of_sources, without_foreign_links
from graph.events import AnyEvent, ContentRemoved, SectionFinished, SectionStarted, TextDelta, ThinkingDelta
from graph.evidence import Failure, Section, Segment
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, DraftThinking

NO_SEGMENTS: Mapping[str, Segment] = {}


async def emit_drafts(
    drafts: AsyncIterator[Draft], tell: Callable[[AnyEvent], None], *, segments: Mapping[str, Segment] = NO_SEGMENTS
) -> list[Section]:
    """Turn a writer's drafts into events as they come, and give back the finished sections.

    ``segments`` are the sources by id: a section's links must stand in those which it cites, or be their addresses.
    Where there are none, no link goes out. A section that was nothing but a link is reported and left out.
    """
    sections: list[Section] = []
    opened = _OpenSection(0, None, tell)
    thoughts = _ThinkingStream(tell)
    async with aclosing(drafts) as stream:  # type: ignore[type-var]
        async for draft in stream:
            match draft:
                case DraftOpened(fallback):
                    thoughts.close()
                    opened = _OpenSection(len(sections), fallback, tell)
                case DraftText(delta):
                    opened.write(delta)
                case DraftThinking(delta):
                    thoughts.write(delta)
                case DraftClosed():
                    sections += opened.close(draft, segments)
    thoughts.close()
    return sections


class _ThinkingStream:
    """A model's thinking on its way out: it cites nothing, so no link goes with it."""

    def __init__(self, tell: Callable[[AnyEvent], None]) -> None:
        self._tell = tell
        self._filter = LinkFilter()

    def write(self, delta: str) -> None:
        self._pass_on(self._filter.feed(delta))

    def close(self) -> None:
        rest, _, _ = self._filter.close(SourceLinks())
        self._filter = LinkFilter()
        self._pass_on(rest)

    def _pass_on(self, text: str) -> None:
        if text:
            self._tell(ThinkingDelta(delta=text))


class _OpenSection:
    """A section on its way out; it starts with the first of its text that may go."""

    def __init__(self, index: int, fallback: Failure | None, tell: Callable[[AnyEvent], None]) -> None:
        self._index = index
        self._fallback = fallback
        self._tell = tell
        self._filter = LinkFilter()
        self._started = False

    def write(self, delta: str) -> None:
        self._pass_on(self._filter.feed(delta))

    def close(self, closed: DraftClosed, segments: Mapping[str, Segment]) -> list[Section]:
        """Tell the rest and what was removed; give the section, or nothing where no text is left."""
        rest, text, removed = self._filter.close(links_of_cited(closed.source_ids, segments))
        self._pass_on(rest)
        emit_removed(removed, self._index, self._tell)
        if not text:
            return []
        source_ids = list(closed.source_ids)
        self._tell(
            SectionFinished(section_index=self._index, text=text, source_ids=source_ids, unknown_ids=closed.unknown_ids)
        )
        return [Section(text=text, source_ids=source_ids)]

    def _pass_on(self, text: str) -> None:
        if not text:
            return
        if not self._started:
            self._tell(SectionStarted(section_index=self._index, fallback=self._fallback))
            self._started = True
        self._tell(TextDelta(section_index=self._index, delta=text))


def filter_links(
    text: str, source_ids: Sequence[str], segments: Mapping[str, Segment]
) -> tuple[str, list[RemovedLink]]:
    """Take the foreign links out of a section that was not streamed, such as a repaired one."""
    return without_foreign_links(text, links_of_cited(source_ids, segments))


def links_of_cited(source_ids: Sequence[str], segments: Mapping[str, Segment]) -> SourceLinks:
    """Collect the links of the sources that a section cites."""
    cited = [segments[segment_id] for segment_id in source_ids if segment_id in segments]
    return links_of_sources((segment.text for segment in cited), (segment.url for segment in cited))


def emit_removed(removed: Sequence[RemovedLink], section_index: int, tell: Callable[[AnyEvent], None]) -> None:
    """Report what was taken out of a section."""
    for each in removed:
        tell(ContentRemoved(section_index=section_index, kind=each.kind, target=each.target))
