"""The docs_chatbot dialect: one JSON reply with its sources, or the same in parts if a stream is requested.

Marks are ``[n]``, the n-th source; an answer has at most 10,000 characters, marks included. Docs:
dialect-docs-chatbot.md.
"""

from collections.abc import Mapping
from functools import singledispatchmethod
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from answers.citations import excerpt
from api.dialects.buffered import BufferedEncoding
from api.dialects.citation_marks import Mark, bracket, by_position, marked_pieces
from api.dialects.quotes import QuoteInContext, marked_quotes, shown_excerpt, with_final_excerpts
from api.dialects.section_buffer import FinalSection, final_sections
from api.event_frames import UNSHOWN_EVENTS, frame, silent
from graph import events
from graph.evidence import Message, Source
from tools.auth.document_links import LinkSigner
from tools.retrieval.withholding import MARKED as SELECTION

LONGEST_CONTENT = 10_000


class DocsSource(TypedDict):
    """A source in the format of the chatbot's page. ``excerpt`` has at most 500 characters.

    Where a quote of it is a passage or hangs on something, such as a table's header, ``quotes`` has both, and
    ``excerpt`` shows both.
    ``selection`` is there, and true, where it is no documentation but the passage that came with the question and that
    stands on no page; its ``file_path`` is empty.
    """

    document_id: str
    title: str
    file_path: str
    relevance_score: float
    excerpt: str
    quotes: NotRequired[list[QuoteInContext]]
    selection: NotRequired[Literal[True]]


def docs_source(
    source: Source, quotes: Mapping[int, list[QuoteInContext]], signer: LinkSigner | None = None
) -> DocsSource:
    """Convert a source for the chatbot's page, with what its quotes hang on; ``quotes`` are by source."""
    shown = DocsSource(
        document_id=source["document_id"],
        title=source["title"],
        file_path=file_path(source, signer),
        relevance_score=source["score"],
        excerpt=source["excerpt"],
    )
    if source["source_type"] == SELECTION:
        shown["file_path"], shown["selection"] = "", True
    if source["index"] in quotes:
        shown["quotes"] = quotes[source["index"]]
        shown["excerpt"] = shown_excerpt(source, shown["quotes"])
    return shown


def file_path(source: Source, signer: LinkSigner | None = None) -> str:
    """Return the file path in a source's metadata, or else an address where the document can be opened.

    An address of this service is a link, where there is something that signs it.
    """
    path = source["metadata"].get("file_path")
    if isinstance(path, str) and path:
        return path
    if known := source["url"] or source["slug"]:
        return known
    document_id = source["document_id"]
    return f"/documents/{document_id}" if signer is None else signer.path(document_id, source["segment_index"])


class ContentLimit:
    """A limit on the length of an answer, which is cut at the end of the last claim that fits."""

    def __init__(self, characters: int = LONGEST_CONTENT) -> None:
        self._room = characters
        self._begun = False
        self._cut = False

    def take(self, section: FinalSection, mark: Mark) -> list[str]:
        """Return the pieces of a part that fit, with its marks; as many words as fit if nothing has fitted yet."""
        fitting: list[str] = []
        for piece in [] if self._cut else marked_pieces(section, mark):
            if len(piece) > self._room:
                self._cut = True
                return fitting if fitting or self._begun else [excerpt(piece, self._room)]
            self._begun = True
            self._room -= len(piece)
            fitting.append(piece)
        return fitting


def content(message: Message) -> str:
    """Return a finished message's answer with its marks, as its stream sent it."""
    limit, mark = ContentLimit(), by_position(bracket, message["sources"])
    return "".join(piece for section in final_sections(message) for piece in limit.take(section, mark))


class DocsChatbotEncoder(BufferedEncoding):
    """An encoder of the parts of a reply: ids, sources, content, and the end."""

    ignored = UNSHOWN_EVENTS | {events.ThinkingDelta}

    def __init__(self, signer: LinkSigner | None = None) -> None:
        super().__init__()
        self._signer = signer
        self._limit = ContentLimit()
        self._sources: list[Source] = []
        self._listed: list[DocsSource] | None = None
        self._quotes: dict[int, list[QuoteInContext]] = {}  # by source, once they are all known
        self._ids: dict[str, str] = {}

    def _open(self) -> bytes:
        self._ids["session_id"] = self._envelope.session_id
        return b""

    def _section(self, section: FinalSection) -> bytes:
        pieces = self._limit.take(section, by_position(bracket, self._sources))
        return self._context() + b"".join(frame({"type": "content", "delta": piece}) for piece in pieces)

    def _context(self) -> bytes:
        """Return a frame of the sources if they have changed; each list replaces the one before."""
        listed = [docs_source(source, self._quotes, self._signer) for source in self._sources]
        if self._listed == listed:
            return b""
        self._listed = listed
        return frame({"type": "sources", "sources": listed})

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _run_started(self, event: events.RunStarted) -> bytes:
        self._ids["message_id"] = event.message_id
        return frame({"type": "started", **self._ids})

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        self._sources = self._extended(self._sources, event.sources)
        return self._context() if event.sources else b""

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        if not self._rests_on_sources(event):
            self._sources = []
        self._sources = with_final_excerpts(self._sources, event.message)
        self._quotes = marked_quotes(event.message)
        done = {"type": "done", **self._ids, "outcome": event.outcome, "stop_reason": event.stop_reason}
        return self._context() + frame(done)

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        failure = {
            "type": "error",
            **self._ids,
            "code": event.code,
            "message": event.message,
            "suggestion": event.suggestion,
            "retryable": event.retryable,
        }
        return frame(failure)
