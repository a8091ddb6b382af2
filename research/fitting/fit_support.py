"""Fit of the estimate of how far sources support a claim, reported by cross-validation.

``python -m research.fitting.fit_support --data FOLDER [--write]`` reads WiCE in the folder and prints figures of
held-out folds, the claims of an article in one fold. ``--write`` then fits on everything and writes the weights.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from typing_extensions import TypedDict

import tools.claims
from evals.bootstrap import auc, balanced_accuracy
from research.fitting.cross_validation import fold_of
from research.fitting.small_models import Floats, evenly, fit_logistic
from research.sets.wice import WiCEClaim, claims_digest, load_wice, page_of
from tools.claims.lexical_support import SUPPORT_FEATURES, SUPPORT_THRESHOLD, measure_coverage, support_features

PENALTY = 10.0
FOLDS = 8
REPEATS = 5  # different splits into folds, since an article's fold affects the figures


class SupportFigures(TypedDict):
    """Figures of supported claims against the rest; balanced accuracy is at the shipped threshold."""

    claims: int
    auroc: float
    balanced_accuracy: float


@dataclass(frozen=True, slots=True)
class SupportRows:
    """The features of each claim, whether it is supported, and its article."""

    features: Floats
    supported: NDArray[np.bool_]
    articles: tuple[str, ...]


def support_rows(claims: Sequence[WiCEClaim]) -> SupportRows:
    """Return the model's input for each claim."""
    rows = [support_features(claim.text, measure_coverage(claim.text, page_of(claim).segments)) for claim in claims]
    supported = np.array([claim.label == "supported" for claim in claims])
    return SupportRows(np.array(rows), supported, tuple(claim.article for claim in claims))


def held_out(rows: SupportRows) -> SupportFigures:
    """Score every claim by a model that has not seen its article; return the mean over several splits into folds."""
    figures: list[tuple[float, float]] = []
    for repeat in range(REPEATS):
        fold = np.array([fold_of(f"{repeat}:{article}", FOLDS) for article in rows.articles])
        scores = np.full(len(fold), 0.5)
        for held in range(FOLDS):
            seen = fold != held
            if len(set(rows.supported[seen].tolist())) == 2:
                weights, intercept = _fit(rows.features[seen], rows.supported[seen])
                scores[~seen] = expit(rows.features[~seen] @ weights + intercept)
        yes, no = scores[rows.supported], scores[~rows.supported]
        figures.append((auc(yes, no), balanced_accuracy(yes, no, SUPPORT_THRESHOLD)))
    area, balanced = np.mean(figures, axis=0)
    return SupportFigures(
        claims=len(rows.articles), auroc=round(float(area), 4), balanced_accuracy=round(float(balanced), 4)
    )


def _fit(rows: Floats, supported: NDArray[np.bool_]) -> tuple[Floats, float]:
    return fit_logistic(rows, supported, evenly(supported, ["wice"] * len(rows)), PENALTY)


def main() -> None:
    """Fit, report, and with ``--write`` write the weights."""
    parser = argparse.ArgumentParser(description="Fit the estimate of support.")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds wice/claims.jsonl")
    parser.add_argument("--write", action="store_true", help="fit on all data and write support.json")
    options = parser.parse_args()
    claims = load_wice(options.data / "wice" / "claims.jsonl")
    rows = support_rows(claims)
    figures = held_out(rows)
    if options.write:
        _write(rows, figures, claims_digest(claims))
    json.dump(figures, sys.stdout, indent=2)
    sys.stdout.write("\n")


def _write(rows: SupportRows, figures: SupportFigures, digest: str) -> None:
    weights, intercept = _fit(rows.features, rows.supported)
    shipped = {
        "provenance": {
            "fitted_by": "python -m research.fitting.fit_support",
            "date": datetime.now(UTC).date().isoformat(),
            "data": "WiCE, the half that docs/evaluation.md names",
            "claims": digest,
            "features": hashlib.sha256(" ".join(SUPPORT_FEATURES).encode()).hexdigest()[:12],
            "lambda": PENALTY,
        },
        "cv": figures,
        "intercept": round(intercept, 4),
        "weights": {name: round(float(value), 4) for name, value in zip(SUPPORT_FEATURES, weights, strict=True)},
    }
    path = Path(tools.claims.__file__).with_name("support.json")
    path.write_text(json.dumps(shipped, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
