"""Faults that the gate must detect: checkers and readers that lose, mix up or misplace citations.

Each replaces a port of the real graph.

A gate that has never failed proves nothing: ``citewell eval gate --fault NAME`` shows that it fails, and on which
measures.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from graph.evidence import Hit, Identity, Intent, Page, Proof, Segment
from graph.ports import (
    AnswerWriter,
    CheckedClaim,
    ClaimChecker,
    DraftClosed,
    Drafts,
    Family,
    FaultySection,
    Grading,
    Resources,
    Revision,
    SearchQuery,
    SearchResult,
    SegmentReader,
    SegmentSearcher,
    WrittenSection,
)
from graph.rows import Turn
from graph.usage import Meter
from text.sentences import sentences

_SLIP = 12  # characters
_ALIKE = 0.6  # difflib's ratio

_Claims = Sequence[CheckedClaim]
_Alter = Callable[[_Claims, WrittenSection], _Claims]


@dataclass(frozen=True, slots=True)
class AlteringChecker:
    """A checker that checks correctly, then alters the claims of an answer."""

    checker: ClaimChecker
    alter: _Alter

    def read_ahead(self, segments: Sequence[Segment]) -> None:
        """Let the checker that checks read ahead."""
        self.checker.read_ahead(segments)

    async def check(self, section: WrittenSection) -> Sequence[CheckedClaim]:
        """Check, then alter the claims."""
        return self.alter(await self.checker.check(section), section)


def dropped(claims: _Claims, section: WrittenSection) -> _Claims:
    """Remove the citations of every other claim, starting with the first."""
    return [claim if index % 2 else replace(claim, proofs=()) for index, claim in enumerate(claims)]


def swapped(claims: _Claims, section: WrittenSection) -> _Claims:
    """Replace each claim's citations with another sentence of the same segment."""
    segments = {each.segment_id: each for each in (*section.segments, *section.others)}
    return [
        replace(claim, proofs=tuple(_another_sentence(proof, segments[proof["segment_id"]]) for proof in claim.proofs))
        for claim in claims
    ]


def _another_sentence(proof: Proof, segment: Segment) -> Proof:
    spans = [(segment.start + start, segment.start + end) for start, end in sentences(segment.text)]
    others = (span for span in spans if span[1] <= proof["start"] or span[0] >= proof["end"])
    start, end = next(others, (proof["start"], proof["end"]))
    return {**proof, "start": start, "end": end}


def slipped(claims: _Claims, section: WrittenSection) -> _Claims:
    """Shift each citation by some characters within its segment."""
    segments = {each.segment_id: each for each in (*section.segments, *section.others)}
    return [
        replace(claim, proofs=tuple(_slipped(proof, segments[proof["segment_id"]]) for proof in claim.proofs))
        for claim in claims
    ]


def _slipped(proof: Proof, segment: Segment) -> Proof:
    by = _SLIP if proof["end"] + _SLIP <= segment.end else -min(_SLIP, proof["start"] - segment.start)
    return {**proof, "start": proof["start"] + by, "end": proof["end"] + by}


def all_supported(claims: _Claims, section: WrittenSection) -> _Claims:
    """Mark every claim as supported."""
    return [replace(claim, verdict="supported", reasons=()) for claim in claims]


class FuzzyMatcher:
    """A checker that accepts a claim if any sentence of the cited segments is similar to it."""

    def read_ahead(self, segments: Sequence[Segment]) -> None:
        """Read nothing ahead; each claim is compared with the text."""

    async def check(self, section: WrittenSection) -> Sequence[CheckedClaim]:
        """Check a section as one claim."""
        return [_matched(section)]


def _matched(section: WrittenSection) -> CheckedClaim:
    similarity, proof = max(_similar_sentences(section), key=lambda found: found[0], default=(0.0, None))
    whole = CheckedClaim(0, len(section.text), section.text, "unsupported", (f"{similarity:.0%} alike",))
    if proof is None or similarity < _ALIKE:
        return whole
    return replace(whole, verdict="supported", proofs=(proof,))


