"""The golden set: questions over the manual and over documents written for it in three languages."""

from pathlib import Path

from evals.cases import DataSet, Document
from evals.sets.own import load_own, read_document
from graph.errors import InvalidRequest

FOLDER = Path(__file__).resolve().parents[1] / "golden"
MANUAL = Path(__file__).resolve().parents[2] / "docs"
# Pages that change whenever something is measured.
FIGURES_ALONE = frozenset({"benchmarks", "evaluation", "scale"})


def load_golden() -> DataSet:
    """Read the golden set. Raises InvalidRequest outside a clone, where the manual is missing."""
    return load_own(FOLDER, more=tuple(_manual()))


def _manual() -> list[Document]:
    if not MANUAL.is_dir():
        raise InvalidRequest("The golden set needs the manual, which is not installed: run from a clone of Citewell.")
    pages = sorted(file for file in MANUAL.glob("*.md") if file.stem not in FIGURES_ALONE)
    return [read_document(page, f"manual/{page.stem}") for page in pages]
