"""A buffer that holds sections until they can't change, for dialects that can't retract what they have sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from answers.standing import RunView, SectionView
from graph.events import AnyEvent, RunFinished, SectionChecked, SectionFinished, SectionRevised
from graph.evidence import Claim, Message


class Retracted(Exception):
    """A section that was already sent is void: after a crash it was written again, in other words."""


@dataclass(frozen=True, slots=True)
class FinalSection:
    """A section in its last form. ``position`` counts the sections of the finished message from 0."""

    position: int
    text: str
    source_ids: list[str]
    claims: Sequence[Claim]


class SectionBuffer:
    """Reads a run's events and releases its sections, each once, in order, as soon as nothing can change them.

    That is with a section's verdicts where no claim of it failed, since repair leaves such a section as it is; when it
    is finished where nothing was searched for; and otherwise at the assessment or the end of the run, whichever comes
    first. Sections wait for those before them. Withdrawn sections are never released.
    """

    def __init__(self) -> None:
        self._view = RunView()
        self._released: list[SectionView] = []  # by section index; withdrawn ones keep their place without text
        self._sent = 0

    def feed(self, event: AnyEvent) -> list[FinalSection]:
        """Read an event, and return the sections that it settles.

        Raises Retracted where a section that was released has been rewritten in other words, or is proven otherwise.
        """
        self._view.feed(event)
        match event:
            case RunFinished():
                return self._rest(event.message)
            case SectionFinished() | SectionChecked() | SectionRevised():
                self._compare(event.section_index)
        return self._settled()

    def _compare(self, index: int) -> None:
        now = self._view.sections.get(index)
        released = self._released[index] if index < len(self._released) else None
        if now is None or released is None or not released.text:
            return
        if now.text != released.text or (now.claims and _marks(now) != _marks(released)):
            raise Retracted

    def _rest(self, message: Message) -> list[FinalSection]:
        # The message is the last word: it leaves withdrawn sections out and numbers the others anew.
        sections = final_sections(message)
        if [each.text for each in sections[: self._sent]] != [each.text for each in self._released if each.text]:
            raise Retracted
        return sections[self._sent :]

    def _settled(self) -> list[FinalSection]:
        ready = []
        while (section := self._view.sections.get(len(self._released))) is not None and section.settled:
            self._released.append(section)
            if section.text:
                ready.append(FinalSection(self._sent, section.text, section.cited_ids, section.claims))
                self._sent += 1
        return ready


def final_sections(message: Message) -> list[FinalSection]:
    """Return the sections of a finished message as a buffer would have released them."""
    claims = message.get("claims", [])
    return [
        FinalSection(
            position,
            section["text"],
            section["source_ids"],
            [claim for claim in claims if claim["section_index"] == position],
        )
        for position, section in enumerate(message["sections"])
    ]


def _marks(section: SectionView) -> list[tuple[int, set[tuple[int, str]]]]:
    """Return what a reader sees of the claims: where each ends, and which sources are cited there."""
    return [(c["end"], {(each["source_index"], each["segment_id"]) for each in c["citations"]}) for c in section.claims]
