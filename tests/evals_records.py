"""Records made by hand: of a question that was answered rightly, or bare ones in which a test names every part."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from evals.records import CitationRecord, ClaimRecord, GoldSentence, Record, RetrievedSegment, SectionRecord, SourceText
from graph.evidence import Verdict

FIRST_BOAT = "The first boat leaves Askvik at 6:40."
FARE = "A single fare is 12 kroner."


def gold(text: str = FIRST_BOAT, *, document: str = "ferry", index: int = 0, start: int = 0) -> GoldSentence:
    """A sentence of gold evidence, at the start of its document unless told otherwise."""
    return GoldSentence(document=document, index=index, start=start, end=start + len(text), text=text)


def retrieved(*documents: str) -> list[RetrievedSegment]:
    """A segment of each document, best first; a document named twice gives two."""
    return [
        RetrievedSegment(
            segment_id=f"{document}:{place}", document=document, start=0, end=80, score=round(0.9 - 0.1 * place, 2)
        )
        for place, document in enumerate(documents)
    ]


def segment(document: str, start: int, end: int) -> RetrievedSegment:
    """A segment at a place of its document."""
    return RetrievedSegment(segment_id=f"{document}:{start}", document=document, start=start, end=end, score=0.5)


def source(document: str = "ferry", text: str = f"{FIRST_BOAT} {FARE}") -> SourceText:
    """A segment that the writer was given."""
    return SourceText(
        segment_id=f"{document}:0", document=document, title=document.title(), text=text, kind="search", score=0.9
    )


def citation(quote: str = FIRST_BOAT, **changes: Any) -> CitationRecord:
    """An exact quote of the ferry's first sentence."""
    plain = CitationRecord(
        segment_id="ferry:0",
        document="ferry",
        start=0,
        end=len(quote),
        quote=quote,
        origin="cited",
        sentences=[0],
        segment_sentences=[0, 1],
        exact=True,
        offered=True,
    )
    return cast(CitationRecord, {**plain, **changes})


def claim(
    text: str = FIRST_BOAT,
    *citations: CitationRecord,
    verdict: Verdict = "supported",
    section: int = 0,
    reasons: tuple[str, ...] = (),
    **changes: Any,
) -> ClaimRecord:
    """A claim that is supported by a quote of itself unless told otherwise."""
    plain = ClaimRecord(
        section=section, text=text, verdict=verdict, reasons=list(reasons), citations=list(citations or (citation(),))
    )
    return cast(ClaimRecord, {**plain, **changes})


def section(text: str = FIRST_BOAT, *source_ids: str, unknown_ids: int = 0) -> SectionRecord:
    """A section that cites the ferry's first segment unless told otherwise."""
    return SectionRecord(text=text, source_ids=list(source_ids or ("ferry:0",)), unknown_ids=unknown_ids)


def record(case_id: str = "q1", **changes: Any) -> Record:
    """A question that was answered rightly, with one exact quote of its gold sentence."""
    plain = Record(
        case_id=case_id,
        variant="asked",
        question="When does the first boat leave?",
        before=[],
        pages=[],
        tags={"language": "en", "kind": "answerable"},
        expected="answered",
        answers=["6:40"],
        evidence=[[gold()]],
        accepted=[],
        outcome="answered",
        stop_reason="answer_complete",
        error=None,
        standalone_question="When does the first boat leave?",
        queries=[],
        retrieved=retrieved("ferry", "museum", "bakery"),
        pages_read=[],
        sources=[source()],
        answer=FIRST_BOAT,
        written=[section()],
        first_claims=[claim()],
        sections=[section()],
        claims=[claim()],
        disagreements=[],
        family="extractive",
        model="extractive",
        ms=20.0,
        first_text_ms=15.0,
        spent={"search_segments": {"calls": 0, "tokens": 0, "ms": 9.0}},
    )
    return cast(Record, {**plain, **changes})


def refused(case_id: str = "q1", **changes: Any) -> Record:
    """A question that was refused; rightly so where ``expected`` is given as "abstained"."""
    nothing: dict[str, Any] = {
        "outcome": "abstained",
        "stop_reason": "nothing_relevant",
        "answer": "I found no answer in these documents.",
        "written": [],
        "first_claims": [],
        "sections": [],
        "claims": [],
        "first_text_ms": None,
    }
    return record(case_id, **{**nothing, **changes})


def failed(case_id: str = "q1", **changes: Any) -> Record:
    """A question whose run failed."""
    nothing: dict[str, Any] = {
        "outcome": "failed",
        "stop_reason": "error",
        "answer": "",
        "error": {"code": "model_unavailable", "message": "The model did not answer.", "suggestion": "Start it."},
        "sources": [],
    }
    return refused(case_id, **{**nothing, **changes})


def bare(case_id: str = "q1", evidence: Iterable[Sequence[GoldSentence]] = (), **changes: Any) -> Record:
    """A question that was answered, of which nothing more is known than a test says."""
    nothing: dict[str, Any] = {
        "tags": {},
        "answers": [],
        "evidence": [list(chosen) for chosen in evidence],
        "retrieved": [],
        "sources": [],
        "answer": "",
        "written": [],
        "first_claims": [],
        "sections": [],
        "claims": [],
        "spent": {},
    }
    return record(case_id, **{**nothing, **changes})


def citing(*citations: CitationRecord, evidence: Iterable[Sequence[GoldSentence]], **changes: Any) -> Record:
    """A bare answer of one claim with these citations."""
    return bare(evidence=evidence, claims=[stated(*citations)], **changes)


def sentences(document: str, *indices: int) -> list[GoldSentence]:
    """Sentences of a document, each 10 code points long."""
    return [gold(f"{document} {i}".ljust(10), document=document, index=i, start=10 * i) for i in indices]


def quote(document: str, *places: int, text: str = "quoted", **changes: Any) -> CitationRecord:
    """A quote of such sentences, which are a segment of their own."""
    plain: dict[str, Any] = {
        "segment_id": f"{document}:{min(places, default=0)}",
        "document": document,
        "start": 10 * min(places, default=0),
        "end": 10 * max(places, default=0) + 10,
        "sentences": list(places),
        "segment_sentences": list(places),
    }
    return citation(text, **{**plain, **changes})


def stated(
    *citations: CitationRecord, text: str = "claimed", section: int = 0, verdict: Verdict = "supported"
) -> ClaimRecord:
    """A claim with these citations and no others."""
    return ClaimRecord(section=section, text=text, verdict=verdict, reasons=[], citations=list(citations))


def section_of(*source_ids: str, unknown_ids: int = 0) -> SectionRecord:
    """A section that cites these ids and no others."""
    return SectionRecord(text="written", source_ids=list(source_ids), unknown_ids=unknown_ids)


def passage(segment_id: str, text: str, title: str = "Page") -> SourceText:
    """A segment that the writer was given, by its id."""
    return SourceText(segment_id=segment_id, document="page", title=title, text=text, kind="search", score=1.0)
