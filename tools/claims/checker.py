"""Check by code what an answer claims: proofs from the text it cites, and verdicts with reasons.

Code settles what it can. A claim is supported only where a whole source sentence says the same, notation and light
wording aside, and contradicted only where a concrete part of it conflicts; right words in an unproven relation stay
unverified.
"""

from collections.abc import Sequence

from graph.evidence import Origin, Segment
from graph.ports import Checked, CheckedClaim, Dispute, Proof, WrittenSection
from graph.spending import Meter
from tools.claims.coverage import Coverage, coverage
from tools.claims.cues import read_lists
from tools.claims.disagreements import disputed
from tools.claims.evidence import evidence_of
from tools.claims.matching import matched
from tools.claims.sources import Sources
from tools.claims.splitting import claims_of
from tools.claims.support import support_of
from tools.claims.verdicts import Judgement, Place, judge


class CodeChecker:
    """ClaimChecker by code alone; it never asks a model."""

    def __init__(self) -> None:
        read_lists()  # now, so that no run waits for it

    async def check(self, sections: Sequence[WrittenSection], *, meter: Meter) -> Checked:
        """Check each claim of each section against the segments it cites."""
        return Checked(tuple(check_section(section) for section in sections))


def check_section(section: WrittenSection) -> tuple[CheckedClaim, ...]:
    """Split a section into claims and decide on each, in order."""
    sources = Sources(section.segments)
    return tuple(_check(section, start, end, sources) for start, end in claims_of(section.text, sources))


def _check(section: WrittenSection, start: int, end: int, sources: Sources) -> CheckedClaim:
    claim = section.text[start:end]
    judgement = judge(claim, sources)
    if section.origin == "matched":
        judgement = matched(claim, judgement, sources)
    found = None if judgement.verdict == "supported" else coverage(claim, section.segments)
    places = judgement.places
    if found is not None and judgement.verdict == "unverified":
        places = _with_evidence(judgement, found)
    proofs = tuple(_proof(sources.segments, place, section.origin) for place in places)
    disputes: tuple[Dispute, ...] = ()
    if judgement.verdict in ("supported", "unverified") and proofs and section.others:
        disputes = disputed(claim, judgement.places, sources, section.others)
    estimate = 1.0 if found is None else support_of(claim, found)
    return CheckedClaim(start, end, claim, judgement.verdict, judgement.reasons, proofs, estimate, disputes)


def _with_evidence(judgement: Judgement, found: Coverage) -> tuple[Place, ...]:
    """Add to the closest sentence those that hold what it lacks of the claim."""
    chosen = [(one.segment, one.start, one.end) for one in evidence_of(found).sentences]
    return tuple(dict.fromkeys((*judgement.places, *chosen)))


def _proof(segments: Sequence[Segment], place: Place, origin: Origin) -> Proof:
    at, start, end = place
    segment = segments[at]
    return Proof(segment.segment_id, segment.start + start, segment.start + end, origin)
