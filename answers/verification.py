"""Verify claims that somebody else wrote, one by one or as a whole answer, with the checks of a run."""

import asyncio
import time
from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from answers.checking import WORST_FIRST
from answers.citations import build_claim, place_of, with_place
from answers.claim_evidence import CitedSource, Evidence
from answers.inline_marks import MarkedAnswer
from answers.marks import DOUBTED, mark_of
from answers.verifier import ClaimToVerify, Verifier, merged_row
from graph.errors import InvalidRequest
from graph.evidence import (
    Citation,
    CitationContext,
    Failure,
    JudgeMark,
    Mark,
    Section,
    Segment,
    Spent,
    Verdict,
    VerdictSource,
)
from graph.reasons import Reason, Why
from graph.rows import claim_row

MOST_CLAIMS = 200
MOST_BYTES = 100_000  # of an answer, or of all claims together
NOT_SEARCHED = Reason("not_searched")


class VerifiedQuote(TypedDict):
    """A proof of a claim: ``text[start:end] == quote`` of the given text or document, in code points.

    ``source`` is the 1-based number of a given text, None for a document of the library; the ids are those of the
    document, None for a given text. ``context`` is what the quote hangs on, if on anything; ``slide``, ``sheet``,
    ``cell`` and ``page_label`` are as in a Citation.
    """

    source: int | None
    document_id: str | None
    segment_id: str | None
    page_idx: int | None
    title: str
    heading: str
    url: str | None
    start: int
    end: int
    quote: str
    context: NotRequired[list[CitationContext]]
    slide: NotRequired[int]
    sheet: NotRequired[str]
    cell: NotRequired[str]
    page_label: NotRequired[str]


class VerifiedClaim(TypedDict):
    """A claim with its verdict. Offsets are code points of the answer; a claim of a list is a text of its own.

    ``mark`` is whether an answer would have a mark behind it: it is withheld where code or a judge has a doubt.
    ``cited`` is what the marks of an answer name. ``cited_ok`` is whether that bears the claim: None where nobody has
    decided, or where it is not known what the marks name.
    """

    start: int
    end: int
    text: str
    verdict: Verdict
    reasons: list[str]
    citations: list[VerifiedQuote]
    mark: Mark
    by: NotRequired[VerdictSource]
    judge: NotRequired[JudgeMark]
    why: NotRequired[list[Why]]
    cited: NotRequired[list[CitedSource]]
    cited_ok: NotRequired[bool | None]


class Verification(TypedDict):
    """Verified claims in order, how many have each verdict, and what it took.

    ``passed`` is whether none is contradicted or unsupported and, where asked strictly, none is unverified.
    ``judge`` is the model that was there to judge what code left open, None without one; ``fallback`` is why it could
    not be asked. ``degraded`` is the reason why a part of search was left out.
    """

    claims: list[VerifiedClaim]
    totals: dict[Verdict, int]
    passed: bool
    judge: str | None
    fallback: Failure | None
    degraded: str | None
    spent: dict[str, Spent]


async def verify_claims(
    claims: Sequence[str], evidence: Evidence, verifier: Verifier, question: str, *, strict: bool = False
) -> Verification:
    """Verify claims one by one; ``strict``: what is unverified does not pass.

    Raises InvalidRequest for more or larger ones than the limits allow.
    """
    _check_limits(claims, "claims")
    items = [ClaimToVerify(Section(text=text, source_ids=[]), 0, len(text), question=question) for text in claims]
    await _find_each(items, evidence, verifier)
    await verifier.check(items)
    await verifier.ask_judge(items, evidence)
    return _verification([_verified(item, evidence) for item in items], evidence, verifier, strict)


async def verify_answer(
    answer: str, evidence: Evidence, verifier: Verifier, question: str, *, strict: bool = False
) -> Verification:
    """Verify each claim of a Markdown answer. What its marks cite is looked at first, then everything else.

    ``strict``: what is unverified does not pass.
    Raises InvalidRequest for a larger answer, or one with more claims, than the limits allow.
    """
    _check_limits([answer], "answer")
    marked = await asyncio.to_thread(MarkedAnswer, answer)
    checked = await verifier.check_text(marked.text, evidence.common or (), question)
    if len(checked) > MOST_CLAIMS:
        raise InvalidRequest(
            f"answer: it has {len(checked)} claims, at most {MOST_CLAIMS} are verified at once.",
            suggestion="Verify it in parts.",
        )
    section = Section(text=marked.text, source_ids=[])
    items = [ClaimToVerify(section, each.start, each.end, question=question) for each in checked]
    spans = [marked.written_span(item.start, item.end) for item in items]
    marks = marked.marks_by_claim(spans)
    for item, own in zip(items, marks, strict=True):
        item.cited = await evidence.read_cited(item.text, own) if own else None
    await _find_each(items, evidence, verifier)
    if evidence.common is not None:
        for item, each in zip(items, checked, strict=True):
            item.row = merged_row(item, [each])
    await verifier.check(items)
    await verifier.ask_judge(items, evidence)
    claims = [_verified(item, evidence) for item in items]
    for claim, (start, end), own, item in zip(claims, spans, marks, items, strict=True):
        claim["start"], claim["end"], claim["text"] = start, end, answer[start:end]
        claim["cited"] = [source for mark in own for source in evidence.name_cited(mark)]
        claim["cited_ok"] = False if item.cited == () and evidence.is_lost(own) else _cited_ok(item)
    return _verification(claims, evidence, verifier, strict)