def _similar_sentences(section: WrittenSection) -> Iterator[tuple[float, Proof]]:
    """Yield each sentence that may be similar, with its similarity."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(section.text)
    for segment in section.segments:
        for start, end in sentences(segment.text):
            sentence = segment.text[start:end].rstrip()
            matcher.set_seq1(sentence)
            if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE:
                at = segment.start + start
                yield (
                    matcher.ratio(),
                    Proof(segment_id=segment.segment_id, start=at, end=at + len(sentence), origin=section.origin),
                )


_INSERTED = 40  # characters inserted into the stored text before the segments


@dataclass(frozen=True, slots=True)
class OneSidedGrader:
    """A grader that keeps every candidate, so that everything is answered, or none, so that nothing is."""

    keeps: bool

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Keep or drop all candidates without reading them."""
        scores = {hit.segment.segment_id: hit.score for hit in candidates}
        if self.keeps:
            return Grading(tuple(scores.items()))
        return Grading((), tuple((segment_id, "dropped unread") for segment_id in scores))


@dataclass(frozen=True, slots=True)
class StaleLibrary:
    """A searcher and reader whose offsets are shifted, as if text had been inserted before the segments."""

    searcher: SegmentSearcher
    reader: SegmentReader

    async def search(self, query: SearchQuery) -> SearchResult:
        """Search, with shifted offsets."""
        found = await self.searcher.search(query)
        return replace(found, hits=tuple(replace(hit, segment=_stale(hit.segment)) for hit in found.hits))

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        """Read segments by id, with shifted offsets."""
        return [_stale(segment) for segment in await self.reader.read_segments(segment_ids, identity)]

    async def read_pages(self, document_ids: Sequence[str], identity: Identity) -> list[Page]:
        """Read whole documents, with shifted offsets in all segments."""
        pages = await self.reader.read_pages(document_ids, identity)
        return [replace(page, segments=tuple(_stale(segment) for segment in page.segments)) for page in pages]


def _stale(segment: Segment) -> Segment:
    return replace(segment, start=segment.start + _INSERTED, end=segment.end + _INSERTED)


AlterDrafts = Callable[[str, Drafts], Drafts]  # of a question


@dataclass(frozen=True, slots=True)
class AlteringWriter:
    """A writer that writes correctly, then alters its drafts; what it revises or converses stays as it is."""

    writer: AnswerWriter
    alter: AlterDrafts

    def write(self, question: str, sources: Sequence[Hit], *, language: str, meter: Meter) -> Drafts:
        """Write, with altered drafts."""
        return self.alter(question, self.writer.write(question, sources, language=language, meter=meter))

    async def revise(
        self, question: str, faulty: Sequence[FaultySection], sources: Sequence[Hit], *, language: str, meter: Meter
    ) -> list[Revision]:
        """Revise as the writer does."""
        return await self.writer.revise(question, faulty, sources, language=language, meter=meter)

    def converse(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        language: str,
        intent: Intent,
        own_knowledge: bool,
        meter: Meter,
    ) -> Drafts:
        """Converse as the writer does."""
        return self.writer.converse(
            question, turns, language=language, intent=intent, own_knowledge=own_knowledge, meter=meter
        )


async def without_passages(question: str, drafts: Drafts) -> Drafts:
    """Leave out which passage a section shows, so that only the checker cites."""
    async for draft in drafts:
        yield replace(draft, passage=None) if isinstance(draft, DraftClosed) else draft


Fault = Callable[[Resources], Resources]


def in_families(change: Callable[[Family], Family]) -> Fault:
    """Return what changes every family of the graph's ports."""

    def faulty(resources: Resources) -> Resources:
        def families(model: str, *, thinking: bool = False) -> Family:
            return change(resources.families(model, thinking=thinking))

        return replace(resources, families=families)

    return faulty


def _in_citations(alter: _Alter) -> Fault:
    return in_families(
        lambda family: replace(
            family,
            checker=AlteringChecker(family.checker, alter),
            writer=AlteringWriter(family.writer, without_passages),
        )
    )


def _stale_library(resources: Resources) -> Resources:
    library = StaleLibrary(resources.searcher, resources.reader)
    return replace(resources, searcher=library, reader=library)


FAULTS: Mapping[str, Fault] = {
    "dropped_citations": _in_citations(dropped),
    "swapped_citations": _in_citations(swapped),
    "shifted_citations": _in_citations(slipped),
    "always_supported": in_families(
        lambda family: replace(family, checker=AlteringChecker(family.checker, all_supported))
    ),
    "fuzzy_matching": in_families(lambda family: replace(family, checker=FuzzyMatcher())),
    "always_answering": in_families(lambda family: replace(family, grader=OneSidedGrader(keeps=True))),
    "always_abstaining": in_families(lambda family: replace(family, grader=OneSidedGrader(keeps=False))),
    "stale_offsets": _stale_library,
}
