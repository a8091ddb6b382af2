"""The answer while it is written, for clients that can drop what they have shown of it."""

from dataclasses import dataclass, replace

from api.dialects.citation_marks import BETWEEN_SECTIONS, Mark, marked_text
from api.dialects.section_buffer import all_passed
from graph.events import (
    AnyEvent,
    RunFinished,
    RunResumed,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
    TextDelta,
)


@dataclass(frozen=True, slots=True)
class DraftChange:
    """What to show next: ``text`` in the place of all that was shown where ``anew``, behind it otherwise."""

    text: str
    anew: bool


@dataclass(frozen=True, slots=True)
class _Section:
    text: str = ""
    failed: bool = False


class AnswerDraft:
    """Hears a run and gives its answer as it is written, without marks; at the run's end, as it stands, with them.

    A section disappears as soon as a claim of it fails, and comes back when it is revised.
    """

    def __init__(self, mark: Mark) -> None:
        self._mark = mark
        self._sections: dict[int, _Section] = {}
        self._shown = ""

    def hear(self, event: AnyEvent) -> DraftChange | None:
        """Take an event in, and give what it changes of the answer; None where that is nothing."""
        match event:
            case SectionStarted():
                self._sections[event.section_index] = _Section()
            case TextDelta():
                self._append(event)
            case SectionFinished() | SectionRevised():
                self._sections[event.section_index] = _Section(event.text)
            case SectionChecked() if event.section_index in self._sections:
                section = self._sections[event.section_index]
                self._sections[event.section_index] = replace(section, failed=not all_passed(event.claims))
            case RunResumed():
                self._sections = {index: each for index, each in self._sections.items() if index in event.sections}
        return self._change(marked_text(event.message, self._mark) if isinstance(event, RunFinished) else self._draft())

    def _append(self, event: TextDelta) -> None:
        section = self._sections.get(event.section_index, _Section())
        self._sections[event.section_index] = replace(section, text=section.text + event.delta)

    def _draft(self) -> str:
        standing = [each.text for _, each in sorted(self._sections.items()) if each.text and not each.failed]
        return BETWEEN_SECTIONS.join(standing)

    def _change(self, answer: str) -> DraftChange | None:
        shown, self._shown = self._shown, answer
        if answer == shown:
            return None
        if answer.startswith(shown):
            return DraftChange(answer[len(shown) :], anew=False)
        return DraftChange(answer, anew=True)
