"""The self_rag dialect: named events for decision, retrieval, content and assessment, and marks ``[ref:N]``."""

from collections.abc import Sequence

from api.dialects.buffered import BufferedEncoding
from api.dialects.citation_marks import marked_pieces, reference
from api.dialects.event_frames import SilentEncoder, frame
from api.dialects.section_buffer import FinalSection
from api.dialects.self_rag.replies import RetrievedSources
from graph.events import AnswerAssessed, Envelope, RetrievalDecided, RunFailed, RunFinished, SourcesGraded, StepStarted

WRITING = ("generate_answer", "abstain")


class SelfRagEncoder(SilentEncoder):
    """Tells a run as the chat's parser reads it: each event once, but for `content`.

    A mark's number is a place in the list of `retrieval`, which its client counts; so the list is told before the text
    that cites from it, and again in the one case where a repair has found a source that is cited.
    """

    remembers = True
    rejoins = False

    def __init__(self) -> None:
        self._retelling = BufferedEncoding(self, self._tell_sections)
        self._retrieved = RetrievedSources()
        self._decided: RetrievalDecided | None = None
        self._assessed = False
        self._listed: int | None = None  # how many sources the client has been told of; None before it was told of any

    def speak(self, envelope: Envelope) -> bytes:
        """Give the frames of an event, with the sections that it settles before it."""
        return self._retelling.tell(envelope.event)

    def _tell_sections(self, settled: Sequence[FinalSection]) -> bytes:
        return b"".join(map(self._section, settled))

    def _section(self, told: FinalSection) -> bytes:
        cited = [citation["source_index"] for claim in told.claims for citation in claim["citations"]]
        unlisted = max(map(self._retrieved.number, cited), default=0) > (self._listed or 0)
        content = [frame({"delta": piece}, event="content") for piece in marked_pieces(told, self._mark)]
        return (self._retrieval() if unlisted else b"") + b"".join(content)

    def _mark(self, index: int) -> str:
        return reference(self._retrieved.number(index))

    def _retrieval(self) -> bytes:
        sources = self._retrieved.listed()
        self._listed = len(sources)
        return frame({"total": len(sources), "sources": sources}, event="retrieval")

    def retrieval_decided(self, event: RetrievalDecided) -> bytes:
        """Tell whether the library is searched, and why."""
        if self._decided is not None:
            return b""
        self._decided = event
        return frame({"needs_retrieval": event.needs_retrieval, "reason": event.reason}, event="decision")

    def sources_graded(self, event: SourcesGraded) -> bytes:
        """Take in what was kept; another round may yet add to it."""
        self._retrieved.learn(event.sources)
        return b""

    def step_started(self, event: StepStarted) -> bytes:
        """Tell what was retrieved once writing begins, since nothing is gathered from then on but for a repair."""
        searched = self._decided is not None and self._decided.needs_retrieval
        return self._retrieval() if searched and self._listed is None and event.step in WRITING else b""

    def answer_assessed(self, event: AnswerAssessed) -> bytes:
        """Tell what the verdicts say of the answer."""
        if self._assessed:
            return b""
        self._assessed = True
        return frame({"supported": event.supported, "utility": event.utility}, event="assessment")

    def run_finished(self, event: RunFinished) -> bytes:
        """Tell that the answer is whole."""
        return frame({"message": "completed"}, event="done")

    def run_failed(self, event: RunFailed) -> bytes:
        """Tell what went wrong; nothing is told after it."""
        return frame({"message": event.message}, event="error")

    queued = SilentEncoder.silent
    run_started = SilentEncoder.silent
    search_failed = SilentEncoder.silent
    thinking_delta = SilentEncoder.silent
