"""How likely each sentence of a selected page belongs to what the page says on a question.

The reader looks for the one sentence that answers; a person who chose a page wants all of what it says on the matter.
Every number is relative to the page itself, so that it means the same in languages that the embeddings do not know.
"""

from collections.abc import Sequence

import numpy as np

from tools.extractive.arrays import Floats
from tools.extractive.candidates import Candidate
from tools.extractive.features import FEATURES, Evidence
from tools.extractive.likeness import Likeness

MEMBERSHIP = (
    "behind_best",  # the reader's score less the best one
    "likeness",  # cosine with the question less the mean
    "likeness_behind_best",
    "grams_behind_best",  # cover by small grams less the best one
    "length",  # log of characters less its mean
    "first",  # opens its segment
    "likeness_after",  # likeness of the sentence behind, and of the one before
    "likeness_before",
)


def membership(pool: Sequence[Candidate], found: Evidence, scores: Floats, alike: Likeness) -> Floats:
    """Compute the features, shape (candidates, MEMBERSHIP); ``scores`` are the reader's."""
    deviation = alike.sentences - alike.sentences.mean()
    lengths = np.log([len(candidate.text) for candidate in pool])
    grams = found.features[:, FEATURES.index("small_grams")]
    columns: dict[str, Floats] = {
        "behind_best": scores - scores.max(),
        "likeness": deviation,
        "likeness_behind_best": alike.sentences - alike.sentences.max(),
        "grams_behind_best": grams - grams.max(),
        "length": lengths - lengths.mean(),
        "first": found.features[:, FEATURES.index("first")],
        "likeness_after": np.r_[deviation[1:], 0.0],
        "likeness_before": np.r_[0.0, deviation[:-1]],
    }
    return np.column_stack([columns[name] for name in MEMBERSHIP])
