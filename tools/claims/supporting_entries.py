"""The few entries of some segments that say most of what a claim says, by the rarity of the terms that they share."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import log
from typing import NamedTuple

from text.words import question_terms
from tools.claims.cited_sources import Entry, Sources
from tools.claims.source_sentences import SentencePlace

MOST_PROOFS = 3
LEAST_GAIN = 0.07  # of the claim's weight, that a further entry adds


class Evidence(NamedTuple):
    """The places of entries, the best one first, and the shares in [0, 1] of a claim's weight that all and it hold."""

    places: tuple[SentencePlace, ...] = ()
    share: float = 0.0
    best: float = 0.0


def weigh(claim: str, pools: Iterable[Sources]) -> Mapping[str, float]:
    """Return the terms of a claim, each with its weight by its rarity among the entries of all pools; they sum to 1."""
    entries = [entry.terms for pool in pools for entry in pool.entries]
    terms = question_terms(claim).terms  # the words that frame a question tell as little of a claim
    found = {term: sum(term in each for each in entries) for term in terms}
    weights = {term: log(1 + (len(entries) + 1) / (count + 0.5)) for term, count in found.items()}
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()}


def find_evidence(weights: Mapping[str, float], entries: Sequence[Entry]) -> Evidence:
    """Return at most three entries: the one that holds most of a claim, then those that add most to it.

    Of equal ones, as below one heading that says it all, the one that holds most in its own words.
    """
    pool = [(entry.place, weights.keys() & entry.terms) for entry in entries]
    own = {entry.place: sum(weights[term] for term in weights.keys() & entry.own) for entry in entries}
    left = dict(weights)
    places: list[SentencePlace] = []
    shares: list[float] = []
    while pool and len(places) < MOST_PROOFS:
        gains = [sum(left.get(term, 0.0) for term in held) for _, held in pool]
        best = max(
            range(len(pool)), key=lambda at: (round(gains[at], 9), round(own[pool[at][0]], 9), -_length(pool[at][0]))
        )
        if gains[best] < LEAST_GAIN:
            break
        shares.append(gains[best])
        places.append(pool[best][0])
        for term in pool[best][1]:
            left.pop(term, None)
    return Evidence(tuple(places), sum(shares), *shares[:1])


def best_segment(weights: Mapping[str, float], sources: Sources) -> Evidence:
    """Return the evidence in the one segment that holds most of a claim."""
    each = (list(entries) for _, entries in groupby(sources.entries, key=lambda entry: entry.place[0]))
    return max((find_evidence(weights, entries) for entries in each), key=lambda found: found.share, default=Evidence())


def _length(place: SentencePlace) -> int:
    return place[2] - place[1]
