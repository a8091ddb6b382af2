"""Encoding for clients that can't retract text: text once it may leave, then one end.

An incomplete answer ends as a failure in dialects that have only `done` and `error`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from api.dialects.section_buffer import FinalSection, Retracted, SectionBuffer
from graph.events import TERMINAL, AnyEvent, RunFailed, RunFinished
from graph.evidence import Claim, Source

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
    """An encoder that sends each event after the text that it releases, with two functions of a dialect.

    An answer that was rewritten after a crash ends as failed, with ``advice`` as the suggestion if it is not empty. So
    does a cancelled one if ``cut_short_fails``, for dialects that can't express it.
    """

    def __init__(
        self,
        encode_event: Callable[[AnyEvent], bytes],
        encode_sections: Callable[[Sequence[FinalSection]], bytes],
        *,
        cut_short_fails: bool = True,
        advice: str = "",
    ) -> None:
        self._encode_event = encode_event
        self._encode_sections = encode_sections
        self._buffer = SectionBuffer(only_checked=cut_short_fails)
        self._cut_short_fails = cut_short_fails
        self._rewritten = replace(ANSWER_REWRITTEN, suggestion=advice) if advice else ANSWER_REWRITTEN
        self._over = False
        self._has_cited = False

    def encode(self, event: AnyEvent) -> bytes:
        """Return the frames of an event; none after the end."""
        if self._over:
            return b""
        shown = event
        if self._cut_short_fails and isinstance(event, RunFinished) and event.outcome == "cancelled":
            shown = cancelled_as_failure(event)
        try:
            sections = self._buffer.feed(event)
            self._has_cited = self._has_cited or any(section.source_ids for section in sections)
            frames = self._encode_sections(sections) + self._encode_event(shown)
        except Retracted:
            shown = self._rewritten
            frames = self._encode_event(shown)
        self._over = isinstance(shown, TERMINAL)
        return frames

    def rests_on_sources(self, end: RunFinished) -> bool:
        """Whether the answer or text that left before it cites sources; a refusal and what a model knows cite none."""
        return self._has_cited or bool(end.message["sources"])

    def extended(self, before: Sequence[Source], sources: list[Source]) -> list[Source]:
        """Return the sources of a run after more were kept.

        Raises Retracted if text has left whose marks point at others, as where a run was repeated after a crash.
        """
        kept = [source["segment_id"] for source in sources[: len(before)]]
        if self._has_cited and kept != [source["segment_id"] for source in before]:
            raise Retracted
        return sources

    def latest(self, claim: Claim) -> Claim:
        """Return a claim with its latest verdict, which may have come after its text was sent."""
        return self._buffer.latest(claim)
