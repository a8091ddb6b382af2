"""A buffer that holds sections until they can't change, for dialects that can't retract what they have sent."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from graph.events import (
    AnswerAssessed,
    AnyEvent,
    RetrievalDecided,
    RunFinished,
    RunResumed,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
)
from graph.evidence import Claim, Message

FAILED = ("contradicted", "unsupported")


class Retracted(Exception):
    """A section that was already told is void: after a crash it was written again, in other words."""


@dataclass(frozen=True, slots=True)
class FinalSection:
    """A section in its last form. ``place`` counts the sections of the finished message from 0."""

    place: int
    text: str
    source_ids: list[str]
    claims: Sequence[Claim]


@dataclass(frozen=True, slots=True)
class _BufferedSection:
    text: str = ""
    source_ids: list[str] = field(default_factory=list)
    claims: Sequence[Claim] = ()
    settled: bool = False


class SectionBuffer:
    """Hears a run and gives its sections, each once, in order, as soon as nothing can change them any more.

    That is with a section's verdicts where no claim of it failed, since repair leaves such a section as it is; when it
    is finished where nothing was searched for; and otherwise at the assessment or the end of the run, whichever comes
    first. Sections wait for those before them. Withdrawn sections are not given at all.
    """

    def __init__(self) -> None:
        self._held: dict[int, _BufferedSection] = {}
        self._told: dict[int, _BufferedSection] = {}
        self._next = 0
        self._searched = True

    def hear(self, event: AnyEvent) -> list[FinalSection]:
        """Take an event in, and give the sections that it settles.

        Raises Retracted where a section that was given has been written anew in other words, or is proven otherwise.
        """
        match event:
            case RetrievalDecided():
                self._searched = event.needs_retrieval
            case SectionStarted():
                self._held.setdefault(event.section_index, _BufferedSection())
            case SectionFinished():
                self._hold(event.section_index, _BufferedSection(event.text, event.source_ids, (), not self._searched))
            case SectionChecked():
                self._check(event)
            case SectionRevised():
                self._hold(
                    event.section_index,
                    _BufferedSection(event.text, event.source_ids, event.claims, all_passed(event.claims)),
                )
            case AnswerAssessed():
                self._held = {index: replace(held, settled=True) for index, held in self._held.items()}
            case RunResumed():
                self._resume(event.sections)
            case RunFinished():
                self._end(event.message)
        return self._settled()

    def _check(self, event: SectionChecked) -> None:
        index = event.section_index
        held = self._told.get(index, self._held.get(index))
        if held is not None:
            # Where nothing was cited, matching has found the sources, and the verdicts alone tell which.
            source_ids = held.source_ids or cited_segment_ids(event.claims)
            self._hold(index, _BufferedSection(held.text, source_ids, event.claims, all_passed(event.claims)))

    def _hold(self, index: int, held: _BufferedSection) -> None:
        told = self._told.get(index)
        if told is None:
            self._held[index] = held
        elif told.text and (told.text != held.text or (held.claims and _marks(told) != _marks(held))):
            raise Retracted

    def _resume(self, valid: Sequence[int]) -> None:
        # Verdicts of the step that was interrupted are given anew, and need not be the same.
        self._held = {index: replace(held, settled=False) for index, held in self._held.items() if index in valid}

    def _end(self, message: Message) -> None:
        # The message is the last word: it leaves withdrawn sections out and counts the others anew.
        given = [held.text for held in self._told.values() if held.text]
        sections = final_sections(message)
        if [section.text for section in sections[: len(given)]] != given:
            raise Retracted
        waiting = enumerate(sections[len(given) :], start=self._next)
        self._held = {index: _BufferedSection(each.text, each.source_ids, each.claims, True) for index, each in waiting}

    def _settled(self) -> list[FinalSection]:
        ready = []
        while (held := self._held.get(self._next)) is not None and held.settled:
            place = len([each for each in self._told.values() if each.text])
            self._told[self._next] = self._held.pop(self._next)
            self._next += 1
            if held.text:
                ready.append(FinalSection(place, held.text, held.source_ids, held.claims))
        return ready


def all_passed(claims: Sequence[Claim]) -> bool:
    """Tell whether no claim of a section has failed, so that repair leaves it as it is."""
    return not any(claim["verdict"] in FAILED for claim in claims)


def cited_segment_ids(claims: Sequence[Claim]) -> list[str]:
    """List the segments that claims are proven by, in the order in which they are cited."""
    return list(dict.fromkeys(citation["segment_id"] for claim in claims for citation in claim["citations"]))


def final_sections(message: Message) -> list[FinalSection]:
    """Give the sections of a finished message, as a dialect would have been given them."""
    claims = message.get("claims", [])
    return [
        FinalSection(
            place,
            section["text"],
            section["source_ids"],
            [claim for claim in claims if claim["section_index"] == place],
        )
        for place, section in enumerate(message["sections"])
    ]


def _marks(held: _BufferedSection) -> list[tuple[int, set[tuple[int, str]]]]:
    """Give what a reader sees of the claims: where each ends, and which sources stand behind it."""
    return [(c["end"], {(each["source_index"], each["segment_id"]) for each in c["citations"]}) for c in held.claims]
