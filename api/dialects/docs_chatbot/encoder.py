"""The docs_chatbot dialect: one JSON reply with its sources, or the same in parts where a stream is requested.

Marks are ``[n]``, the n-th source; an answer has at most 10,000 characters, marks included. Docs:
dialect-docs-chatbot.md.
"""

from collections.abc import Sequence

from typing_extensions import TypedDict

from answers.sources import excerpt
from api.dialects.buffered import BufferedEncoding
from api.dialects.citation_marks import Mark, bracket, by_position, marked_pieces
from api.dialects.event_frames import SilentEncoder, frame
from api.dialects.section_buffer import FinalSection, final_sections
from graph.events import Envelope, RunFailed, RunFinished, RunStarted, SourcesGraded
from graph.evidence import Message, Source

LONGEST_CONTENT = 10_000


class DocsSource(TypedDict):
    """A source as the chatbot's page shows it. ``excerpt`` has at most 500 characters."""

    document_id: str
    title: str
    file_path: str
    relevance_score: float
    excerpt: str


def docs_source(source: Source) -> DocsSource:
    """Show a source to the chatbot's page."""
    return DocsSource(
        document_id=source["document_id"],
        title=source["title"],
        file_path=file_path(source),
        relevance_score=source["score"],
        excerpt=source["excerpt"],
    )


def file_path(source: Source) -> str:
    """Give the path of the file that a source is of, as its metadata says it; else where the document can be opened."""
    told = source["metadata"].get("file_path")
    if isinstance(told, str) and told:
        return told
    return source["url"] or source["slug"] or f"/documents/{source['document_id']}"


class ContentLimit:
    """Takes sections while they fit: an answer that is longer is cut at the end of one."""

    def __init__(self, characters: int = LONGEST_CONTENT) -> None:
        self._room = characters
        self._cut = False

    def take(self, told: FinalSection, mark: Mark) -> list[str]:
        """Give a section in pieces with its marks, or what fits of the first one, or nothing."""
        if self._cut:
            return []
        given = marked_pieces(told, mark)
        length = sum(map(len, given))
        if length <= self._room:
            self._room -= length
            return given
        self._cut = True
        return [] if told.place else _fitting(given, self._room)


def _fitting(given: Sequence[str], room: int) -> list[str]:
    """Take whole claims while they fit; of a first one that does not, as many words."""
    fitting: list[str] = []
    for piece in given:
        if len(piece) > room:
            break
        fitting.append(piece)
        room -= len(piece)
    return fitting or [excerpt(given[0], room)]


def content(message: Message) -> str:
    """Write a finished message's answer with its marks, as its stream told it."""
    limit, mark = ContentLimit(), by_position(bracket, message["sources"])
    return "".join(piece for told in final_sections(message) for piece in limit.take(told, mark))


class DocsChatbotEncoder(SilentEncoder):
    """Speaks the parts of a reply: ids, sources, content, and how it ended."""

    remembers = True
    rejoins = False

    def __init__(self) -> None:
        self._retelling = BufferedEncoding(self, self._tell_sections)
        self._limit = ContentLimit()
        self._sources: list[Source] = []
        self._told: list[Source] | None = None
        self._ids: dict[str, str] = {}

    def speak(self, envelope: Envelope) -> bytes:
        """Give the frames of an event, with the sections that it settles before it."""
        self._ids["session_id"] = envelope.session_id
        return self._retelling.tell(envelope.event)

    def _tell_sections(self, settled: Sequence[FinalSection]) -> bytes:
        return b"".join(map(self._section, settled))

    def _section(self, told: FinalSection) -> bytes:
        given = self._limit.take(told, by_position(bracket, self._sources))
        return self._context() + b"".join(frame({"type": "content", "delta": piece}) for piece in given)

    def _context(self) -> bytes:
        """Tell the sources where they are not known yet; each list takes the place of the one before."""
        if self._told == self._sources:
            return b""
        self._told = self._sources
        return frame({"type": "sources", "sources": [docs_source(source) for source in self._sources]})

    def run_started(self, event: RunStarted) -> bytes:
        """Tell the ids of the session and of the answer to come."""
        self._ids["message_id"] = event.message_id
        return frame({"type": "started", **self._ids})

    def sources_graded(self, event: SourcesGraded) -> bytes:
        """Tell the sources as soon as there are any."""
        self._sources = event.sources
        return self._context() if event.sources else b""

    def run_finished(self, event: RunFinished) -> bytes:
        """Say how the answer ended; a refusal rests on no source."""
        if event.outcome == "abstained":
            self._sources = []
        done = {"type": "done", **self._ids, "outcome": event.outcome, "stop_reason": event.stop_reason}
        return self._context() + frame(done)

    def run_failed(self, event: RunFailed) -> bytes:
        """Say what failed and what to do."""
        failure = {
            "type": "error",
            **self._ids,
            "code": event.code,
            "message": event.message,
            "suggestion": event.suggestion,
            "retryable": event.retryable,
        }
        return frame(failure)

    queued = SilentEncoder.silent
    step_started = SilentEncoder.silent
    retrieval_decided = SilentEncoder.silent
    search_failed = SilentEncoder.silent
    thinking_delta = SilentEncoder.silent
    answer_assessed = SilentEncoder.silent
