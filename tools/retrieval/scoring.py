"""How the two legs become one score in [0, 1], as SQL over a pool of candidates.

Both legs' scores are computed for every candidate, whichever leg brought it. The order is the score's own, so nothing
needs to be made monotone, and a score means the same in every library: docs/adr/0004-calibrated-score.md.
"""

IDF_POWER = 1.3  # sharpens the IDF: question words are rarer in prose than they are telling
CONTEXT = 0.3  # what the better neighbour adds to a segment's lexical score
CONTEXT_NORM = 1 + 0.6 * CONTEXT  # so that a document in many segments has no advantage over one in one

# Fitted by bench/fit_score.py. A ratio of 1 is about a segment that holds every word of the question.
INTERCEPT = -1.94
LEXICAL = 7.41
DENSE = 5.43
DENSE_OFFSET = -2.44  # what similarity means nothing at all, times DENSE
# How much the odds rise that a document bears on a question where what was found names it: docs/adr/0016.
NAMED = 20.0

SCORE = f"""1 / (1 + exp(-({INTERCEPT}
        + {LEXICAL} * CASE WHEN beside IS NULL THEN own ELSE (own + {CONTEXT} * beside) / {CONTEXT_NORM} END
            / greatest(attainable, 1e-6)
        + %(coverage)s::float8 * ({DENSE} * similarity + {DENSE_OFFSET}))))"""


def dense_coverage(coverage: float) -> float:
    """Turn how far the embedding model understands a question into the weight of the dense leg, from 0 to 1.

    The thresholds separate languages that the static model knows (0.9) from those it spells out (0.1 and less).
    """
    return min(max((coverage - 0.4) / 0.5, 0.0), 1.0)


def with_odds(score: float, factor: float) -> float:
    """Multiply the odds of a score in [0, 1]; factors above 1 raise it, the order of scores stays."""
    return score * factor / (1 - score + score * factor)
