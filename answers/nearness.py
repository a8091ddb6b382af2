"""How near segments are to a claim, by the words that they share."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import log

from answers.entry import Entry
from graph.evidence import Segment
from text.normal_forms import flatten
from text.words import question_terms, terms_of


class Nearness:
    """Segments by the words of a claim that they hold, each weighed by its rarity among all of them."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments

    def read(self) -> None:
        """Read the words of all segments, as what is used first does else: 0.5 ms each, and 2 ms of Chinese."""
        _ = self._weights

    def nearest(self, claim: str, segments: Sequence[Segment]) -> list[Segment]:
        """Order segments by how much of a claim they hold; equal ones stay in their order."""
        if len(segments) < 2:
            return list(segments)
        wanted = self._wanted(claim)
        return sorted(segments, key=lambda each: -self._held(wanted, each))

    def bearing(self, claim: str, segments: Sequence[Segment], least: float) -> list[Segment]:
        """Return the segment that holds most of a claim, and those that add at least a share ``least`` of all to it."""
        wanted = self._wanted(claim)
        enough = least * sum(wanted.values())
        borne: list[Segment] = []
        for each in self.nearest(claim, segments):
            if not borne or (enough and self._held(wanted, each) >= enough):
                borne.append(each)
                wanted = {term: weight for term, weight in wanted.items() if term not in self._terms[each.segment_id]}
        return borne

    def nearest_entry(self, claim: str, entries: Sequence[Entry]) -> Entry | None:
        """Return the entry that holds most of a claim; None where none holds a word of it."""
        wanted = self._wanted(claim)
        held = [sum(wanted[term] for term in wanted.keys() & terms_of(flatten(each.text))) for each in entries]
        return entries[held.index(max(held))] if any(held) else None

    def _wanted(self, claim: str) -> dict[str, float]:
        """Return the content words of a claim with their weights; one that no segment holds weighs nothing."""
        return {term: self._weights.get(term, 0.0) for term in question_terms(claim).terms or terms_of(flatten(claim))}

    def _held(self, wanted: Mapping[str, float], segment: Segment) -> float:
        terms = self._terms[segment.segment_id]
        return sum(weight for term, weight in wanted.items() if term in terms)

    @cached_property
    def _terms(self) -> Mapping[str, frozenset[str]]:
        return {
            each.segment_id: frozenset(terms_of(flatten(f"{each.title} {each.heading} {each.text}")))
            for each in self._segments
        }

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        counts = Counter(term for terms in self._terms.values() for term in terms)
        return {term: log(1 + len(self._terms) / count) for term, count in counts.items()}
