"""How much a cosine says: each model has its own cosines of what is unrelated, and they are measured, not guessed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SimilarityScale:
    """What a cosine adds to the log odds of a score: ``slope`` times the cosine, and ``offset``."""

    slope: float
    offset: float


# Of the bundled model, fitted by research/fitting/fit_score.py with the constants of tools/retrieval/search_sql.py.
FITTED = SimilarityScale(slope=5.43, offset=-2.44)
