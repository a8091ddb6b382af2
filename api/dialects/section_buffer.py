"""A buffer that releases text as soon as it may leave, for dialects that can't retract what they have sent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from answers.checking import WORST_FIRST, correction, has_failed
from answers.marks import decided, mark_of
from answers.quoted_runs import continues
from answers.standing import RunView, SectionView
from graph import events
from graph.events import AnyEvent
from graph.evidence import Claim, Message
from text.language import language
from text.mark_places import mark_place, settled_end


class Retracted(Exception):
    """Text that was already sent has changed, and no correction says so, as when it was written again after a crash."""


@dataclass(frozen=True, slots=True)
class FinalSection:
    """The text of a section from ``start`` on, which can no longer be taken back.

    ``text`` and ``claims`` are those of the section from its beginning to the end of this part. ``position`` is its
    0-based place among what is sent; a correction has a place of its own.

    ``open``: more of the section may follow. ``owes_marks``: the last claim before this part has left without its
    marks, since a judge had yet to speak of it, or the next one could have continued its quote. ``marks_each``: claims
    that share a quote have marks of their own.
    """

    position: int
    text: str
    source_ids: list[str]
    claims: Sequence[Claim]
    start: int = 0
    grounded: bool = True
    open: bool = False
    owes_marks: bool = False
    marks_each: bool = False

    @property
    def new_claims(self) -> list[Claim]:
        """The claims that end in this part."""
        return [claim for claim in self.claims if claim["end"] > self.start]

    @property
    def undecided_claims(self) -> list[Claim]:
        """The claims whose marks may stand in this part, in order: its own, and one whose marks are owed."""
        ordered = sorted(self.claims, key=lambda claim: claim["end"])
        before = sum(claim["end"] <= self.start for claim in ordered)
        return ordered[before - 1 if self.owes_marks and before else before :]

    @property
    def marked_claims(self) -> list[Claim]:
        """The claims behind which marks stand in this part: of several that share a quote, the last one.

        A claim whose marks stand before its end, such as code within a list, has marks of its own.
        """
        claims = self.undecided_claims
        kept = [one for one, other in pairwise(claims) if not self._share_a_mark(one, other)]
        return kept if self.leaves_marks_owed else [*kept, *claims[-1:]]

    @property
    def leaves_marks_owed(self) -> bool:
        """Whether the last claim leaves without its marks: a judge has yet to speak, or the next may continue it."""
        if not (self.open and (claims := self.undecided_claims)):
            return False
        last = claims[-1]
        return (mark_of(last) == "pending" and self._ends_in_marks(last)) or self._share_a_mark(last, last)

    def _share_a_mark(self, one: Claim, following: Claim) -> bool:
        return not self.marks_each and continues(one, following) and self._ends_in_marks(one)

    def _ends_in_marks(self, claim: Claim) -> bool:
        return mark_place(self.text, claim["end"], claim["start"]) == claim["end"]


@dataclass(slots=True)
class _Sent:
    """What has left of a section; ``changed`` where a revision no longer begins with it."""

    position: int
    text: str = ""
    changed: bool = False
    corrected: bool = False
    owes_marks: bool = False


def _worst_first(claim: Claim) -> tuple[int, bool]:
    return WORST_FIRST.index(claim["verdict"]), mark_of(claim) == "shown"


def _has_left(claim: Claim, sent: _Sent) -> bool:
    return sent.text[claim["start"] : claim["end"]] == claim["text"]


class SectionBuffer:
    """A reader of a run's events that releases the answer in order, each part once.

    With ``release: checked`` a claim leaves when code has checked it, even while its section is being written. Nothing
    follows one whose mark is pending: its mark leaves, or none, once the judge has spoken, and then the text goes on.
    With ``judged`` a section leaves when no word of a judge is to follow. Where nothing was searched, text leaves as it
    is written. From a claim that failed on, a section waits until it is repaired or withdrawn, and the sections after
    it wait with it. What has left and turns out false is followed by a correction.

    A run that is stopped ends in all that stands, or with ``only_checked`` in what a check has passed of it.
    With ``marks_each`` claims that share a quote have marks of their own.
    """

    def __init__(self, *, only_checked: bool = False, marks_each: bool = False) -> None:
        self._view = RunView()
        self._only_checked = only_checked
        self._marks_each = marks_each
        self._waits_for_judge = False
        self._sent: dict[int, _Sent] = {}  # by section index
        self._first_open = 0  # index of the first section that has not left as a whole
        self._positions = 0
        self._latest: dict[str, dict[int, Claim]] = {}  # by text, and by section index
        self._language = ""

    def latest(self, claim: Claim) -> Claim:
        """Return a claim with its latest verdict and mark, which may have come after its text has left.

        Of the same words in several sections they are the worst.
        """
        known = self._latest.get(claim["text"], {})
        return min(known.values(), key=_worst_first, default=claim)

    def feed(self, event: AnyEvent) -> list[FinalSection]:
        """Read an event, and return what it releases.

        Raises Retracted if text that has left was written differently after a crash.
        """
        self._view.feed(event)
        if isinstance(event, events.SectionChecked | events.SectionRevised):
            self._note_latest(event.section_index, event.claims)
        match event:
            case events.RunStarted():
                self._waits_for_judge = event.release == "judged"
                self._language = language(event.question)
            case events.RunResumed():
                self._first_open = 0
            case events.RunFinished():
                self._note_final(event.message)
                return self._rest(event)
            case events.Correction():
                return [*self._correct(event), *self._ready()]
            case events.SectionRevised():
                self._note_change(event.section_index)
            case events.TextDelta() | events.ClaimChecked() | events.SectionFinished() | events.SectionChecked():
                self._compare(event.section_index)
        return self._ready()

    def _note_final(self, message: Message) -> None:
        """Let the message's word count: a judge may have been cut off, and an exam may have been passed since."""
        claims = message.get("claims", [])
        for claim in claims:
            self._latest[claim["text"]] = {}
        for claim in claims:
            self._note_latest(claim["section_index"], [claim])

    def _note_latest(self, index: int, claims: Iterable[Claim]) -> None:
        for claim in claims:
            self._latest.setdefault(claim["text"], {})[index] = claim

    def _compare(self, index: int) -> None:
        section, sent = self._view.sections.get(index), self._sent.get(index)
        if section is None or sent is None or sent.changed:
            return
        if not (section.text.startswith(sent.text) or sent.text.startswith(section.text)):
            raise Retracted

    def _note_change(self, index: int) -> None:
        sent = self._sent.get(index)
        if sent is not None and not self._view.sections[index].text.startswith(sent.text):
            sent.changed = True

    def _correct(self, event: events.Correction) -> list[FinalSection]:
        sent = self._sent.get(event.section_index)
        if sent is None or not sent.changed:
            return []
        if sent.corrected or any(_has_left(claim, sent) for claim in event.claims):
            sent.corrected = True
            self._positions += 1
            return [FinalSection(self._positions - 1, event.text, [], [])]
        # What has left of the section was right, so that nothing has to be taken back: its new version follows.
        del self._sent[event.section_index]
        self._first_open = min(self._first_open, event.section_index)
        return []

    def _ready(self) -> list[FinalSection]:
        ready: list[FinalSection] = []
        while (section := self._view.sections.get(self._first_open)) is not None:
            end = self._end_of_release(section)
            goes_on = section.stage == "drafted" or end < len(section.text) or not self._may_close(section)
            ready += self._part(self._first_open, section, section.text[:end], goes_on=goes_on)
            if goes_on:
                break
            self._first_open += 1
        return ready

    def _end_of_release(self, section: SectionView) -> int:
        """Return the offset up to which a section may leave now."""
        if section.stage == "drafted" and section.unchecked:
            return settled_end(section.text)
        if section.settled or section.unchecked:
            return len(section.text)
        if self._waits_for_judge:
            return 0
        end = 0
        for claim in section.claims:
            if has_failed(claim):
                return end
            if mark_of(claim) == "pending":
                place = mark_place(section.text, claim["end"], claim["start"]) or 0
                return place if place > claim["start"] else end
            end = claim["end"]
        return len(section.text) if section.stage in ("checked", "revised") else end

    def _may_close(self, section: SectionView) -> bool:
        waits = any(has_failed(claim) or mark_of(claim) == "pending" for claim in section.claims)
        passed = section.stage != "finished" and not waits
        return section.settled or (passed and not self._waits_for_judge)

    def _part(
        self, index: int, section: SectionView | FinalSection, text: str, *, goes_on: bool = False
    ) -> list[FinalSection]:
        """Return what a section's releasable text adds to what has left of it, and marks that are owed at its end."""
        sent = self._sent.get(index)
        start = len(sent.text) if sent else 0
        owed = sent is not None and sent.owes_marks and not goes_on
        if (len(text) <= start and not (owed and len(text) == start)) or (sent and sent.changed):
            return []
        if sent is None:
            sent = self._sent[index] = _Sent(self._positions)
            self._positions += 1
        ids = section.source_ids if isinstance(section, FinalSection) else section.cited_ids
        within = [claim for claim in section.claims if claim["end"] <= len(text)]
        part = FinalSection(
            sent.position,
            text,
            ids,
            within,
            start,
            section.grounded,
            open=goes_on,
            owes_marks=sent.owes_marks,
            marks_each=self._marks_each,
        )
        sent.text, sent.owes_marks = text, part.leaves_marks_owed
        return [part]

    def _stopped(self) -> list[FinalSection]:
        """Return what stands and has not left yet, and a correction of what has left and failed since."""
        ready: list[FinalSection] = []
        for index, view in sorted(self._view.sections.items()):
            section = replace(view, claims=[decided(claim) for claim in view.claims])
            self._note_latest(index, section.claims)
            sent = self._sent.get(index)
            text = section.text[: self._end_of_release(section)] if self._only_checked else section.standing_text
            if sent is None or text.startswith(sent.text):
                ready += self._part(index, section, text)
                continue
            failed = [claim for claim in section.claims if has_failed(claim) and _has_left(claim, sent)]
            if failed and not sent.corrected:
                self._positions += 1
                ready.append(
                    FinalSection(self._positions - 1, correction(failed, sent.text, [], self._language), [], [])
                )
            elif not sent.changed:
                raise Retracted
        return ready

    def _rest(self, end: events.RunFinished) -> list[FinalSection]:
        if end.outcome == "cancelled":
            return self._stopped()
        # The message is authoritative: it omits withdrawn sections and renumbers the others.
        sections = final_sections(end.message)
        standing = [index for index, section in sorted(self._view.sections.items()) if section.standing_text]
        unknown = range(len(self._view.sections), len(self._view.sections) + len(sections))
        lost = [sent for index, sent in self._sent.items() if index not in standing[: len(sections)]]
        uncorrected = any(sent.changed and not sent.corrected for sent in self._sent.values())
        if uncorrected or any(not sent.changed for sent in lost):
            raise Retracted
        ready: list[FinalSection] = []
        for index, section in zip([*standing, *unknown], sections, strict=False):
            sent = self._sent.get(index)
            if sent and not sent.changed and not section.text.startswith(sent.text):
                raise Retracted
            ready += self._part(index, section, section.text)
        return ready


def final_sections(message: Message) -> list[FinalSection]:
    """Return the sections of a finished message, each as one part."""
    claims = message.get("claims", [])
    return [
        FinalSection(
            position,
            section["text"],
            section["source_ids"],
            [claim for claim in claims if claim["section_index"] == position],
            grounded=section.get("grounded", True),
        )
        for position, section in enumerate(message["sections"])
    ]
