"""The docmost dialect: data-only frames of sources, memory, thinking and chunks of text with footnote marks.

Its clients can't retract text, so text is sent once it may leave, and corrected in words. Docs: dialect-docmost.md.
"""

from collections.abc import Mapping
from functools import singledispatchmethod
from typing import NotRequired

from typing_extensions import TypedDict

import prompts
from answers.citations import excerpt
from answers.links import without_links, without_marks
from api.dialects.buffered import BufferedEncoding
from api.dialects.citation_marks import by_position, footnote, marked_pieces
from api.dialects.quotes import QuoteInContext, marked_quotes, shown_excerpt, with_final_excerpts
from api.dialects.section_buffer import FinalSection
from api.event_frames import UNSHOWN_EVENTS, frame, silent
from graph import events
from graph.evidence import Freshness, Message, Source, answer_text
from text.language import language

NO_MEMORY: Mapping[str, bool] = {"enabled": False, "loaded": False}
DONE = b"data: [DONE]\n\n"
LONGEST_TITLE = 160  # characters


class RagSource(TypedDict):
    """A source in the format of Docmost's client. Parts of a page's address that a document lacks are empty strings.

    Where a quote of it is a passage or hangs on something, such as a table's header, ``quotes`` has both, and
    ``excerpt`` shows both.
    """

    pageId: str
    title: str
    slugId: str
    spaceSlug: str
    excerpt: str
    similarity: float
    chunkIndex: int
    url: NotRequired[str]
    freshness: NotRequired[Freshness]
    quotes: NotRequired[list[QuoteInContext]]


class CutPage(TypedDict):
    """A selected page that was read in part: ``segments`` of ``of``."""

    pageId: str
    title: str
    segments: int
    of: int


def cut_notice(message: Message) -> str:
    """Return the paragraph that says which selected pages were read in part, to readers of the text alone; else ""."""
    read = message.get("pages")
    if read is None or not read["cut"]:
        return ""
    cut = read["cut"]
    wording = prompts.lines(language(answer_text(message["sections"])))
    titles = (without_marks(without_links(excerpt(use["title"], LONGEST_TITLE))) for use in cut)
    pages = (f"“{title}” ({use['segments']}/{use['of']})" for title, use in zip(titles, cut, strict=True))
    return "\n\n" + wording.pages_cut.format(pages=wording.comma.join(pages))


def rag_source(source: Source) -> RagSource:
    """Convert a source for Docmost's client; ``url`` is set only if the document has one, as web pages do."""
    space = source["space"]
    shown = RagSource(
        pageId=source["document_id"],
        title=source["title"],
        slugId=source["slug"] or "",
        spaceSlug=(space and space["slug"]) or "",
        excerpt=source["excerpt"],
        similarity=source["score"],
        chunkIndex=source["segment_index"],
    )
    if source["url"]:
        shown["url"] = source["url"]
    return shown


def quoted_source(source: Source, quotes: Mapping[int, list[QuoteInContext]]) -> RagSource:
    """Convert a source of a finished answer, with what its quotes hang on."""
    shown = rag_source(source)
    if source["index"] in quotes:
        shown["quotes"] = quotes[source["index"]]
        shown["excerpt"] = shown_excerpt(source, shown["quotes"])
    return shown


class DocmostEncoder(BufferedEncoding):
    """An encoder for Docmost's AI page: sources before the text that cites them, and ``[DONE]`` at every end."""

    ignored = (UNSHOWN_EVENTS - {events.PagesLoaded}) | {events.RunStarted}

    def __init__(self) -> None:
        super().__init__()
        self._sources: list[Source] = []
        self._listed: list[RagSource] | None = None
        self._quotes: dict[int, list[QuoteInContext]] = {}  # by source, once they are all known
        self._pages: dict[str, list[CutPage] | list[str]] = {}

    def _section(self, section: FinalSection) -> bytes:
        marked = marked_pieces(section, by_position(footnote, self._sources))
        return self._context() + b"".join(frame({"type": "chunk", "data": piece}) for piece in marked)

    def _context(self) -> bytes:
        """Return a frame of the sources if they have changed; the client replaces its list with each new one."""
        listed = [quoted_source(source, self._quotes) for source in self._sources]
        if self._listed == listed:
            return b""
        first, self._listed = self._listed is None, listed
        sources = frame({"type": "sources", "data": listed, **self._pages})
        return sources + (frame({"type": "memory", "data": NO_MEMORY}) if first else b"")

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _pages_loaded(self, event: events.PagesLoaded) -> bytes:
        if event.cut:
            self._pages["cutPages"] = [
                CutPage(pageId=use["document_id"], title=use["title"], segments=use["segments"], of=use["of"])
                for use in event.cut
            ]
        if event.unused:
            self._pages["unreadPages"] = event.unused
        return b""

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        self._sources = self._extended(self._sources, event.sources)
        return self._context() if event.sources else b""

    @_encode.register
    def _thinking_delta(self, event: events.ThinkingDelta) -> bytes:
        return self._context() + frame({"type": "thinking", "data": event.delta})

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        if not self._rests_on_sources(event):
            self._sources = []
        self._sources = with_final_excerpts(self._sources, event.message)
        self._quotes = marked_quotes(event.message)
        notice = cut_notice(event.message)
        return self._context() + (frame({"type": "chunk", "data": notice}) if notice else b"") + DONE

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        failure = {
            "type": "error",
            "data": event.message,
            "code": event.code,
            "suggestion": event.suggestion,
            "retryable": event.retryable,
        }
        return frame(failure) + DONE
