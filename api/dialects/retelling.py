"""A run as it is told to clients that can't take text back: sections once they are final, and one end."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from api.dialects.broken_off import REWRITTEN, cut_short
from api.dialects.holding import HeldAnswer, Retracted, Told
from graph.events import TERMINAL, AnyEvent, Listener, RunFailed, RunFinished


class Retelling:
    """Gives the frames of events in the words of a dialect, each behind the sections that it settles.

    An answer that a crash has changed ends as failed, with ``advice`` in the place of the suggestion where there is
    some. So does one that was cut short, unless the dialect has a word of its own for that (``cut_short_fails``).
    """

    def __init__(
        self,
        dialect: Listener[bytes],
        sections: Callable[[Sequence[Told]], bytes],
        *,
        cut_short_fails: bool = True,
        advice: str = "",
    ) -> None:
        self._dialect = dialect
        self._sections = sections
        self._held = HeldAnswer()
        self._cut_short_fails = cut_short_fails
        self._rewritten = replace(REWRITTEN, suggestion=advice) if advice else REWRITTEN
        self._over = False

    def tell(self, event: AnyEvent) -> bytes:
        """Give the frames of an event, and nothing behind the end."""
        if self._over:
            return b""
        if self._cut_short_fails and isinstance(event, RunFinished) and event.outcome == "cancelled":
            return self._end(cut_short(event))
        try:
            spoken = self._sections(self._held.hear(event)) + event.tell(self._dialect)
        except Retracted:
            return self._end(self._rewritten)
        self._over = isinstance(event, TERMINAL)
        return spoken

    def _end(self, failed: RunFailed) -> bytes:
        self._over = True
        return failed.tell(self._dialect)
