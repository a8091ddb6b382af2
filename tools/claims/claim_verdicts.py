"""Decide by code the verdict on one claim from its sources: verbatim, in hard conflict, or open."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph.evidence import Verdict
from text.language import language
from tools.claims.claim_tokens import Token
from tools.claims.hard_conflicts import Comparison, compare, rounds
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence
from tools.claims.source_sentences import Sources, lookup_keys, terms_of
from tools.claims.verbatim import SentencePlace, find_verbatim

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
    """Decide on one claim. Takes time linear in the sources, beside a fixed number of sentence comparisons."""
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
    """Name the numbers of a claim, in digits or above ten, that stand nowhere in its sources, not even rounded."""
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
