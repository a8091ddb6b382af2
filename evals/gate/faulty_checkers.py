"""Claim checkers that lose, mix up or misplace citations, or find true what is not."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from graph.evidence import Segment
from graph.ports import Checked, CheckedClaim, ClaimChecker, Proof, WrittenSection
from graph.spending import Meter
from tools.sentences import sentences

_SLIP = 12  # characters
_ALIKE = 0.6  # as difflib counts it

_Claims = Sequence[CheckedClaim]
_Alter = Callable[[_Claims, Sequence[WrittenSection]], _Claims]


@dataclass(frozen=True, slots=True)
class AlteringChecker:
    """Checks as it should, then alters the claims of an answer."""

    checker: ClaimChecker
    alter: _Alter

    async def check(self, sections: Sequence[WrittenSection], *, meter: Meter) -> Checked:
        """Check, and give as many claims of each section as the honest checker does."""
        checked = await self.checker.check(sections, meter=meter)
        altered = iter(self.alter([claim for claims in checked.sections for claim in claims], sections))
        return replace(checked, sections=tuple(tuple(next(altered) for _ in claims) for claims in checked.sections))


def dropped(claims: _Claims, sections: Sequence[WrittenSection]) -> _Claims:
    """Take its citations from every other claim, the first one among them."""
    return [claim if index % 2 else replace(claim, proofs=()) for index, claim in enumerate(claims)]


def swapped(claims: _Claims, sections: Sequence[WrittenSection]) -> _Claims:
    """Give each claim the citations of the one before it."""
    return [replace(claim, proofs=claims[index - 1].proofs) for index, claim in enumerate(claims)]


def slipped(claims: _Claims, sections: Sequence[WrittenSection]) -> _Claims:
    """Move each citation by some characters, within its segment."""
    segments = {each.segment_id: each for section in sections for each in (*section.segments, *section.others)}
    return [
        replace(claim, proofs=tuple(_slipped(proof, segments[proof.segment_id]) for proof in claim.proofs))
        for claim in claims
    ]


def _slipped(proof: Proof, segment: Segment) -> Proof:
    by = _SLIP if proof.end + _SLIP <= segment.end else -min(_SLIP, proof.start - segment.start)
    return replace(proof, start=proof.start + by, end=proof.end + by)


def all_supported(claims: _Claims, sections: Sequence[WrittenSection]) -> _Claims:
    """Find every claim supported."""
    return [replace(claim, verdict="supported", reasons=()) for claim in claims]


class FuzzyMatcher:
    """Finds a claim supported by any sentence of the cited segments that looks much like it."""

    async def check(self, sections: Sequence[WrittenSection], *, meter: Meter) -> Checked:
        """Take each section as one claim."""
        return Checked(tuple((_matched(section),) for section in sections))


def _matched(section: WrittenSection) -> CheckedClaim:
    alike, proof = max(_likeness(section), key=lambda found: found[0], default=(0.0, None))
    whole = CheckedClaim(0, len(section.text), section.text, "unsupported", (f"{alike:.0%} alike",))
    if proof is None or alike < _ALIKE:
        return whole
    return replace(whole, verdict="supported", proofs=(proof,), support=alike)


def _likeness(section: WrittenSection) -> Iterator[tuple[float, Proof]]:
    """Give each sentence that may be alike, with how alike it is."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(section.text)
    for segment in section.segments:
        for start, end in sentences(segment.text):
            sentence = segment.text[start:end].rstrip()
            matcher.set_seq1(sentence)
            if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE:
                at = segment.start + start
                yield matcher.ratio(), Proof(segment.segment_id, at, at + len(sentence), section.origin)
