"""The self_rag dialect: named events for decision, retrieval, content and assessment, and marks ``[ref:N]``."""

from functools import singledispatchmethod

from answers.marks import marked_citations
from api.dialects.buffered import BufferedEncoding
from api.dialects.citation_marks import marked_pieces, reference
from api.dialects.quotes import QuoteInContext, marked_quotes
from api.dialects.section_buffer import FinalSection
from api.dialects.self_rag.schemas import RetrievedSources
from api.event_frames import DRAFT_EVENTS, INTERNAL_EVENTS, frame, silent
from graph import events


class QuoteOfSource(QuoteInContext):
    """A quote that hangs on something, with the number of its source."""

    index: int


WRITING = ("generate_answer", "answer_directly", "abstain")


class SelfRagEncoder(BufferedEncoding):
    """An encoder for the chat's parser, which sends each event once, except `content`.

    A mark's number is a position in the list of `retrieval`, so the list is sent before the text that cites it. It is
    sent again if a repair has found another source that is cited and, at the end, where a card has to show another
    part of its source, since it is quoted, or where the answer rests on none of them: the chat keeps the last list.
    """

    marks_each = True
    ignored = (
        DRAFT_EVENTS | INTERNAL_EVENTS | {events.Queued, events.RunStarted, events.SearchFailed, events.ThinkingDelta}
    )

    def __init__(self) -> None:
        super().__init__()
        self._retrieved = RetrievedSources()
        self._decided: events.RetrievalDecided | None = None
        self._assessed = False
        self._listed: int | None = None  # the number of sources sent; None before the first list

    def _section(self, section: FinalSection) -> bytes:
        cited = [citation["source_index"] for claim in section.claims for citation in marked_citations(claim)]
        unlisted = max(map(self._retrieved.number, cited), default=0) > (self._listed or 0)
        content = [frame({"delta": piece}, event="content") for piece in marked_pieces(section, self._mark)]
        return (self._retrieval() if unlisted else b"") + b"".join(content)

    def _mark(self, index: int) -> str:
        return reference(self._retrieved.number(index))

    def _retrieval(self) -> bytes:
        sources = self._retrieved.listed()
        self._listed = len(sources)
        return frame({"total": len(sources), "sources": sources}, event="retrieval")

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _retrieval_decided(self, event: events.RetrievalDecided) -> bytes:
        if self._decided is not None:
            return b""
        self._decided = event
        return frame({"needs_retrieval": event.needs_retrieval, "reason": event.reason}, event="decision")

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        self._retrieved.learn(event.sources)
        if self._decided is not None and self._decided.intent == "about_library":
            return self._retrieval()
        return b""  # sent later, since another round may add sources

    @_encode.register
    def _step_started(self, event: events.StepStarted) -> bytes:
        # After writing begins, only a repair adds sources.
        searched = self._decided is not None and self._decided.needs_retrieval
        return self._retrieval() if searched and self._listed is None and event.step in WRITING else b""

    @_encode.register
    def _answer_assessed(self, event: events.AnswerAssessed) -> bytes:
        if self._assessed:
            return b""
        self._assessed = True
        return frame({"supported": event.supported, "utility": event.utility}, event="assessment")

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        quotes = [
            QuoteOfSource(index=self._retrieved.number(index), **quote)
            for index, each in marked_quotes(event.message).items()
            for quote in each
        ]
        changed = self._listed is not None and self._retrieved.learn(event.message["sources"])
        if self._listed and not self._rests_on_sources(event):
            self._retrieved, changed = RetrievedSources(), True
        again = self._retrieval() if changed else b""
        return again + frame({"message": "completed", **({"quotes": quotes} if quotes else {})}, event="done")

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        return frame({"message": event.message}, event="error")
