"""The answer while it is being written, for clients that can drop text that they have shown."""

from dataclasses import dataclass

from answers.standing import RunView
from api.dialects.citation_marks import BETWEEN_SECTIONS, Mark, marked_text
from graph.events import AnyEvent, RunFinished


@dataclass(frozen=True, slots=True)
class DraftChange:
    """A change of the shown answer: ``text`` replaces all of it if ``anew``, and is appended otherwise."""

    text: str
    anew: bool


class AnswerDraft:
    """A run's answer as it is being written, without marks; at the end, the finished answer with marks.

    A section disappears as soon as one of its claims fails, and reappears when it is revised.
    """

    def __init__(self, mark: Mark) -> None:
        self._mark = mark
        self._view = RunView()
        self._shown = ""

    def feed(self, event: AnyEvent) -> DraftChange | None:
        """Read an event, and return how it changes the answer, or None if it does not."""
        self._view.feed(event)
        if isinstance(event, RunFinished):
            answer = marked_text(event.message, self._mark)
        else:
            sections = [each for _, each in sorted(self._view.sections.items())]
            answer = BETWEEN_SECTIONS.join(each.text for each in sections if each.text and not each.has_failed)
        shown, self._shown = self._shown, answer
        if answer == shown:
            return None
        if answer.startswith(shown):
            return DraftChange(answer[len(shown) :], anew=False)
        return DraftChange(answer, anew=True)
