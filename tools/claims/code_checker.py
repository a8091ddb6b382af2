"""Check an answer by code: split sections into claims, find proofs in the cited text, decide verdicts with reasons."""

from collections.abc import Sequence

from graph.evidence import Origin, Proof, Segment
from graph.ports import CheckedClaim, CheckResult, Dispute, WrittenSection
from graph.usage import Meter
from text.sentences import sentences, trimmed
from tools.claims.alignment import common_in_order, is_content
from tools.claims.claim_verdicts import UNSAID, ClaimJudgement, judge_claim
from tools.claims.lexical_support import Coverage, evidence_from_coverage, measure_coverage, support_from_coverage
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence
from tools.claims.source_conflicts import find_disputes
from tools.claims.source_sentences import Sources
from tools.claims.verbatim import SentencePlace, exact_form

_LONGEST = 4  # pieces that may be one source sentence


def claims_of(text: str, sources: Sources) -> list[tuple[int, int]]:
    """Return the spans of the claims of a section, in order, without white space around them.

    A sentence may be split otherwise alone than in its source, where more stands around it; pieces that together are
    a source sentence are one claim. What holds no word joins the claim before it.
    """
    pieces = [trimmed(text, start, end) for start, end in sentences(text)]
    pieces = _joined_wordless(text, [piece for piece in pieces if piece[0] < piece[1]])
    whole = {exact_form(sources.segments[at].text[each.start : each.end]) for at, each in sources.places}
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(pieces):
        end = at + 1
        if exact_form(text[slice(*pieces[at])]) not in whole:
            for last in range(min(len(pieces), at + _LONGEST), at + 1, -1):
                if exact_form(text[pieces[at][0] : pieces[last - 1][1]]) in whole:
                    end = last
                    break
        found.append((pieces[at][0], pieces[end - 1][1]))
        at = end
    return found


def _joined_wordless(text: str, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in pieces:
        reading = parse_sentence(text[start:end])
        if found and not reading.tokens and "?" not in reading.folded:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


MATCH_THRESHOLD = 0.6  # share of a claim's content that must stand in the sentence, in order; it never falls
FEWEST_MATCHED = 3  # content tokens that must match: fewer may meet by chance


def match_by_text(claim: str, judgement: ClaimJudgement, sources: Sources) -> ClaimJudgement:
    """Keep the verdict on a claim only where its sentences match it; else it has no proof and is unsupported."""
    if not judgement.places or judgement.verdict == "unsupported":
        return ClaimJudgement("unsupported", judgement.reasons or (UNSAID,))
    content = _content(parse_sentence(claim))
    quoted = [
        key
        for at, start, end in judgement.places
        for key in _content(parse_sentence(sources.segments[at].text[start:end]))
    ]
    shared = common_in_order(content, quoted)
    if shared < min(FEWEST_MATCHED, max(1, len(content))) or shared < MATCH_THRESHOLD * len(content):
        return ClaimJudgement("unsupported", (UNSAID,))
    return judgement


def _content(reading: ParsedSentence) -> list[str]:
    return [token.key for token in reading.tokens if is_content(token)]


class CodeChecker:
    """ClaimChecker by code alone; it never asks a model."""

    async def check(self, sections: Sequence[WrittenSection], *, meter: Meter) -> CheckResult:
        """Check each claim of each section against the segments it cites."""
        return CheckResult(tuple(check_section(section) for section in sections))


def check_section(section: WrittenSection) -> tuple[CheckedClaim, ...]:
    """Split a section into claims and decide on each, in order."""
    sources = Sources(section.segments)
    return tuple(_check(section, start, end, sources) for start, end in claims_of(section.text, sources))


def _check(section: WrittenSection, start: int, end: int, sources: Sources) -> CheckedClaim:
    claim = section.text[start:end]
    judgement = judge_claim(claim, sources)
    if section.origin == "matched":
        judgement = match_by_text(claim, judgement, sources)
    found = None if judgement.verdict == "supported" else measure_coverage(claim, section.segments)
    places = judgement.places
    if found is not None and judgement.verdict == "unverified":
        places = _with_evidence(judgement, found)
    proofs = tuple(_proof(sources.segments, place, section.origin) for place in places)
    disputes: tuple[Dispute, ...] = ()
    if judgement.verdict in ("supported", "unverified") and proofs and section.others:
        disputes = find_disputes(claim, judgement.places, sources, section.others)
    estimate = 1.0 if found is None else support_from_coverage(claim, found)
    return CheckedClaim(start, end, claim, judgement.verdict, judgement.reasons, proofs, estimate, disputes)


def _with_evidence(judgement: ClaimJudgement, found: Coverage) -> tuple[SentencePlace, ...]:
    """Add to the closest sentence those that hold what it lacks of the claim."""
    chosen = [(one.segment, one.start, one.end) for one in evidence_from_coverage(found).sentences]
    return tuple(dict.fromkeys((*judgement.places, *chosen)))


def _proof(segments: Sequence[Segment], place: SentencePlace, origin: Origin) -> Proof:
    at, start, end = place
    segment = segments[at]
    return Proof(segment_id=segment.segment_id, start=segment.start + start, end=segment.start + end, origin=origin)
