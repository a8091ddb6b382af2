"""Whether a reader sees a mark behind a claim, and what a claim is called: the rules that every dialect follows.

A mark says "this passage bears this sentence". It stands behind what is quoted, what a judge supports and, where no
judge can be had, what code has found nothing against. It never stands behind a sentence that somebody competent doubts.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from graph.evidence import Citation, Claim, Mark, Section, SectionClaim, Span, Verdict
from graph.rows import ClaimRow

Grade = Verdict | Literal["quoted", "checked"]  # what a claim is called where a person reads it
AnyClaim = TypeVar("AnyClaim", Claim, SectionClaim)
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


def decided(claim: AnyClaim) -> AnyClaim:
    """Return a claim of a run that was stopped: where no judge has spoken by then, only a copy keeps its mark."""
    if claim.get("mark") != "pending":
        return claim
    kept = claim.copy()
    kept["mark"] = "shown" if claim["verdict"] == "supported" and claim["citations"] else "withheld"
    return kept


def marked_citations(claim: Claim) -> list[Citation]:
    """Return the citations that the marks behind a claim stand for; none where it carries no mark."""
    return claim["citations"] if mark_of(claim) == "shown" else []


def marked_spans(claims: Iterable[Claim]) -> list[Span]:
    """Return the places in a section's text of the claims behind which a mark stands."""
    return [Span(start=claim["start"], end=claim["end"]) for claim in claims if mark_of(claim) == "shown"]


def with_marks(sections: Iterable[Section], claims: Sequence[SectionClaim]) -> list[Section]:
    """Return the sections of a finished message, those with claims with the places of the marked ones."""
    own: dict[int, list[SectionClaim]] = {}
    for claim in claims:
        own.setdefault(claim["section_index"], []).append(claim)
    return [
        {**section, "marks": marked_spans(own[position])} if position in own else section
        for position, section in enumerate(sections)
    ]


def grade_of(claim: Mapping[str, Any]) -> Grade:
    """Return what a claim is called where a person reads it.

    A copy is quoted, which does not say that it answers; what only a judge without an exam supports is checked.
    """
    judge = claim.get("judge")
    if claim["verdict"] == "unverified" and judge is not None and judge.get("says") == "supported":
        return "checked"
    is_copy = claim["verdict"] == "supported" and claim.get("by") == "text"
    verdict: Verdict = claim["verdict"]
    return "quoted" if is_copy else verdict
