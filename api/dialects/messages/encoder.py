"""The messages dialect: a run as the events of Anthropic's Messages API, with its citations.

https://docs.anthropic.com/en/api/messages-streaming. Blocks can't be retracted, so text is sent once it may leave, and
corrected in words. The documents that citations number are those of the library that the answer cites.
"""

from collections.abc import Iterable
from functools import singledispatchmethod
from typing import Any

from api.dialects.buffered import BufferedEncoding
from api.dialects.messages.cited_blocks import CitedBlocks
from api.dialects.messages.schemas import MessageForm, error, message_head, stop_reason, usage
from api.dialects.openai_api import extension
from api.dialects.section_buffer import FinalSection
from api.event_frames import UNSHOWN_EVENTS, frame, silent
from graph import events


class MessagesEncoder(BufferedEncoding):
    """An encoder for clients of the Messages API: content blocks with citations, then the reason of the end."""

    cut_short_fails = False
    advice = "Ask the question again."
    ignored = UNSHOWN_EVENTS | {events.RunStarted}

    def __init__(self, options: MessageForm | None = None) -> None:
        super().__init__()
        self._options = options or MessageForm()
        self._addresses = self._options.addresses
        self._blocks = CitedBlocks(self._addresses)

    def _open(self) -> bytes:
        return _frames([{"type": "message_start", "message": message_head(self._envelope.run_id, self._options.model)}])

    def _section(self, section: FinalSection) -> bytes:
        return _frames(self._blocks.write(section))

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
