"""The messages dialect: a run as the events of Anthropic's Messages API, with its citations.

https://docs.anthropic.com/en/api/messages-streaming. Blocks can't be retracted, so text is sent once it may leave, and
corrected in words. The documents that citations number are those of the library that the answer cites.
"""

from collections.abc import Iterable, Sequence
from functools import singledispatchmethod
from typing import Any

from api.dialects.buffered import BufferedEncoding
from api.dialects.messages.cited_blocks import CitedBlocks
from api.dialects.messages.schemas import ReplyOptions, error, message_head, stop_reason, usage
from api.dialects.openai_api import extension
from api.dialects.section_buffer import FinalSection
from api.event_frames import DRAFT_EVENTS, INTERNAL_EVENTS, frame, silent
from graph import events
from graph.events import Envelope


class MessagesEncoder:
    """An encoder for clients of the Messages API: content blocks with citations, then the reason of the end."""

    stateful = True
    resumable = False
    ignored = (
        DRAFT_EVENTS
        | INTERNAL_EVENTS
        | {
            events.RunStarted,
            events.Queued,
            events.StepStarted,
            events.RetrievalDecided,
            events.SearchFailed,
            events.AnswerAssessed,
        }
    )
    _envelope: Envelope

    def __init__(self, options: ReplyOptions | None = None) -> None:
        self._options = options or ReplyOptions()
        self._buffered = BufferedEncoding(
            self._encode, self._content, cut_short_fails=False, advice="Ask the question again."
        )
        self._addresses = self._options.addresses
        self._blocks = CitedBlocks(self._addresses)
        self._has_begun = False

    def encode(self, envelope: Envelope) -> bytes:
        """Return the frames of an event, after those of the sections that it makes final."""
        self._envelope = envelope
        opening = b""
        if not self._has_begun:
            self._has_begun = True
            head = message_head(envelope.run_id, self._options.model)
            opening = _frames([{"type": "message_start", "message": head}])
        return opening + self._buffered.encode(envelope.event)

    def _content(self, settled: Sequence[FinalSection]) -> bytes:
        return b"".join(_frames(self._blocks.write(each)) for each in settled)

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        self._addresses.learn(event.sources)
        return b""

    @_encode.register
    def _thinking_delta(self, event: events.ThinkingDelta) -> bytes:
        return _frames(self._blocks.think(event.delta)) if self._options.thinking else b""

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        end = {
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason(event), "stop_sequence": None},
            "usage": usage(event.spent),
            "citewell": extension(self._envelope.run_id, self._envelope.session_id, event),
        }
        return _frames([*self._blocks.close(), end, {"type": "message_stop"}])

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        return _frames([error(event.code, event.message, event.suggestion)])


def _frames(told: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(frame(event, event=event["type"]) for event in told)
