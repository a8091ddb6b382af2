"""Encode a run for clients that can't retract text: final sections only, then one end.

An end without a whole answer becomes a failure for dialects that know no end but `done` and `error`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from api.dialects.section_buffer import FinalSection, Retracted, SectionBuffer
from graph.events import TERMINAL, AnyEvent, Listener, RunFailed, RunFinished

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
    """Word the end of a cancelled run, whose client must not take what it has for the whole answer.

    Its code is the reason why the run was stopped.
    """
    return RunFailed(
        code=end.stop_reason,
        message=_WHY.get(end.stop_reason, "The answer was stopped."),
        suggestion="Ask again for the whole answer.",
        retryable=True,
    )


class BufferedEncoding:
    """Gives the frames of events in the words of a dialect, each behind the sections that it settles.

    An answer that a crash has changed ends as failed, with ``advice`` in the place of the suggestion where there is
    some. So does one that was cut short, unless the dialect has a word of its own for that (``cut_short_fails``).
    """

    def __init__(
        self,
        dialect: Listener[bytes],
        sections: Callable[[Sequence[FinalSection]], bytes],
        *,
        cut_short_fails: bool = True,
        advice: str = "",
    ) -> None:
        self._dialect = dialect
        self._sections = sections
        self._held = SectionBuffer()
        self._cut_short_fails = cut_short_fails
        self._rewritten = replace(ANSWER_REWRITTEN, suggestion=advice) if advice else ANSWER_REWRITTEN
        self._over = False

    def tell(self, event: AnyEvent) -> bytes:
        """Give the frames of an event, and nothing behind the end."""
        if self._over:
            return b""
        if self._cut_short_fails and isinstance(event, RunFinished) and event.outcome == "cancelled":
            return self._end(cancelled_as_failure(event))
        try:
            spoken = self._sections(self._held.hear(event)) + event.tell(self._dialect)
        except Retracted:
            return self._end(self._rewritten)
        self._over = isinstance(event, TERMINAL)
        return spoken

    def _end(self, failed: RunFailed) -> bytes:
        self._over = True
        return failed.tell(self._dialect)
