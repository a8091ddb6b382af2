"""The self_rag dialect."""

from api.dialects.frames import frame
from api.dialects.holding import HeldAnswer, Told
from graph.events import AnyEvent, Envelope


class SelfRagDialect:
    """Speaks to the clients of self_rag."""

    remembers = True

    def __init__(self) -> None:
        self._held = HeldAnswer()

    def speak(self, envelope: Envelope) -> bytes:
        """Give the frames of an event, with the sections that it settles before it."""
        told = self._held.hear(envelope.event)
        return b"".join(map(self._section, told)) + envelope.event.tell(self)

    def _section(self, told: Told) -> bytes:
        return frame({"text": told.text})

    def _silent(self, event: AnyEvent) -> bytes:
        return b""

    queued = _silent
    run_started = _silent
    run_resumed = _silent
    step_started = _silent
    step_finished = _silent
    retrieval_decided = _silent
    pages_loaded = _silent
    sources_found = _silent
    search_failed = _silent
    sources_graded = _silent
    sources_disagree = _silent
    query_rewritten = _silent
    thinking_delta = _silent
    section_started = _silent
    text_delta = _silent
    section_finished = _silent
    section_checked = _silent
    section_revised = _silent
    content_removed = _silent
    answer_assessed = _silent
    title_changed = _silent
    run_finished = _silent
    run_failed = _silent
