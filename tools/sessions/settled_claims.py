"""What becomes of claims that a judge judged before its exam, in a stored message, once that exam is over.

If it passed, its support proves and its doubt stays, both with its figure. If it failed, its words lose their say: the
claim is as code left it.
"""

from collections.abc import Callable, Mapping
from typing import Any, LiteralString

from answers.checking import WEIGHTS, has_failed_claim
from answers.marks import mark_of, marked_spans
from answers.quoted_runs import quoted_once
from graph.evidence import Assessment, Citation, JudgeMark, SectionClaim, Verdict
from graph.ports import Judgement
from graph.reasons import IN_WORDS, Reason, Why, texts, why
from tools.judges.exam_marking import held_to
from tools.judges.exam_standing import Standing

# The words of judges in the unexamined claims of the body of a message, in SQL.
JUDGED_EARLY: LiteralString = (
    "coalesce(jsonb_path_query_array(%(body)s::jsonb, '$.claims[*].judge ? (@.exam == null)'), '[]')"
)

StandingOf = Callable[[JudgeMark], Standing | None]


def is_unexamined(claim: SectionClaim) -> bool:
    """Whether a judge spoke of a claim whose exam was not over."""
    return "judge" in claim and claim["judge"]["exam"] is None


def settled_body(body: Mapping[str, Any], standing_of: StandingOf) -> dict[str, Any] | None:
    """Return the body of a message with the claims settled whose judge's standing is known; None where none are."""
    before: list[SectionClaim] = body.get("claims", [])
    claims = [settled_claim(claim, standing_of) if is_unexamined(claim) else claim for claim in before]
    if claims == before:
        return None
    changed: dict[str, Any] = {**body, "claims": claims, "citations": quoted_once(claims)}
    changed["sections"] = [
        {**section, "marks": marked_spans(each for each in claims if each["section_index"] == index)}
        if any(each["section_index"] == index for each in claims)
        else section
        for index, section in enumerate(body["sections"])
    ]
    if "assessment" in body:
        changed["assessment"] = _assessed(body["assessment"], before, claims)
    return changed


def settled_claim(claim: SectionClaim, standing_of: StandingOf) -> SectionClaim:
    """Return a claim as it stands after the exam of the judge that spoke of it; unchanged where it is not over."""
    word = claim["judge"]
    if "says" not in word or (standing := standing_of(word)) is None:
        return claim
    of_judge = [each for each in claim.get("why", []) if each["code"] == IN_WORDS]
    if standing.passed is None:
        return _unjudged(claim, why(standing.reason))
    held = held_to(Judgement(word["says"], word.get("probability")), standing.passed)
    if held.verdict is None:
        return _unjudged(claim, why(held.reason))
    mark = JudgeMark(model=word["model"], exam=held.exam)
    reasons = [*of_judge, *why(held.reason), *why(standing.reason)]
    return _with_verdict(SectionClaim(**{**claim, "by": "judge", "judge": mark}), held.verdict, reasons)


def _unjudged(claim: SectionClaim, reasons: list[Why]) -> SectionClaim:
    left = SectionClaim(**claim)
    is_doubted = left.pop("judge").get("doubted", False)
    left.pop("by", None)
    left = _with_verdict(left, "unverified", reasons)
    if is_doubted:
        left["mark"] = "withheld"
    return left


def _with_verdict(claim: SectionClaim, verdict: Verdict, reasons: list[Why]) -> SectionClaim:
    citations = [Citation(**{**citation, "verdict": verdict}) for citation in claim["citations"]]
    decided = SectionClaim(**{**claim, "verdict": verdict, "citations": citations, "reasons": texts(reasons)})
    decided["why"] = reasons
    decided.pop("mark", None)
    decided["mark"] = mark_of(decided)
    return decided


def _assessed(before: Assessment, old: list[SectionClaim], new: list[SectionClaim]) -> Assessment:
    """Return an assessment with the verdicts that changed; how far the question is covered stays."""
    counts = dict(before["claims"])
    for was, is_now in zip(old, new, strict=True):
        counts[was["verdict"]] -= 1
        counts[is_now["verdict"]] += 1
    total = sum(counts.values())
    covered = next((each["parts"][-1] for each in before.get("why", []) if each["code"] == "assessed"), None)
    after = Assessment(**{**before, "claims": counts})
    after["supported"] = counts["supported"] > 0 and not any(map(has_failed_claim, new))
    if isinstance(covered, int | float) and total:
        support = sum(WEIGHTS[verdict] * count for verdict, count in counts.items()) / total
        after["utility"] = round(support * (0.5 + 0.5 * covered), 4)
        order: tuple[Verdict, ...] = ("supported", "contradicted", "unsupported", "unverified")
        reason = Reason("assessed", *(counts[verdict] for verdict in order), covered)
        after["reason"], after["why"] = str(reason), why(reason)
    return after
