"""Whether a reader sees a mark behind a claim: the one rule that every dialect follows.

A mark says "this passage bears this sentence". It stands behind what is quoted, what a judge supports and, where no
judge can be had, what code has found nothing against. It never stands behind a sentence that somebody competent doubts.
"""

from collections.abc import Iterable

from graph.evidence import Claim, Mark, Span, Verdict
from graph.rows import ClaimRow

DOUBTED: frozenset[Verdict] = frozenset({"contradicted", "unsupported"})


def mark_of_row(row: ClaimRow) -> Mark:
    """Return the mark of a checked claim as it stands now."""
    if row.get("pending"):
        return "pending"
    if not row["proofs"] or row["verdict"] in DOUBTED:
        return "withheld"
    if row["verdict"] == "supported" or "judge" in row:
        return "shown"
    return "withheld" if row.get("doubted") else "shown"


def mark_of(claim: Claim) -> Mark:
    """Return the mark of a claim; for one of an earlier release, which has none of its own, by its verdict."""
    if claim.get("mark") == "pending":
        return "pending"
    if not claim["citations"] or claim["verdict"] in DOUBTED:
        return "withheld"
    return claim.get("mark", "shown")


def marked_spans(claims: Iterable[Claim]) -> list[Span]:
    """Return the places in a section's text of the claims behind which a mark stands."""
    return [Span(start=claim["start"], end=claim["end"]) for claim in claims if mark_of(claim) == "shown"]