def _check_limits(texts: Sequence[str], name: str) -> None:
    if len(texts) > MOST_CLAIMS:
        raise InvalidRequest(
            f"{name}: there are {len(texts)}, at most {MOST_CLAIMS} are verified at once.",
            suggestion="Verify them in parts.",
        )
    size = sum(len(text.encode(errors="replace")) for text in texts)
    if size > MOST_BYTES:
        raise InvalidRequest(
            f"{name}: {size:,} bytes, at most {MOST_BYTES:,} are verified at once.", suggestion="Verify it in parts."
        )
    if not all(text.strip() for text in texts):
        raise InvalidRequest(f"{name}: a blank text claims nothing.", suggestion="Write what is to be verified.")


async def _find_each(items: Sequence[ClaimToVerify], evidence: Evidence, verifier: Verifier) -> None:
    """Look each claim up; what it cites comes first. One that was not searched for stays unverified."""
    began = time.perf_counter()
    for item in items:
        found = await evidence.find(item.text, meter=verifier.meter)
        ids = {each.segment_id for each in item.cited or ()}
        item.segments = (*(item.cited or ()), *(each for each in found or () if each.segment_id not in ids))
        if not item.segments and found is None:
            item.row = claim_row(0, item.start, item.end, "unverified", [NOT_SEARCHED])
    if evidence.common is None:
        verifier.spend("search_segments", began)


def _verified(item: ClaimToVerify, evidence: Evidence) -> VerifiedClaim:
    segments = {each.segment_id: each for each in item.segments}
    claim = build_claim(item.final, item.section, segments, dict.fromkeys(segments, 0))
    verified = VerifiedClaim(
        start=claim["start"],
        end=claim["end"],
        text=claim["text"],
        verdict=claim["verdict"],
        reasons=claim["reasons"],
        citations=[_quote(segments[each["segment_id"]], each, evidence) for each in claim["citations"]],
        mark=mark_of(claim),
    )
    if "by" in claim:
        verified["by"] = claim["by"]
    if "judge" in claim:
        verified["judge"] = claim["judge"]
    if "why" in claim:
        verified["why"] = claim["why"]
    return verified


def _quote(segment: Segment, citation: Citation, evidence: Evidence) -> VerifiedQuote:
    number = evidence.number_of(segment)
    quote = VerifiedQuote(
        source=number,
        document_id=segment.document_id if number is None else None,
        segment_id=segment.segment_id if number is None else None,
        page_idx=citation["page_idx"],
        title=segment.title,
        heading=" > ".join(citation.get("heading_path", [])),
        url=segment.url,
        start=citation["start"],
        end=citation["end"],
        quote=citation["quote"],
    )
    if "context" in citation:
        quote["context"] = citation["context"]
    return with_place(quote, place_of(citation))


def _cited_ok(item: ClaimToVerify) -> bool | None:
    """Whether what a claim cites bears it; code says no where it found a copy elsewhere and nothing like it there."""
    cited = item.cited_row
    if cited is None:
        return None
    if cited["verdict"] != "unverified":
        return cited["verdict"] == "supported"
    return False if cited.get("doubted") and item.final["verdict"] == "supported" else None


def _verification(claims: list[VerifiedClaim], evidence: Evidence, verifier: Verifier, strict: bool) -> Verification:
    failing: frozenset[Verdict] = DOUBTED | {"unverified"} if strict else DOUBTED
    totals: dict[Verdict, int] = dict.fromkeys(reversed(WORST_FIRST), 0)
    for claim in claims:
        totals[claim["verdict"]] += 1
    return Verification(
        claims=claims,
        totals=totals,
        passed=not any(totals[each] for each in failing),
        judge=verifier.judge.name if verifier.judge is not None else None,
        fallback=verifier.failure,
        degraded=evidence.degraded,
        spent=verifier.spent,
    )
