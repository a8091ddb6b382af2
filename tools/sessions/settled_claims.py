"""What becomes of claims that a judge judged before its exam, in a stored message, once that exam is over.

If it passed, its support proves and its doubt stays, both with its figure. If it failed, its words lose their say: the
claim is as code left it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, LiteralString

from answers.checking import assessed
from answers.marks import mark_of, marked_spans
from answers.quoted_runs import quoted_once
from graph.evidence import Assessment, Citation, CodeFinding, JudgeMark, SectionClaim, Verdict
from graph.ports import Judgement
from graph.reasons import IN_WORDS, Why, texts, why
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
        changed["assessment"] = _assessed(body["assessment"], body, claims)
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
    """Return a claim as code left it; without a mark too where nobody but the judge has found its citations."""
    left = SectionClaim(**claim)
    word = left.pop("judge")
    left.pop("by", None)
    code = word.get("code") or CodeFinding(verdict="unverified", doubted=word.get("doubted", False), why=[])
    left = _with_verdict(left, code["verdict"], [*code["why"], *reasons])
    if code["verdict"] == "supported":
        left["by"] = "text"
    elif code["doubted"] or all(citation["origin"] == "matched" for citation in left["citations"]):
        left["mark"] = "withheld"
    return left


def _with_verdict(claim: SectionClaim, verdict: Verdict, reasons: list[Why]) -> SectionClaim:
    citations = [Citation(**{**citation, "verdict": verdict}) for citation in claim["citations"]]
    decided = SectionClaim(**{**claim, "verdict": verdict, "citations": citations, "reasons": texts(reasons)})
    decided["why"] = reasons
    decided.pop("mark", None)
    decided["mark"] = mark_of(decided)
    return decided


def _assessed(before: Assessment, body: Mapping[str, Any], claims: Sequence[SectionClaim]) -> Assessment:
    """Return an assessment by the claims as they are now; how far the question is covered stays.

    The last sections, which report disagreements, are no part of it, unless all that the answer says is told there.
    """
    written = body["sections"][: len(body["sections"]) - len(body.get("disagreements", []))] or body["sections"]
    own = [each for each in claims if each["section_index"] < len(written)]
    covered = next((each["parts"][-1] for each in before.get("why", []) if each["code"] == "assessed"), None)
    after = assessed(own, covered if isinstance(covered, int | float) else 0.0)
    if not isinstance(covered, int | float):
        return Assessment(**{**before, "claims": after["claims"], "supported": after["supported"]})
    return Assessment(**{**before, **after, "model_score": before["model_score"]})
