"""Records of an evaluation, made by hand: an answered question whose parts a test names and the rest is plain."""

from collections.abc import Iterable, Sequence
from typing import Any

from evals.records import CitationRecord, ClaimRecord, GoldSentence, Record, RetrievedSegment, SectionRecord, SourceText
from graph.evidence import Verdict


def gold(document: str, *indices: int) -> list[GoldSentence]:
    """Name sentences of a document, each 10 long."""
    return [
        GoldSentence(document=document, index=i, start=10 * i, end=10 * i + 10, text=f"{document} {i}") for i in indices
    ]


def quote(document: str, *sentences: int, text: str = "quoted", **changed: Any) -> CitationRecord:
    whole = CitationRecord(
        segment_id=f"{document}:0",
        document=document,
        start=10 * min(sentences, default=0),
        end=10 * max(sentences, default=0) + 10,
        quote=text,
        origin="cited",
        sentences=list(sentences),
        segment_sentences=list(sentences),
        exact=True,
        offered=True,
    )
    return CitationRecord(**{**whole, **changed})


def claim(
    *citations: CitationRecord, text: str = "claimed", section: int = 0, verdict: Verdict = "supported"
) -> ClaimRecord:
    return ClaimRecord(section=section, text=text, verdict=verdict, reasons=[], citations=list(citations))


def section(*source_ids: str, unknown: int = 0) -> SectionRecord:
    return SectionRecord(text="written", source_ids=list(source_ids), unknown_ids=unknown)


def source(segment_id: str, text: str, title: str = "Page") -> SourceText:
    return SourceText(segment_id=segment_id, document="page", title=title, text=text, kind="search", score=1.0)


def retrieved(*documents: str) -> list[RetrievedSegment]:
    """Give one segment of each document, of its first 100 code points; the best first."""
    return [segment(document) for document in documents]


def segment(document: str, start: int = 0, end: int = 100) -> RetrievedSegment:
    return RetrievedSegment(segment_id=f"{document}:{start}", document=document, start=start, end=end, score=0.5)


def record(case_id: str = "q1", evidence: Sequence[Sequence[GoldSentence]] = (), **changed: Any) -> Record:
    plain = Record(
        case_id=case_id,
        variant="asked",
        question="What is it?",
        before=[],
        pages=[],
        tags={},
        expected="answered",
        answers=[],
        evidence=[list(each) for each in evidence],
        accepted=[],
        outcome="answered",
        stop_reason="answer_complete",
        error=None,
        standalone_question="What is it?",
        queries=[],
        retrieved=[],
        retrieved_as_asked=None,
        pages_read=[],
        sources=[],
        answer="",
        written=[],
        first_claims=[],
        sections=[],
        claims=[],
        disagreements=[],
        family="extractive",
        model="extractive",
        ms=10.0,
        first_text_ms=5.0,
        spent={},
    )
    return Record(**{**plain, **changed})


def citing(*citations: CitationRecord, evidence: Iterable[Sequence[GoldSentence]], **changed: Any) -> Record:
    """Make an answer of one claim with these citations."""
    return record(evidence=list(evidence), claims=[claim(*citations)], **changed)
