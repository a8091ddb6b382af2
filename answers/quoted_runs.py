"""Runs of a model's claims that repeat one passage of a source: they share one quote, from first sentence to last.

A list, a definition or a few sentences that a model repeats in their order are so quoted as the block that they are; a
section that shows a passage is one claim and needs none of this.
A run grows claim by claim, and what comes later never changes where it began: so the claims of a section that is still
being written are emitted with the quote as far as it goes, and all get the whole one when the section closes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from answers.marks import mark_of
from graph.evidence import Citation, Claim, Proof, Segment
from graph.ports import CheckedClaim

LONGEST_RUN = 700  # characters of a quote that several claims share
_MOST_BETWEEN = 60  # characters between two sentences that are one passage
_BETWEEN = re.compile(r"(?:\s|[-*+•‣▪·–—>]|\(?(?:\d{1,3}|[a-zA-Z])[.)](?=\s))*")


def joined(claims: Iterable[CheckedClaim], segments: Mapping[str, Segment]) -> list[CheckedClaim]:
    """Return the claims of a section, in order, with one proof for each run; takes linear time."""
    updated: list[CheckedClaim] = []
    for claim in claims:
        updated.append(extended(updated[-1] if updated else None, claim, segments))
    for at in range(len(updated) - 2, -1, -1):
        if _goes_on(updated[at], updated[at + 1]):
            updated[at] = replace(updated[at], proofs=updated[at + 1].proofs)
    return updated


def extended(before: CheckedClaim | None, claim: CheckedClaim, segments: Mapping[str, Segment]) -> CheckedClaim:
    """Return a claim with the quote of its run so far. ``before`` is the claim before it, as this has returned it."""
    own = _span(claim, segments)
    if own is None:
        return claim
    past = _span(before, segments) if before is not None else None
    if past is not None:
        if _is_within(own, past):  # a sentence of the passage, said again
            own = past
        elif _is_one(past, own, segments) and own["end"] - past["start"] < LONGEST_RUN:
            own = Proof(**{**own, "start": past["start"]})
    return replace(claim, proofs=(own,))


def continues(claim: Claim, following: Claim) -> bool:
    """Whether the next claim of a section quotes the passage of this one too, so that one mark serves both."""
    if not (_is_repeated(claim) and _is_repeated(following)):
        return False
    return all(any(_holds(other, own) for other in following["citations"]) for own in claim["citations"])


def with_next(claims: Sequence[Claim], claim: Claim) -> list[Claim]:
    """Return the claims of a section and the next one; those whose quote it continues get the longer quote."""
    updated = list(claims)
    for at in range(len(updated) - 1, -1, -1):
        if updated[at]["citations"] == claim["citations"] or not continues(updated[at], claim):
            break  # what has the whole quote already has passed it on
        updated[at] = Claim(**{**updated[at], "citations": claim["citations"]})
    return [*updated, claim]


def quoted_once(claims: Iterable[Claim]) -> list[Citation]:
    """List the citations of claims with the marks of those, each quote once with each of its verdicts and marks."""
    found: list[Citation] = []
    seen: set[tuple[object, ...]] = set()
    for claim in claims:
        for each in claim["citations"]:
            mark = mark_of(claim)
            key = (each["section_index"], each["segment_id"], each["start"], each["end"], each["verdict"], mark)
            if key not in seen:
                seen.add(key)
                found.append(Citation(**{**each, "mark": mark}))
    return found


def _is_repeated(claim: Claim) -> bool:
    """Whether a claim is word for word in its source."""
    return claim["verdict"] == "supported" and claim.get("by") == "text" and bool(claim["citations"])


def _holds(other: Citation, own: Citation) -> bool:
    same = other["section_index"] == own["section_index"] and other["segment_id"] == own["segment_id"]
    return same and other["start"] == own["start"] and other["end"] >= own["end"]


def _goes_on(claim: CheckedClaim, following: CheckedClaim) -> bool:
    if not (claim.verdict == following.verdict == "supported" and len(claim.proofs) == len(following.proofs) == 1):
        return False
    own, other = claim.proofs[0], following.proofs[0]
    same = own["segment_id"] == other["segment_id"] and own["origin"] == other["origin"]
    return same and own["start"] == other["start"] and other["end"] >= own["end"]


def _is_within(own: Proof, past: Proof) -> bool:
    same = past["segment_id"] == own["segment_id"] and past["origin"] == own["origin"]
    return same and past["start"] <= own["start"] and own["end"] <= past["end"]


def _span(claim: CheckedClaim, segments: Mapping[str, Segment]) -> Proof | None:
    """Return the one passage that a claim repeats; None where it repeats none."""
    if claim.verdict != "supported" or not claim.proofs:
        return None
    span = claim.proofs[0]
    for each in claim.proofs[1:]:
        if not _is_one(span, each, segments):
            return None
        span = Proof(**{**span, "end": each["end"]})
    return span


def _is_one(past: Proof, following: Proof, segments: Mapping[str, Segment]) -> bool:
    """Whether nothing but white space and the sign of an item is between two proofs."""
    segment = segments.get(following["segment_id"])
    if segment is None or past["segment_id"] != following["segment_id"] or past["origin"] != following["origin"]:
        return False
    start, end = past["end"], following["start"]
    if not segment.start <= start <= end <= segment.end or end - start > _MOST_BETWEEN:
        return False
    return _BETWEEN.fullmatch(segment.text, start - segment.start, end - segment.start) is not None
