"""The docmost dialect: data-only frames of sources, memory, thinking and chunks of text with footnote marks.

Its clients can't retract text, so a section is sent once nothing can change it. Docs: dialect-docmost.md.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from api.dialects.buffered import BufferedEncoding
from api.dialects.citation_marks import by_position, footnote, marked_pieces
from api.dialects.event_frames import SilentEncoder, frame
from api.dialects.section_buffer import FinalSection
from graph.events import Envelope, RunFailed, RunFinished, SourcesGraded, ThinkingDelta
from graph.evidence import Freshness, Source

NO_MEMORY: Mapping[str, bool] = {"enabled": False, "loaded": False}
DONE = b"data: [DONE]\n\n"


class RagSource(TypedDict):
    """A source as Docmost's client knows it. What a document lacks of a page's address is an empty string."""

    pageId: str
    title: str
    slugId: str
    spaceSlug: str
    excerpt: str
    similarity: float
    chunkIndex: int
    url: NotRequired[str]
    freshness: NotRequired[Freshness]


def rag_source(source: Source) -> RagSource:
    """Show a source to Docmost's client; ``url`` only where the document has one, as pages of the web do."""
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


class DocmostEncoder(SilentEncoder):
    """Speaks to Docmost's AI page: the sources before the text that cites them, and ``[DONE]`` at every end."""

    remembers = True
    rejoins = False

    def __init__(self) -> None:
        self._retelling = BufferedEncoding(self, self._tell_sections)
        self._sources: list[Source] = []
        self._told: list[Source] | None = None

    def speak(self, envelope: Envelope) -> bytes:
        """Give the frames of an event, with the sections that it settles before it."""
        return self._retelling.tell(envelope.event)

    def _tell_sections(self, settled: Sequence[FinalSection]) -> bytes:
        return b"".join(map(self._section, settled))

    def _section(self, told: FinalSection) -> bytes:
        marked = marked_pieces(told, by_position(footnote, self._sources))
        return self._context() + b"".join(frame({"type": "chunk", "data": piece}) for piece in marked)

    def _context(self) -> bytes:
        """Tell the sources where the client does not know them yet; its list is replaced by each one it is given."""
        if self._told == self._sources:
            return b""
        first, self._told = self._told is None, self._sources
        sources = frame({"type": "sources", "data": [rag_source(source) for source in self._sources]})
        return sources + (frame({"type": "memory", "data": NO_MEMORY}) if first else b"")

    def sources_graded(self, event: SourcesGraded) -> bytes:
        """Tell the sources as soon as there are any."""
        self._sources = event.sources
        return self._context() if event.sources else b""

    def thinking_delta(self, event: ThinkingDelta) -> bytes:
        """Tell what a thinking model thinks, apart from the answer."""
        return self._context() + frame({"type": "thinking", "data": event.delta})

    def run_finished(self, event: RunFinished) -> bytes:
        """End the stream; a refusal rests on no source."""
        if event.outcome == "abstained":
            self._sources = []
        return self._context() + DONE

    def run_failed(self, event: RunFailed) -> bytes:
        """Say what failed, in words for the chat, and end the stream."""
        failure = {
            "type": "error",
            "data": event.message,
            "code": event.code,
            "suggestion": event.suggestion,
            "retryable": event.retryable,
        }
        return frame(failure) + DONE

    queued = SilentEncoder.silent
    run_started = SilentEncoder.silent
    step_started = SilentEncoder.silent
    retrieval_decided = SilentEncoder.silent
    search_failed = SilentEncoder.silent
    answer_assessed = SilentEncoder.silent
