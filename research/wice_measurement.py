"""Measurement on WiCE of the estimate of support, the choice of evidence, and the verdicts of code."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from math import log1p
from pathlib import Path
from statistics import fmean

import numpy as np
from typing_extensions import TypedDict

from answers.checking import WORST_FIRST, worst_verdict
from evals.bootstrap import auc, balanced_accuracy
from evals.cases import best_match
from evals.sets.wice import WiCEClaim, WiCEPage, claims_digest, load_wice, page_of
from graph.errors import InvalidRequest
from graph.evidence import Verdict
from graph.ports import ClaimChecker, WrittenSection
from graph.usage import Meter
from research.fitting.fit_support import SupportFigures, held_out, support_rows
from research.fitting.small_models import Floats
from tools.claims.lexical_support import (
    SUPPORT_THRESHOLD,
    Coverage,
    evidence_from_coverage,
    measure_coverage,
    support_from_coverage,
    support_weights,
)

_WORD = re.compile(r"\w+")


class WiCEReport(TypedDict):
    """Supported claims against partially and not supported ones, and evidence lines against the best annotated set.

    ``auroc`` and ``balanced_accuracy`` repeat ``held_out`` where the shipped weights were fitted on these claims, else
    ``shipped``; ``figures_of`` says which. The baseline is the share of a claim's words, weighted by their rarity
    over all lines of the file, that the page contains, at its best threshold on the file.
    """

    claims: int
    figures_of: str
    auroc: float
    balanced_accuracy: float
    threshold: float
    baseline_auroc: float
    baseline_balanced_accuracy: float
    baseline_threshold: float
    shipped: SupportFigures
    held_out: SupportFigures
    evidence_claims: int
    evidence_precision: float
    evidence_recall: float
    evidence_f1: float
    evidence_lines: float
    verdicts: dict[str, dict[Verdict, int]]
    ms_per_claim: float


async def run_wice(checker: ClaimChecker, path: Path) -> WiCEReport:
    """Judge every claim against the whole page it cites. Raises InvalidRequest where the file cannot be read.

    Evidence figures are means over the supported and partially supported claims that have an annotated set, each
    against the set that it matches best by F1.
    A file without supported claims, or without others, has no AUROC and is refused too.
    """
    claims = load_wice(path)
    if len({claim.label == "supported" for claim in claims}) < 2:
        raise InvalidRequest(f"{path} needs both supported claims and others.")
    pages = [page_of(claim) for claim in claims]
    supported = np.array([claim.label == "supported" for claim in claims])
    began = time.perf_counter()
    found = [measure_coverage(claim.text, page.segments) for claim, page in zip(claims, pages, strict=True)]
    scores = np.array([support_from_coverage(claim.text, each) for claim, each in zip(claims, found, strict=True)])
    lines = [_evidence_lines(each, page) for each, page in zip(found, pages, strict=True)]
    ms = (time.perf_counter() - began) * 1000 / len(claims)
    shipped = _figures(scores[supported], scores[~supported])
    cross_validated = held_out(support_rows(claims))
    seen = claims_digest(claims) == support_weights().fitted_on
    headline = cross_validated if seen else shipped
    words = word_coverage(claims)
    threshold, balanced = best_threshold(words[supported], words[~supported])
    matches = [
        best_match(chosen, claim.evidence_sets)
        for chosen, claim in zip(lines, claims, strict=True)
        if claim.evidence_sets and claim.label != "not_supported"
    ]
    return WiCEReport(
        claims=len(claims),
        figures_of="cross-validation, since the shipped weights saw these claims" if seen else "the shipped weights",
        auroc=headline["auroc"],
        balanced_accuracy=headline["balanced_accuracy"],
        threshold=SUPPORT_THRESHOLD,
        baseline_auroc=auc(words[supported], words[~supported]),
        baseline_balanced_accuracy=balanced,
        baseline_threshold=threshold,
        shipped=shipped,
        held_out=cross_validated,
        evidence_claims=len(matches),
        evidence_precision=_mean([match.precision for match in matches]),
        evidence_recall=_mean([match.recall for match in matches]),
        evidence_f1=_mean([match.f1 for match in matches]),
        evidence_lines=round(fmean(len(chosen) for chosen in lines), 3),
        verdicts=await _verdicts(checker, claims, pages),
        ms_per_claim=round(ms, 1),
    )


def _figures(yes: Floats, no: Floats) -> SupportFigures:
    return SupportFigures(
        claims=len(yes) + len(no), auroc=auc(yes, no), balanced_accuracy=balanced_accuracy(yes, no, SUPPORT_THRESHOLD)
    )


def _evidence_lines(found: Coverage, page: WiCEPage) -> frozenset[int]:
    chosen = evidence_from_coverage(found).sentences
    return frozenset(line for each in chosen for line in page.lines(each.segment, each.start, each.end))


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), 4) if values else 0.0


def word_coverage(claims: Sequence[WiCEClaim]) -> Floats:
    """Return the share of each claim's words that its page contains, weighted by rarity over the lines of all pages."""
    lines = Counter(word for claim in claims for line in claim.lines for word in _words(line))
    count = sum(len(claim.lines) for claim in claims)
    shares: list[float] = []
    for claim in claims:
        weight = {word: log1p((count - lines[word] + 0.5) / (lines[word] + 0.5)) for word in _words(claim.text)}
        page = _words("\n".join(claim.lines))
        total = sum(weight.values())
        shares.append(sum(weight[word] for word in weight if word in page) / total if total else 0.0)
    return np.array(shares)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def best_threshold(yes: Floats, no: Floats) -> tuple[float, float]:
    """Return the threshold with the best balanced accuracy on these scores, and that accuracy."""
    thresholds = np.unique(np.r_[yes, no])
    best = max(thresholds, key=lambda threshold: balanced_accuracy(yes, no, float(threshold)))
    return round(float(best), 4), balanced_accuracy(yes, no, float(best))


async def _verdicts(
    checker: ClaimChecker, claims: Sequence[WiCEClaim], pages: Sequence[WiCEPage]
) -> dict[str, dict[Verdict, int]]:
    """Count the verdicts on claims of each label."""
    sections = [WrittenSection(claim.text, page.segments) for claim, page in zip(claims, pages, strict=True)]
    checked = await checker.check(sections, meter=Meter())
    counts: dict[str, dict[Verdict, int]] = {}
    for claim, found in zip(claims, checked.sections, strict=True):
        worst = worst_verdict({each.verdict for each in found}, of_none="unsupported")
        row: dict[Verdict, int] = counts.setdefault(claim.label, dict.fromkeys(reversed(WORST_FIRST), 0))
        row[worst] += 1
    return counts
