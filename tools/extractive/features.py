"""What the reader looks at: a row of numbers for each candidate sentence of a question.

All statistics come from the candidates themselves, so that they mean the same in a library of any size and no text
outside the run can leak into them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.evidence import Segment
from tools.extractive.answer_types import asked_type, finds
from tools.extractive.candidates import Candidate
from tools.extractive.wording import flattened, question_wording

Floats = NDArray[np.float64]

# Whether there is an answer must mean the same in a library of five sentences, all on one subject, as in one of
# thousands: rarity is counted as if this many sentences on other subjects stood among the candidates.
OTHER_SENTENCES = 20

FEATURES = (
    "terms",  # share of the question's term weight in the sentence
    "small_grams",  # the same over small and large character grams
    "large_grams",
    "bm25",
    "before",  # middle gram cover of the sentence before, and after
    "after",
    "with_context",  # middle gram cover that the sentence before, the first one and the heading add
    "only_here",  # middle grams that neither neighbour has
    "search_score",  # the segment's search score by the best segment's
    "search_odds",  # the log of their odds ratio
    "search_rank",  # reciprocal of the segment's place by that score
    "asked_type",  # holds a thing of the kind that is asked for, which the question does not name
    "asked_type_near",  # and how near it stands to words of the question
    "untyped_grams",  # middle gram cover where the question asks for no kind that can be found by form
    "first",  # opens its segment
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The candidates of one question by their features, and the covers that tell whether it has an answer."""

    features: Floats  # (candidates, FEATURES)
    small_grams: Floats  # (candidates,) cover by small and by middle grams, steadied
    middle_grams: Floats
    segment_grams: Floats  # (segments,) cover by middle grams of whole segments, steadied
    segment_share: Floats  # (segments,) share of the middle grams in whole segments and their headings, unweighted
    missing_terms: int  # how many of the question's terms no candidate has


def evidence(
    question: str, segments: Sequence[Segment], relevance: Sequence[float], pool: Sequence[Candidate]
) -> Evidence:
    """Compute the features of a question's candidates, of which there must be one at least.

    ``relevance`` holds the search score of each segment in [0, 1].
    """
    asked = question_wording(question)
    owner = np.array([candidate.segment for candidate in pool])
    terms = _presence(asked.terms, [candidate.wording.vocabulary for candidate in pool])
    flats = [candidate.wording.flat for candidate in pool]
    small, middle, large = (_presence(grams, flats) for grams in asked.grams)
    term_weight, middle_weight = _idf(terms), _idf(middle)
    term_cover, grams = _cover(term_weight, terms), _cover(middle_weight, middle)
    follows = np.r_[False, owner[1:] == owner[:-1]]
    before = np.where(follows, np.roll(middle, 1, axis=1), False)
    after = np.where(np.r_[follows[1:], False], np.roll(middle, -1, axis=1), False)
    heads = _presence(asked.grams[1], [flattened(f"{segment.title} {segment.heading}") for segment in segments])
    context = middle | before | middle[:, np.searchsorted(owner, owner)] | heads[:, owner]
    score = np.asarray(relevance, dtype=np.float64)
    odds = log_odds(score)
    place = (score[None, :] > score[:, None]).sum(axis=1)
    lengths = np.array([max(1, len(candidate.wording.terms)) for candidate in pool], dtype=np.float64)
    typed, near = _type_features(question, asked.terms, term_weight, pool)
    columns: dict[str, Floats] = {
        "terms": term_cover,
        "small_grams": _cover(_idf(small), small),
        "large_grams": _cover(_idf(large), large),
        "bm25": _bm25(asked.terms, term_weight, pool, lengths),
        "before": _cover(middle_weight, before),
        "after": _cover(middle_weight, after),
        "with_context": _cover(middle_weight, context) - grams,
        "only_here": _cover(middle_weight, middle & ~before & ~after),
        "search_score": (score / max(score.max(), 1e-9))[owner],
        "search_odds": (odds - odds.max())[owner],
        "search_rank": (1.0 / (1.0 + place))[owner],
        "asked_type": typed,
        "asked_type_near": near,
        "untyped_grams": grams * (asked_type(question) == "other"),
        "first": (~follows).astype(np.float64),
    }
    by_segment = _by_segment(middle, owner, len(segments))
    steady = _idf(middle, OTHER_SENTENCES)
    return Evidence(
        features=np.column_stack([columns[name] for name in FEATURES]),
        small_grams=_cover(_idf(small, OTHER_SENTENCES), small),
        middle_grams=_cover(steady, middle),
        segment_grams=_cover(steady, by_segment),
        segment_share=(by_segment | heads).mean(axis=0) if len(middle) else np.zeros(len(segments)),
        missing_terms=int((~terms.any(axis=1)).sum()),
    )


