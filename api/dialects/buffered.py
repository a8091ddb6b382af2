"""Encoding for clients that can't retract text: text once it may leave, then one end.

An incomplete answer ends as a failure in dialects that have only `done` and `error`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatchmethod
from typing import ClassVar

from api.dialects.section_buffer import FinalSection, Retracted, SectionBuffer
from graph.events import TERMINAL, AnyEvent, Envelope, RunFailed, RunFinished
from graph.evidence import Source

ANSWER_REWRITTEN = RunFailed(
    code="answer_rewritten",
    message="The answer was interrupted and is being written again; what was shown of it no longer holds.",
    suggestion="Open the conversation again to read the answer.",
    retryable=True,
)
_WHY = {
    "cancel_requested": "The answer was stopped on request.",
    "client_disconnected": "The answer was stopped, since its reader had left.",
    "interrupted": "The answer was stopped in favour of another question.",
    "server_stopped": "The answer was stopped, since the service is shutting down.",
}


def cancelled_as_failure(end: RunFinished) -> RunFailed:
    """Return a cancelled end as a failure, so that a client does not mistake a part for the whole answer.

    Its code is the stop reason of the run.
    """
    return RunFailed(
        code=end.stop_reason,
        message=_WHY.get(end.stop_reason, "The answer was stopped."),
        suggestion="Ask again for the whole answer.",
        retryable=True,
    )


class BufferedEncoding:
    """An encoder of one stream that sends each event after the text that it releases, up to one end.

    A dialect has a ``_section``, and in ``_encode`` a ``singledispatchmethod`` over events; ``_open`` may begin the
    stream. An answer that was rewritten after a crash ends as failed, with ``advice`` as the suggestion if it is not
    empty. So does a cancelled one if ``cut_short_fails``, for dialects that can't express it. Claims that share a quote
    share a mark, unless ``marks_each``.
    """

    stateful: bool = True
    resumable: bool = False
    cut_short_fails: ClassVar[bool] = True
    marks_each: ClassVar[bool] = False
    advice: ClassVar[str] = ""
    _encode: "singledispatchmethod[bytes]"
    _envelope: Envelope  # of the current event

    def __init__(self) -> None:
        self._buffer = SectionBuffer(only_checked=self.cut_short_fails, marks_each=self.marks_each)
        self._has_begun = False
        self._has_cited = False
        self._over = False

    def encode(self, envelope: Envelope) -> bytes:
        """Return the frames of an event, after those of the text that it releases; none after the end."""
        return self._begin(envelope) + self._released(envelope.event)

    def _begin(self, envelope: Envelope) -> bytes:
        self._envelope = envelope
        if self._has_begun:
            return b""
        self._has_begun = True
        return self._open()

    def _open(self) -> bytes:
        """Return the frames that stand before those of the first event."""
        return b""

    def _released(self, event: AnyEvent) -> bytes:
        if self._over:
            return b""
        shown = event
        if self.cut_short_fails and isinstance(event, RunFinished) and event.outcome == "cancelled":
            shown = cancelled_as_failure(event)
        try:
            sections = self._buffer.feed(event)
            self._has_cited = self._has_cited or any(section.source_ids for section in sections)
            frames = self._sections(sections) + self._encode(shown)
        except Retracted:
            shown = replace(ANSWER_REWRITTEN, suggestion=self.advice) if self.advice else ANSWER_REWRITTEN
            frames = self._encode(shown)
        self._over = isinstance(shown, TERMINAL)
        return frames

    def _sections(self, sections: Sequence[FinalSection]) -> bytes:
        return b"".join(map(self._section, sections))

    def _section(self, section: FinalSection) -> bytes:
        """Return the frames of a part of a section."""
        raise NotImplementedError

    def _rests_on_sources(self, end: RunFinished) -> bool:
        """Whether the answer or text that left before it cites sources; a refusal and what a model knows cite none."""
        return self._has_cited or bool(end.message["sources"])

    def _extended(self, before: Sequence[Source], sources: list[Source]) -> list[Source]:
        """Return the sources of a run after more were kept.

        Raises Retracted if text has left whose marks point at others, as where a run was repeated after a crash.
        """
        kept = [source["segment_id"] for source in sources[: len(before)]]
        if self._has_cited and kept != [source["segment_id"] for source in before]:
            raise Retracted
        return sources
