"""How much a cosine says: that of the bundled model was fitted, that of another is measured by what is unrelated.

A contextual encoder has cosines of .7 and more for texts that have nothing to do with each other, and another level for
each language and pair of languages. What counts is the share of the rest that a text stands above that level.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SimilarityScale:
    """What a cosine adds to the log odds of a score: ``slope`` times the cosine, and ``offset``.

    Where ``is_relative``, they are for cosines whose unrelated level is 0; ``above`` makes them those of another level.
    """

    slope: float
    offset: float
    is_relative: bool = False

    def above(self, unrelated: float) -> "SimilarityScale":
        """Return the scale for a question whose cosine with unrelated texts is ``unrelated``."""
        slope = self.slope / max(1 - unrelated, 0.01)
        return SimilarityScale(slope, self.offset - slope * unrelated)


# Fitted by research/fitting/fit_score.py with the constants of tools/retrieval/search_sql.py, for the bundled model.
FITTED = SimilarityScale(slope=5.43, offset=-2.44)
# Of multilingual-e5-small on XQuAD in three languages and all pairs of them: docs/adr/0047-encoders-of-a-folder.md.
RELATIVE = SimilarityScale(slope=24.0, offset=-5.0, is_relative=True)
