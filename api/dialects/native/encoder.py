"""The native dialect: each event as it is, flat with its envelope, with its type and sequence number."""

from api.dialects.event_frames import EncodedJson, frame
from graph.events import AnyEvent, Envelope, payload


class NativeEncoder:
    """Speaks every event; clients ignore those that they do not know."""

    remembers = False
    rejoins = True
    _envelope: Envelope

    def speak(self, envelope: Envelope) -> bytes:
        """Give the frame of an event."""
        self._envelope = envelope
        return envelope.event.tell(self)

    def _as_it_is(self, event: AnyEvent) -> bytes:
        stored = self._envelope.text
        data = EncodedJson(stored) if stored else payload(self._envelope)
        return frame(data, event=event.type, event_id=self._envelope.event_id)

    queued = _as_it_is
    run_started = _as_it_is
    run_resumed = _as_it_is
    step_started = _as_it_is
    step_finished = _as_it_is
    retrieval_decided = _as_it_is
    pages_loaded = _as_it_is
    sources_found = _as_it_is
    search_failed = _as_it_is
    sources_graded = _as_it_is
    sources_disagree = _as_it_is
    query_rewritten = _as_it_is
    thinking_delta = _as_it_is
    section_started = _as_it_is
    text_delta = _as_it_is
    section_finished = _as_it_is
    section_checked = _as_it_is
    section_revised = _as_it_is
    content_removed = _as_it_is
    answer_assessed = _as_it_is
    title_changed = _as_it_is
    run_finished = _as_it_is
    run_failed = _as_it_is
