"""Streaming of drafts as events, without links that no cited source contains."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing

from answers.checking import CheckedAnswer
from answers.event_loop import yield_to_event_loop
from answers.links import LinkFilter, RemovedLink, SourceLinks, links_of_sources, without_foreign_links
from graph.events import AnyEvent, ContentRemoved, SectionFinished, SectionStarted, TextDelta, ThinkingDelta
from graph.evidence import Failure, Section, Segment, section_of
from graph.ports import DraftClosed, DraftOpened, Drafts, DraftText, DraftThinking

NO_SEGMENTS: Mapping[str, Segment] = {}
SMALL = 1_000  # characters that are filtered at once; more would keep the event loop from other requests


async def emit_drafts(
    drafts: Drafts,
    emit: Callable[[AnyEvent], None],
    *,
    segments: Mapping[str, Segment] = NO_SEGMENTS,
    answer: CheckedAnswer | None = None,
    grounded: bool = True,
    first: int = 0,
) -> list[Section]:
    """Emit a writer's drafts as events while they arrive, and return the finished sections.

    ``segments`` are the sources by id: a section's links must occur in the sources it cites, or be their addresses; in
    any of the sources where it cites none, since any may prove it. Without sources, no link goes out. A section that is
    nothing but a link is reported as removed and left out. With an ``answer``, each sentence is checked when it ends,
    and each section when it closes. ``grounded`` is False for text from the model's own knowledge. ``first`` is the
    index of the first section.
    """
    sections: list[Section] = []
    opened = _OpenSection(first, None, emit, grounded=grounded)
    cited: tuple[str, ...] | None = None
    thinking = _ThinkingStream(emit)
    async with aclosing(drafts) as stream:
        async for draft in stream:
            match draft:
                case DraftText(delta):
                    await opened.write(delta)
                    if answer is not None and cited:
                        await answer.check_open(opened.text, cited, ahead=opened.ahead)
                case DraftOpened(fallback, source_ids):
                    await thinking.close()
                    opened = _OpenSection(first + len(sections), fallback, emit, grounded=grounded)
                    cited = source_ids
                case DraftThinking(delta):
                    await thinking.write(delta)
                case DraftClosed():
                    closed = await opened.close(draft, segments)
                    sections += closed
                    if answer is not None:
                        for section in closed:
                            try:
                                await yield_to_event_loop()  # checking holds the loop for longer than emitting
                            finally:  # what was emitted is checked, even if the run is cancelled now
                                await answer.close_section(section)
    await thinking.close()
    return sections


async def _feed(links: LinkFilter, delta: str) -> str:
    if links.waiting + len(delta) <= SMALL:
        return links.feed(delta)
    return await asyncio.to_thread(links.feed, delta)


async def _close(links: LinkFilter, held: SourceLinks) -> tuple[str, str, list[RemovedLink]]:
    if links.waiting <= SMALL:
        return links.close(held)
    return await asyncio.to_thread(links.close, held)


class _ThinkingStream:
    """A model's thinking as it is streamed; it cites no sources, so every link is removed."""

    def __init__(self, emit: Callable[[AnyEvent], None]) -> None:
        self._emit = emit
        self._filter = LinkFilter()

    async def write(self, delta: str) -> None:
        self._emit_text(await _feed(self._filter, delta))

    async def close(self) -> None:
        rest, _, _ = await _close(self._filter, SourceLinks())
        self._filter = LinkFilter()
        self._emit_text(rest)

    def _emit_text(self, text: str) -> None:
        if text:
            self._emit(ThinkingDelta(delta=text))


class _OpenSection:
    """A section as it is streamed; it starts with the first text that may go out."""

    def __init__(
        self, index: int, fallback: Failure | None, emit: Callable[[AnyEvent], None], *, grounded: bool
    ) -> None:
        self._grounded = grounded
        self._index = index
        self._fallback = fallback
        self._emit = emit
        self._filter = LinkFilter()
        self._started = False
        self.text = ""  # that has gone out

    async def write(self, delta: str) -> None:
        self._emit_text(await _feed(self._filter, delta))

    @property
    def ahead(self) -> str:
        """What follows the text and has yet to go out, as far as it is known not to be removed as a whole."""
        return self._filter.word

    async def close(self, closed: DraftClosed, segments: Mapping[str, Segment]) -> list[Section]:
        """Emit the remaining text and what was removed; return the section, or nothing where no text is left."""
        rest, text, removed = await _close(self._filter, links_of_cited(closed.source_ids, segments))
        self._emit_text(rest)
        emit_removed(removed, self._index, self._emit)
        if not text:
            return []
        source_ids = list(closed.source_ids)
        self._emit(
            SectionFinished(section_index=self._index, text=text, source_ids=source_ids, unknown_ids=closed.unknown_ids)
        )
        passage = closed.passage if text == closed.text else None
        return [section_of(text, source_ids, grounded=self._grounded, passage=passage, notice=closed.notice)]

    def _emit_text(self, text: str) -> None:
        if not text:
            return
        self.text += text
        if not self._started:
            self._emit(SectionStarted(section_index=self._index, fallback=self._fallback, grounded=self._grounded))
            self._started = True
        self._emit(TextDelta(section_index=self._index, delta=text))


def filter_links(
    text: str, source_ids: Sequence[str], segments: Mapping[str, Segment]
) -> tuple[str, list[RemovedLink]]:
    """Remove foreign links from a section that was not streamed, such as a revised one."""
    return without_foreign_links(text, links_of_cited(source_ids, segments))


def links_of_cited(source_ids: Sequence[str], segments: Mapping[str, Segment]) -> SourceLinks:
    """Return the links of the sources that a section cites, those of all sources where it cites none."""
    cited = [segments[segment_id] for segment_id in source_ids or segments if segment_id in segments]
    return links_of_sources((segment.text for segment in cited), (segment.url for segment in cited))


def emit_removed(removed: Sequence[RemovedLink], section_index: int, emit: Callable[[AnyEvent], None]) -> None:
    """Emit an event for each link that was removed from a section."""
    for each in removed:
        emit(ContentRemoved(section_index=section_index, kind=each.kind, target=each.target))
