"""The langgraph dialect: a run in the stream modes of LangGraph's server, for ``useStream`` and its other clients.

``messages-tuple`` has text once it may leave, ``values`` the conversation at both ends of the run, ``updates`` the
answer, ``custom`` our own events. The last ``values`` replace what was streamed, and so all that was repaired.
"""

from collections.abc import Collection, Sequence
from functools import singledispatchmethod
from typing import Any, get_args

from api.dialects.annotated_text import SourceAddresses
from api.dialects.buffered import BufferedEncoding
from api.dialects.langgraph.thread_messages import GRAPH, ChatText, Json, answer, block
from api.dialects.openai_api import DEFAULT_BASE_URL
from api.dialects.section_buffer import FinalSection
from api.event_frames import frame, silent
from graph import events
from graph.events import AnyEvent, Envelope, payload

MODES = ("values", "messages-tuple", "updates", "custom")


class LangGraphEncoder(BufferedEncoding):
    """An encoder of one run, for a reader who asked for some stream ``modes``.

    ``before`` are the messages before the answer, the question included.
    """

    cut_short_fails = False
    # ``custom`` has every event, new ones too.
    ignored = frozenset(get_args(AnyEvent)) - {events.SourcesGraded, events.RunFinished, events.RunFailed}

    def __init__(
        self,
        modes: Collection[str] = MODES[:2],
        message_id: str = "answer",
        before: Sequence[Json] = (),
        addresses: SourceAddresses | None = None,
    ) -> None:
        super().__init__()
        self._modes = modes
        self._message_id = message_id
        self._before = list(before)
        self._addresses = addresses or SourceAddresses(DEFAULT_BASE_URL)
        self._written = ChatText(self._addresses)

    def encode(self, envelope: Envelope) -> bytes:
        """Return the frames of an event, after those of the text that it releases."""
        return self._begin(envelope) + self._tell("custom", payload(envelope)) + self._released(envelope.event)

    def _open(self) -> bytes:
        metadata = frame({"run_id": self._envelope.run_id, "attempt": 1}, event="metadata")
        return metadata + self._tell("values", {"messages": self._before})

    def _tell(self, mode: str, data: Any) -> bytes:
        return frame(data, event=mode.removesuffix("-tuple")) if mode in self._modes else b""

    def _section(self, section: FinalSection) -> bytes:
        pieces = filter(None, self._written.write(section))
        return b"".join(self._piece({"type": "text", "text": piece, "index": 0}) for piece in pieces)

    def _piece(self, content: Json) -> bytes:
        empty: Json = {"additional_kwargs": {}, "response_metadata": {}}
        chunk = {"type": "AIMessageChunk", "id": self._message_id, "content": [content], **empty}
        return self._tell("messages-tuple", [chunk, {"run_id": self._envelope.run_id, "langgraph_node": GRAPH}])

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        self._addresses.learn(event.sources)
        return b""

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        said = answer(self._message_id, event.message, event.outcome, self._addresses)
        annotations = self._written.annotations
        cited = self._piece(block("", annotations)) if annotations else b""
        update = self._tell("updates", {GRAPH: {"messages": [said]}})
        return cited + update + self._tell("values", {"messages": [*self._before, said]})

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        message = f"{event.message} {event.suggestion}".strip()
        return frame({"error": event.code, "message": message, "retryable": event.retryable}, event="error")
