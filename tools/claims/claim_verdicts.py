"""Decide by code on one claim: whether its sources say it word for word, contradict it, or leave it open."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.evidence import Verdict
from graph.reasons import Reason
from text.language import language
from text.numbers import spell
from tools.claims.answer_leads import agreement, answer_lead
from tools.claims.cited_sources import Sources
from tools.claims.claim_tokens import Token
from tools.claims.hard_conflicts import Comparison, Surroundings, compare
from tools.claims.near_verbatim import near_verbatim_changes
from tools.claims.roughly import rounds
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence
from tools.claims.source_sentences import SourceSentence, lookup_keys, quantities_of, rough_words, terms_of
from tools.claims.verbatim import SentencePlace, VerbatimMatch, find_verbatim

CLOSEST = 4  # sentences that a claim is compared with
LEVEL = 0.02  # share of a claim's content by which two sentences are about as near
OWN_WORDS = 0.5  # share of a claim's terms that tells that it is in its sources' language
ELSEWHERE = 0.4  # share of a claim's content in another sentence, which may say what this one contradicts
FEWEST_TERMS = 2  # of a claim that says something by itself, rather than "It does."
PART = Reason("part_of_sentence")
ORDER = Reason("other_order")
UNSAID = Reason("not_said")
UNCITED = Reason("uncited")
DENIED = Reason("conditioned")
FOREIGN = Reason("other_language")


@dataclass(frozen=True, slots=True)
class ClaimJudgement:
    """A verdict with its reasons and the source sentences it rests on, the closest first.

    ``places`` are in the segments of ``sources``, which are the section's own but for a claim that repeats another.
    A ``near_verbatim`` claim repeats a source sentence but for a few words: a judge may fail it, but not prove it.
    """

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    places: tuple[SentencePlace, ...] = ()
    near: float = 0.0
    sources: Sources | None = None
    near_verbatim: bool = False


@dataclass(frozen=True, slots=True)
class _Match:
    comparison: Comparison
    sentence: SourceSentence
    place: SentencePlace


def judge_claim(
    claim: str, sources: Sources, others: Sources | None = None, question: str = "", asked: str = ""
) -> ClaimJudgement:
    """Decide on one claim by the sources it cites, or by the sentence of another source that it repeats.

    A "Yes," or "No," before it is read against the question. It is the source's own where the source says all of the
    claim right behind that question, or behind the one which the answer has ``asked`` before the claim. Takes time
    linear in the claim, and a fixed number of sentence comparisons, once the sources are indexed.
    """
    lead = answer_lead(claim)
    if lead and (exact := find_verbatim(claim, sources)) and sources.asks_before(exact.places[0], asked or question):
        return judge_quoted(exact, sources)
    rest = claim[lead.end :] if lead else claim
    if not rest.strip() and sources.segments:
        return ClaimJudgement("unverified", (Reason("says_nothing", claim),))
    judgement = _verbatim(rest, sources, others) or _not_verbatim(rest, sources, question)
    if lead is None or judgement.verdict != "supported":
        return judgement
    agreed = agreement(lead, rest, question)
    if agreed == "agrees":
        return judgement
    if agreed == "conflicts":
        return replace(judgement, verdict="contradicted", reasons=(Reason("opposite_follows", lead.said),))
    return replace(judgement, verdict="unverified", reasons=(Reason("lead_open", lead.said),))


def _verbatim(claim: str, sources: Sources, others: Sources | None) -> ClaimJudgement | None:
    for each in (sources, others):
        if each is not None and (exact := find_verbatim(claim, each)):
            return judge_quoted(exact, each)
    return None


def judge_quoted(exact: VerbatimMatch, sources: Sources) -> ClaimJudgement:
    """Decide on a claim by the words of a source that it repeats."""
    verdict: Verdict = "unverified" if exact.denied else "supported"
    return ClaimJudgement(verdict, (DENIED,) if exact.denied else (), exact.places, 1.0, sources)


def _not_verbatim(claim: str, sources: Sources, question: str) -> ClaimJudgement:
    judgement = _compared(claim, sources, question)
    if judgement.verdict == "contradicted":
        return judgement
    changes = near_verbatim_changes(claim, sources, sources.words_above | rough_words(question))
    if not changes:
        return judgement
    return replace(
        judgement,
        near_verbatim=True,
        reasons=(ORDER if ORDER in judgement.reasons else Reason("nearly_quoted", *changes),),
    )


def _compared(claim: str, sources: Sources, question: str) -> ClaimJudgement:
    """Decide on a claim by the sentences nearest to it."""
    if not sources.places:
        return ClaimJudgement("unsupported", (UNCITED,))
    reading = parse_sentence(claim)
    terms = terms_of(reading)
    above = sources.named_above.union(parse_sentence(question).keys)
    found = [
        _Match(
            compare(
                reading,
                sentence.reading,
                Surroundings(sources.known, above | sources.named_around(at, sentence).keys),
            ),
            sentence,
            (at, sentence.start, sentence.end),
        )
        for _, at, sentence in sources.closest(terms, CLOSEST)
    ]
    best = _nearest(found)
    if best is not None and (reasons := _sure_conflicts(best, found, sources)):
        return ClaimJudgement("contradicted", reasons, (best.place,), best.comparison.near, sources)
    if best is None and (place := _place_of_foreign(claim, sources)):
        return ClaimJudgement("unverified", (FOREIGN,), (place,), 0.0, sources)
    if best is None:
        return _unrelated(reading, terms, sources)
    why = _missing_numbers(reading, sources) or (_why_open(best.comparison),)
    if sources.cover(terms) < OWN_WORDS and _foreign(claim, sources):
        why = (FOREIGN,)
    return ClaimJudgement("unverified", why, (best.place,), best.comparison.near, sources)


def _unrelated(reading: ParsedSentence, terms: frozenset[str], sources: Sources) -> ClaimJudgement:
    """Decide on a claim that shares nothing with any sentence: one that says something by itself has no support."""
    if len(terms) < FEWEST_TERMS or terms & sources.terms or _shares_numbers(reading, sources):
        return ClaimJudgement("unverified", (UNSAID,), (), 0.0, sources)
    return ClaimJudgement("unsupported", (UNSAID,))


def _shares_numbers(reading: ParsedSentence, sources: Sources) -> bool:
    return any(
        lookup_keys(token.key) & sources.quantities for token in reading.tokens if token.kind in ("number", "date")
    )


def _nearest(found: Sequence[_Match]) -> _Match | None:
    """Choose the nearest sentence; of several about as near one that is no conflict, and the one that says all."""
    if not found:
        return None
    nearest = max(one.comparison.near for one in found)
    level = [one for one in found if one.comparison.near >= nearest - LEVEL]
    return min(level, key=lambda one: (_FINDINGS.index(one.comparison.finding), -one.comparison.near))


_FINDINGS = ("same", "part", "order", "differs", "conflict")


def _sure_conflicts(best: _Match, found: Sequence[_Match], sources: Sources) -> tuple[str, ...]:
    """Return the reasons of the conflicts with the nearest sentence that no other place in the sources explains.

    A number or name that the claim has and the sentence has not may be that of another sentence on the same thing; one
    that is not the only difference must stand nowhere in the sources.
    """
    if not best.comparison.conflicts:
        return ()
    readings = [one.sentence.reading for one in found if one is not best and one.comparison.near >= ELSEWHERE]
    if best.comparison.alone:
        said = frozenset[str]().union(*(each.keys for each in readings), *map(quantities_of, readings))
    else:
        said = sources.keys | sources.quantities
    return tuple(each.reason for each in best.comparison.conflicts if not each.keys or not _all_said(each.keys, said))


def _all_said(keys: Sequence[str], said: frozenset[str]) -> bool:
    return all(key in said or (key[0] in "#@" and lookup_keys(key) & said) for key in keys)


def _why_open(comparison: Comparison) -> str:
    reasons = {"part": PART, "order": ORDER}
    return reasons.get(comparison.finding) or Reason("closest_sentence", round(comparison.near, 4))


def _missing_numbers(claim: ParsedSentence, sources: Sources) -> tuple[str, ...]:
    """List the numbers of a claim, in digits or above ten, that occur nowhere in its sources, not even rounded."""
    return tuple(
        Reason("nowhere", claim.said(at, at + 1))
        for at, token in enumerate(claim.tokens)
        if token.kind in ("number", "date")
        and not lookup_keys(token.key) & sources.quantities
        and not _is_small_word(token, claim.said(at, at + 1))
        and not any(f"#{spell(value)}" in sources.quantities for value in token.also)
        and not any(_is_rounded(value, sources.values) for value in token.values)
    )


_MOST_VALUES = 32  # numbers of the sources that one number may round


def _is_rounded(value: float, values: Sequence[float]) -> bool:
    if not value:
        return False
    low, high = sorted((value * 0.9, value * 1.1))
    near = values[bisect_left(values, low) : bisect_right(values, high)]
    return any(rounds(each, value) for each in near[:_MOST_VALUES])


def _is_small_word(token: Token, said: str) -> bool:
    """Whether a number is small and in words: it may be counted from what the sources list."""
    return token.value is not None and token.value <= 10 and not any(sign.isdigit() for sign in said)


def _place_of_foreign(claim: str, sources: Sources) -> SentencePlace | None:
    """Return the first sentence of sources in another language, None where one is in the claim's."""
    if not _foreign(claim, sources):
        return None
    at, sentence = sources.places[0]
    return at, sentence.start, sentence.end


def _foreign(claim: str, sources: Sources) -> bool:
    """Whether none of the sources is in the claim's language."""
    spoken = language(claim, default="")
    return bool(spoken) and all(language(segment.text[:2000], default=spoken) != spoken for segment in sources.segments)
