"""The development set: questions for fitting the extractive family, never for judging it.

Written like the golden set, but by other people over other documents, so that the golden set stays unseen.
"""

from pathlib import Path

from evals.cases import DataSet
from evals.sets.own import load_own


def load_development() -> DataSet:
    """Load the development set."""
    return load_own(Path(__file__).parent)
