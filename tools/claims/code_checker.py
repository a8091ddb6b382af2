"""Check an answer by code: split sections into claims, find proofs in the cited text, decide verdicts with reasons."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from graph.evidence import Origin, Proof, Segment, Verdict
from graph.ports import CheckedClaim, CheckResult, Dispute, WrittenSection
from graph.usage import Meter
from text.answer_markdown import Unit, units, whole_units
from text.language import language
from tools.claims.alignment import common_in_order, is_content
from tools.claims.claim_tokens import Token
from tools.claims.hard_conflicts import Comparison, compare, rounds
from tools.claims.lexical_support import Coverage, evidence_from_coverage, measure_coverage, support_from_coverage
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence
from tools.claims.source_conflicts import find_disputes
from tools.claims.source_sentences import Sources, lookup_keys, terms_of
from tools.claims.verbatim import SentencePlace, exact_form, find_verbatim

CLOSEST = 4  # sentences that a claim is compared with
LEVEL = 0.02  # share of a claim's content by which two sentences are about as near
LEAST_COVER = 0.35  # share of a claim's terms below which nothing of it stands in its sources but by chance
LEAST_LETTER_COVER = 0.25  # the same of pairs of letters, which other wording breaks more easily
OWN_WORDS = 0.5  # share of a claim's terms that tells that it is in its sources' language
PART = "it is a part of a longer source sentence"
ORDER = "the same words stand in another order in the source"
UNSAID = "no sentence of the cited sources says this"
DENIED = "the text around this sentence denies it or sets a condition"
FOREIGN = "it is in another language than its sources"


@dataclass(frozen=True, slots=True)
class ClaimJudgement:
    """A verdict with its reasons and the source sentences it rests on, the closest first."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    places: tuple[SentencePlace, ...] = ()
    near: float = 0.0


@dataclass(frozen=True, slots=True)
class _Match:
    comparison: Comparison
    place: SentencePlace


def judge_claim(claim: str, sources: Sources) -> ClaimJudgement:
    """Decide on one claim, in time linear in the sources plus a fixed number of sentence comparisons."""
    if not sources.places:
        return ClaimJudgement("unsupported", ("the section cites no source",))
    if exact := find_verbatim(claim, sources):
        verdict: Verdict = "unverified" if exact.denied else "supported"
        return ClaimJudgement(verdict, (DENIED,) if exact.denied else (), exact.places, 1.0)
    reading = parse_sentence(claim)
    terms = terms_of(reading)
    found = [
        _Match(compare(reading, sentence.reading, sources.known), (at, sentence.start, sentence.end))
        for _, at, sentence in sources.closest(terms, CLOSEST)
    ]
    best = _nearest(found)
    if best is not None and best.comparison.finding == "conflict":
        return ClaimJudgement("contradicted", best.comparison.reasons, (best.place,), best.comparison.near)
    if missing := _missing_numbers(reading, sources):
        return ClaimJudgement("unsupported", missing)
    if sources.cover(terms) < OWN_WORDS and _foreign(claim, sources):
        at, sentence = sources.places[0]
        place = (at, sentence.start, sentence.end) if best is None else best.place
        return ClaimJudgement("unverified", (FOREIGN,), (place,), 0.0 if best is None else best.comparison.near)
    lettered = sum(token.kind == "letter" for token in reading.tokens) * 2 > len(reading.tokens)
    if best is None or sources.cover(terms) < (LEAST_LETTER_COVER if lettered else LEAST_COVER):
        return ClaimJudgement("unsupported", (UNSAID,))
    return ClaimJudgement("unverified", (_why_open(best.comparison),), (best.place,), best.comparison.near)


def _nearest(found: Sequence[_Match]) -> _Match | None:
    """Choose the nearest sentence; of several about as near one that is no conflict, and the one that says all."""
    if not found:
        return None
    nearest = max(one.comparison.near for one in found)
    level = [one for one in found if one.comparison.near >= nearest - LEVEL]
    return min(level, key=lambda one: (_FINDINGS.index(one.comparison.finding), -one.comparison.near))


