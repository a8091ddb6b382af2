"""The one fold from a run's events to its current state: sections, sources, disagreements and the end.

A run may be resumed after a crash, check its sections, revise them and withdraw them. Every reader that needs the state
behind the events feeds a ``RunView``, so that all readers agree on it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Literal

from answers.checking import has_failed
from answers.citations import segments_of
from answers.quoted_runs import with_next
from graph.events import (
    AnswerAssessed,
    AnyEvent,
    ClaimChecked,
    RetrievalDecided,
    RunFailed,
    RunFinished,
    RunResumed,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
    SourcesDisagree,
    SourcesGraded,
    TextDelta,
)
from graph.evidence import Claim, Disagreement, Source

Stage = Literal["drafted", "finished", "checked", "revised"]


@dataclass(frozen=True, slots=True)
class SectionView:
    """The current state of a section. ``stage`` names the last event that changed it.

    It is ``settled`` once no judge and no repair will change it. The claims of one that is still drafted are those
    checked so far. ``unknown_ids`` counts the ids that the writer cited but was never offered; a revision does not
    report it. ``grounded`` is False for text from the model's own knowledge; it is ``unchecked`` like small talk, which
    nothing was searched for.
    """

    text: str = ""
    source_ids: Sequence[str] = ()
    claims: Sequence[Claim] = ()
    stage: Stage = "drafted"
    settled: bool = False
    unknown_ids: int = 0
    grounded: bool = True
    unchecked: bool = False

    @property
    def standing_text(self) -> str:
        """The text that stays if the run stops here: up to the first claim that failed or is not checked yet."""
        if self.unchecked or (self.stage != "drafted" and all_passed(self.claims)):
            return self.text
        return self.text[: max((claim["end"] for claim in passed_claims(self.claims)), default=0)]

    @property
    def is_written(self) -> bool:
        """Whether the section is complete and not withdrawn."""
        return self.stage != "drafted" and bool(self.text)

    @property
    def has_failed(self) -> bool:
        """Whether the last check found a failed claim that repair has yet to fix or withdraw."""
        return self.stage == "checked" and not all_passed(self.claims)

    @property
    def cited_ids(self) -> list[str]:
        """The segments that the section cites: those of its writer, then those found by matching."""
        return list(dict.fromkeys((*self.source_ids, *cited_segment_ids(self.claims))))


@dataclass(slots=True)
class RunView:
    """The state of a run after the events fed so far. Sections are keyed by the index in their events.

    ``first`` has each section as first written, with its first verdicts. The message of a finished run is in ``end``:
    it leaves withdrawn sections out and renumbers the others.
    """

    sections: dict[int, SectionView] = field(default_factory=dict)
    first: dict[int, SectionView] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)
    searched: bool = True
    end: RunFinished | RunFailed | None = None

    def feed(self, event: AnyEvent) -> None:
        """Apply the next event; events that don't change this state are ignored."""
        match event:
            case (
                SectionStarted()
                | TextDelta()
                | ClaimChecked()
                | SectionFinished()
                | SectionChecked()
                | SectionRevised()
            ):
                self._feed_section(event)
            case RetrievalDecided():
                self.searched = event.needs_retrieval
            case SourcesGraded():
                self.sources = event.sources
            case SourcesDisagree():
                self._disagree(event)
            case AnswerAssessed():
                self.sections = {index: replace(each, settled=True) for index, each in self.sections.items()}
            case RunResumed():
                self._resume(event.sections)
            case RunFinished() | RunFailed():
                self.end = event
            case _:
                pass

    @property
    def written(self) -> list[SectionView]:
        """The complete sections in order, without withdrawn ones."""
        return [each for _, each in sorted(self.sections.items()) if each.is_written]

    @property
    def numbers(self) -> dict[str, int]:
        """The index of each source, by the ids of its segments."""
        return {segment_id: source["index"] for source in self.sources for segment_id in segments_of(source)}

    def _feed_section(
        self, event: SectionStarted | TextDelta | ClaimChecked | SectionFinished | SectionChecked | SectionRevised
    ) -> None:
        index = event.section_index
        before = self.sections.get(index, SectionView())
        match event:
            case SectionStarted():
                self.sections[index] = SectionView(
                    grounded=event.grounded, unchecked=not (event.grounded and self.searched)
                )
            case TextDelta():
                self.sections[index] = replace(before, text=before.text + event.delta)
            case ClaimChecked():
                self.sections[index] = replace(before, claims=with_next(before.claims, event.claim))
            case SectionFinished():
                self.sections[index] = replace(
                    before,
                    text=event.text,
                    source_ids=event.source_ids,
                    stage="finished",
                    settled=before.unchecked,
                    unknown_ids=event.unknown_ids,
                )
                self.first.setdefault(index, self.sections[index])
            case SectionChecked() if index in self.sections:
                self.sections[index] = _checked(before, event)
                if index in self.first and self.first[index].stage in ("finished", "checked"):
                    self.first[index] = _checked(self.first[index], event)
            case SectionRevised():
                settled = all_passed(event.claims)
                self.sections[index] = SectionView(event.text, event.source_ids, event.claims, "revised", settled)

    def _disagree(self, event: SourcesDisagree) -> None:
        disagreement = disagreement_of(event)
        if disagreement not in self.disagreements:  # a step repeated after a crash reports it again
            self.disagreements.append(disagreement)

    def _resume(self, kept: Sequence[int]) -> None:
        # The interrupted step is repeated, and its verdicts may differ.
        self.sections = {i: replace(each, settled=False) for i, each in self.sections.items() if i in kept}
        self.first = {i: each for i, each in self.first.items() if i in kept}


def disagreement_of(event: SourcesDisagree) -> Disagreement:
    """Return a disagreement as messages hold it."""
    found = Disagreement(segment_ids=event.segment_ids, reason=event.reason)
    if event.code is not None:
        found |= {"code": event.code, "parts": event.parts, "positions": event.positions}
    return found


def view_run(events: Iterable[AnyEvent]) -> RunView:
    """Return the state of a run after all its events, or after the first ones."""
    view = RunView()
    for event in events:
        view.feed(event)
    return view


def all_passed(claims: Iterable[Claim]) -> bool:
    """Whether no claim has failed, so that repair leaves the section unchanged."""
    return not any(map(has_failed, claims))


def passed_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims before the first one that failed."""
    return list(takewhile(lambda claim: not has_failed(claim), claims))


def cited_segment_ids(claims: Iterable[Claim]) -> list[str]:
    """Return the ids of the segments that prove claims, in citation order."""
    return list(dict.fromkeys(citation["segment_id"] for claim in claims for citation in claim["citations"]))


def _checked(section: SectionView, event: SectionChecked) -> SectionView:
    settled = all_passed(event.claims) and not event.judging
    return replace(section, claims=event.claims, stage="checked", settled=settled)
