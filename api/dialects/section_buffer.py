"""A buffer that holds sections until they are final, for dialects that can't retract what they have sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from answers.standing import RunView, SectionView
from graph.events import AnyEvent, RunFinished, SectionChecked, SectionFinished, SectionRevised
from graph.evidence import Claim, Message


class Retracted(Exception):
    """A section that was already sent has changed: it was written again after a crash."""


@dataclass(frozen=True, slots=True)
class FinalSection:
    """A section that can no longer change. ``position`` is its 0-based place in the finished message."""

    position: int
    text: str
    source_ids: list[str]
    claims: Sequence[Claim]


class SectionBuffer:
    """A reader of a run's events that releases each section once, in order, as soon as nothing can change it.

    That is with the section's verdicts if no claim of it failed, since repair does not change it then; when it is
    finished, if nothing was searched; otherwise at the assessment or the end of the run, whichever comes first.
    Sections wait for those before them. Withdrawn sections are never released.
    """

    def __init__(self) -> None:
        self._view = RunView()
        self._released: list[SectionView] = []  # by section index; withdrawn ones stay, without text
        self._sent = 0

    def feed(self, event: AnyEvent) -> list[FinalSection]:
        """Read an event, and return the sections that it makes final.

        Raises Retracted if a released section now has other text or other citations.
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
        # The message is authoritative: it omits withdrawn sections and renumbers the others.
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
    """Return what readers see of the claims: where each ends, and which sources it cites."""
    return [(c["end"], {(each["source_index"], each["segment_id"]) for each in c["citations"]}) for c in section.claims]
