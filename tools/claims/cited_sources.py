"""The segments that claims are checked against, with their sentences, entries and numbers."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from answers.citations import context_outside
from graph.evidence import Segment
from text.words import comparable_text
from tools.claims.claim_numbers import values_of
from tools.claims.exact_forms import exact_form
from tools.claims.source_sentences import SentencePlace, SourceSentence, parse_source
from tools.rules.candidate_sentences import CandidateSentence, candidate_sentences

_STOPPED = re.compile(r"[.!?。！？][\"'”’»)\]*_]*\s*\Z")
_MORE = "|"


class Entry(NamedTuple):
    """The place of an entry, with its terms and those of its title and of what it hangs on; ``own`` are its alone."""

    place: SentencePlace
    terms: frozenset[str]
    own: frozenset[str] = frozenset()


class Sources:
    """The segments that one claim may rest on. Nothing of them is read before it is needed."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        self.texts = tuple(
            parse_source(segment.text, tuple(block.start - segment.start for block in segment.blocks))
            for segment in segments
        )

    @cached_property
    def sentences(self) -> Sequence[tuple[int, SourceSentence]]:
        """Every sentence with the index of its segment."""
        return [(at, sentence) for at, text in enumerate(self.texts) for sentence in text.sentences]

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """What may be shown as evidence, in order."""
        return [self._entry(each) for each in candidate_sentences(self.segments) if each.shape != "heading"]

    def _entry(self, candidate: CandidateSentence) -> Entry:
        own = candidate.wording.vocabulary
        place = (candidate.segment, candidate.start, candidate.end)
        return Entry(place, own | self._above(candidate), own)

    def _above(self, candidate: CandidateSentence) -> frozenset[str]:
        title = self.segments[candidate.segment].title
        return comparable_text(f"{title} {candidate.entry.surroundings}").vocabulary

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The values of all numbers in the texts, titles and headings, and in what the segments hang on."""
        above = (f"{each.title} | {each.heading}" for each in self.segments)
        outside = (found.text for each in self.segments for found in context_outside(each))
        return values_of(" | ".join((*above, *outside, *(each.text for each in self.segments))))

    def has_sentence(self, text: str) -> bool:
        """Whether a text is a sentence of these, but for notation."""
        form = exact_form(text)
        return any(each.has_form(form, whole=True) for each in self.texts)

    def has_beginning(self, text: str) -> bool:
        """Whether a text may be the beginning of a sentence of these, but for notation.

        Its last token may be read otherwise with what follows it, except behind a stop.
        """
        form = exact_form(f"{text} {_MORE}")[:-1]  # which keeps the stop that a form leaves out at its end
        begun = form if _STOPPED.search(text) else form[: max(1, len(form) - 1)]
        return any(each.has_form(begun, whole=False) for each in self.texts)