def _presence(units: Sequence[str], texts: Sequence[str] | Sequence[frozenset[str]]) -> NDArray[np.bool_]:
    """Tell which text holds which unit: (units, texts)."""
    return np.array([[unit in text for text in texts] for unit in units], dtype=bool).reshape(len(units), len(texts))


def log_odds(score: Floats) -> Floats:
    """Stretch scores in [0, 1] over the real line; certainty counts as one in ten thousand."""
    kept = np.clip(score, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(kept / (1 - kept)), dtype=np.float64)


def _idf(present: NDArray[np.bool_], others: int = 0) -> Floats:
    """Weigh rows by their rarity among the candidates and ``others`` that hold none of them, as BM25 does."""
    found = present.sum(axis=1)
    weight: Floats = np.log1p((present.shape[1] + others - found + 0.5) / (found + 0.5))
    return weight


def _cover(weight: Floats, present: NDArray[np.bool_]) -> Floats:
    """Give the share of the weight that each column holds, 0 where there is no weight."""
    total = weight.sum()
    share: Floats = weight @ present / total if total > 0 else np.zeros(present.shape[1])
    return share


def _by_segment(present: NDArray[np.bool_], owner: NDArray[np.int_], count: int) -> NDArray[np.bool_]:
    held = np.zeros((present.shape[0], count), dtype=bool)
    for segment in range(count):
        held[:, segment] = present[:, owner == segment].any(axis=1)
    return held


def _bm25(terms: Sequence[str], weight: Floats, pool: Sequence[Candidate], lengths: Floats) -> Floats:
    counts = np.array(
        [[c.wording.terms.count(term) if term in c.wording.vocabulary else 0 for c in pool] for term in terms]
    )
    counts = counts.reshape(len(terms), len(pool)).astype(np.float64)
    slack = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    total = weight.sum()
    score: Floats = weight @ (counts * 2.2 / (counts + slack)) / total if total > 0 else np.zeros(len(pool))
    return score


def _type_features(
    question: str, terms: Sequence[str], weight: Floats, pool: Sequence[Candidate]
) -> tuple[Floats, Floats]:
    """Tell whether a sentence holds a thing of the asked kind that the question lacks, and how near matched terms."""
    kind = asked_type(question)
    present, near = np.zeros(len(pool)), np.zeros(len(pool))
    if kind == "other":
        return present, near
    asked = flattened(question)
    total = weight.sum() or 1.0
    for index, candidate in enumerate(pool):
        spans = [
            span for span in finds(kind, candidate.text) if flattened(candidate.text[slice(*span)]).strip() not in asked
        ]
        if not spans:
            continue
        present[index] = 1.0
        folded = candidate.text.casefold()
        places = [(folded.find(term), mass) for term, mass in zip(terms, weight, strict=True) if term in folded]
        near[index] = max(
            sum(mass * np.exp(-_gap(place, span) / 40.0) for place, mass in places) / total for span in spans
        )
    return present, near


def _gap(place: int, span: tuple[int, int]) -> int:
    return max(0, span[0] - place, place - span[1])
