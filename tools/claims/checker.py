"""Prove what code alone can prove of a claim: that its sentence stands in the text it cites.

A claim that is a whole sentence of a cited segment, word for word, is supported. One that is only a part of a source
sentence is not: what stands around it may take it back ("it is not true that ..."). For any other claim the source
sentence that shares most of its words is its best span. Both are shown beside the claim, and neither is called support.
"""

from collections.abc import Iterator, Sequence

from graph.evidence import Segment
from graph.ports import Checked, CheckedClaim, Proof, WrittenSection
from graph.spending import Meter
from tools.sentences import sentences, trimmed
from tools.terms import weigh_question

SHARED_WORDS = 0.5
PART = "it is a part of a longer source sentence"
STOPS = ".!?…。！？"


class CodeChecker:
    """ClaimChecker by code alone; its verdicts are supported, unverified and unsupported."""

    async def check(self, sections: Sequence[WrittenSection], *, meter: Meter) -> Checked:
        """Check each sentence of each section against the segments it cites."""
        return Checked(tuple(tuple(_claims(section)) for section in sections))


def _claims(section: WrittenSection) -> Iterator[CheckedClaim]:
    for start, end in sentences(section.text):
        start, end = trimmed(section.text, start, end)
        if start < end:
            yield _check(section.text[start:end], start, section.segments)


def _check(claim: str, start: int, segments: Sequence[Segment]) -> CheckedClaim:
    end = start + len(claim)
    standing = [(segment, span) for segment in segments if (span := verbatim_span(claim, segment.text))]
    for segment, span in standing:
        if _said(segment.text[slice(*span)]) == _said(claim):
            return CheckedClaim(start, end, claim, "supported", (), (_proof(segment, span),))
    if standing:
        return CheckedClaim(start, end, claim, "unverified", (PART,), (_proof(*standing[0]),))
    best = max(((_closest(claim, segment.text), segment) for segment in segments), key=_by_share, default=None)
    if best is None:
        return CheckedClaim(start, end, claim, "unsupported", ("the section cites no source",))
    (share, span), segment = best
    if share < SHARED_WORDS:
        return CheckedClaim(start, end, claim, "unsupported", ("no sentence of the cited sources says this",))
    reason = f"the closest source sentence has {share:.0%} of its words"
    return CheckedClaim(start, end, claim, "unverified", (reason,), (_proof(segment, span),))


def _said(sentence: str) -> str:
    """Give a sentence without what a quote may differ in: white space, and the stop at its end."""
    return " ".join(sentence.split()).rstrip(STOPS)


def _by_share(found: tuple[tuple[float, tuple[int, int]], Segment]) -> float:
    return found[0][0]


def _proof(segment: Segment, span: tuple[int, int]) -> Proof:
    return Proof(segment.segment_id, segment.start + span[0], segment.start + span[1])


def verbatim_span(claim: str, text: str) -> tuple[int, int] | None:
    """Find where a claim stands in a text, white space aside, widened to the whole sentences it lies in."""
    wanted = " ".join(claim.split())
    flat, at = _flattened(text)
    found = flat.find(wanted)
    if found < 0 or not wanted:
        return None
    return whole_sentences(text, at[found], at[found + len(wanted) - 1] + 1)


def whole_sentences(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a span to the sentences that it touches, without white space around them."""
    touched = [span for span in sentences(text) if span[0] < end and start < span[1]]
    return trimmed(text, touched[0][0], touched[-1][1])


def _flattened(text: str) -> tuple[str, list[int]]:
    """Collapse runs of white space to one space, keeping for each character left where it was."""
    characters: list[str] = []
    at: list[int] = []
    for position, character in enumerate(text):
        if not character.isspace():
            characters.append(character)
            at.append(position)
        elif characters and characters[-1] != " ":
            characters.append(" ")
            at.append(position)
    return "".join(characters), at


def _closest(claim: str, text: str) -> tuple[float, tuple[int, int]]:
    """Find the sentence that holds the largest share of the claim's words, with that share in [0, 1]."""
    wanted = _terms(claim)
    best = (0.0, (0, 0))
    for start, end in sentences(text):
        start, end = trimmed(text, start, end)
        share = len(wanted & _terms(text[start:end])) / len(wanted) if wanted else 0.0
        if share > best[0]:
            best = (share, (start, end))
    return best


def _terms(text: str) -> set[int]:
    """Give the ids of the words of a text; where a script has no spaces, of its pairs of characters."""
    terms = weigh_question(text)
    return set(terms.ids[terms.expected > 0].tolist())
