"""The development set: questions that the extractive family is fitted on, and that judge nothing.

Written like the golden set by other hands over other documents, so that the golden set stays unseen.
"""

from pathlib import Path

from evals.cases import DataSet
from evals.sets.own import load_own


def load_development() -> DataSet:
    """Read the development set."""
    return load_own(Path(__file__).parent)