_FINDINGS = ("same", "part", "order", "differs", "conflict")


def _why_open(comparison: Comparison) -> str:
    reasons = {"part": PART, "order": ORDER}
    return reasons.get(comparison.finding, f"the closest source sentence has {comparison.near:.0%} of its words")


def _missing_numbers(claim: ParsedSentence, sources: Sources) -> tuple[str, ...]:
    """List the numbers of a claim, in digits or above ten, that occur nowhere in its sources, not even rounded."""
    standing = [float(key[1:]) for key in sources.quantities if re.fullmatch(r"#-?[\d.]+(?:e\+\d+)?", key)]
    return tuple(
        f"{claim.said(at, at + 1)} stands nowhere in the sources"
        for at, token in enumerate(claim.tokens)
        if token.kind in ("number", "date")
        and not lookup_keys(token.key) & sources.quantities
        and not _is_small_word(token, claim.said(at, at + 1))
        and not any(rounds(value, token.value) for value in standing)
    )


def _is_small_word(token: Token, said: str) -> bool:
    """Whether a number is small and in words: it may be counted from what the sources list."""
    return token.value is not None and token.value <= 10 and not any(sign.isdigit() for sign in said)


def _foreign(claim: str, sources: Sources) -> bool:
    """Whether none of the sources is in the claim's language."""
    spoken = language(claim, default="")
    return bool(spoken) and all(language(segment.text[:2000], default=spoken) != spoken for segment in sources.segments)


_LONGEST = 4  # pieces that may be one source sentence
_UNSETTLED = 4  # tokens at the end of a piece that may be read otherwise with what follows


def claims_of(text: str, sources: Sources, start: int = 0, *, is_open: bool = False) -> list[tuple[int, int]]:
    """Return the spans of the claims of a section that begin at or after an offset, in order.

    The section is read as Markdown: sentences of its prose and rows of its tables are claims; headings, lead-ins, code
    and offers are none. A sentence alone may be split differently than in its source, where it has neighbours; pieces
    of a paragraph that together are a source sentence are one claim. With ``is_open`` the text goes on, and only the
    claims are returned that no continuation can change.
    """
    whole = {exact_form(sources.segments[at].text[each.start : each.end]) for at, each in sources.places}
    found: list[tuple[int, int]] = []
    for unit in units(text, start, is_open=is_open) if is_open or start else whole_units(text):
        claims, sure = _joined(text, unit, whole)
        found += [claim for claim in claims if claim[0] >= start]
        if not sure:
            break
    return found


def _joined(text: str, unit: Unit, whole: Set[tuple[str, ...]]) -> tuple[list[tuple[int, int]], bool]:
    """Join the pieces of a unit that together are a source sentence; also return whether none may still join."""
    pieces = unit.claims
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(pieces):
        end = at + 1
        form = exact_form(text[slice(*pieces[at])])
        if form not in whole:
            if unit.is_open and at + _LONGEST > len(pieces) and _may_begin(form, whole):
                return found, False
            for last in range(min(len(pieces), at + _LONGEST), at + 1, -1):
                if exact_form(text[pieces[at][0] : pieces[last - 1][1]]) in whole:
                    end = last
                    break
        found.append((pieces[at][0], pieces[end - 1][1]))
        at = end
    return found, not unit.is_open


def _may_begin(form: tuple[str, ...], whole: Set[tuple[str, ...]]) -> bool:
    """Whether a piece may be the beginning of a source sentence."""
    length = max(1, len(form) - _UNSETTLED)
    return any(len(each) > length and each[:length] == form[:length] for each in whole)


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
    claims = claims_of(section.text, sources, start=section.start, is_open=section.open)
    return tuple(_check(section, start, end, sources) for start, end in claims)


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
