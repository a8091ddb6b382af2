"""Recorder of cases run through the real graph, with the data set's own document names."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager

from answers.citations import segments_of
from answers.marks import mark_of
from answers.standing import RunView, SectionView
from evals.case_run import FollowedRun, ask_case, context_of
from evals.cases import Case, Document, Sentence
from evals.dataset_store import StoredDataSet
from evals.gold_passages import quote_hits
from evals.records import (
    CitationRecord,
    ClaimRecord,
    GoldPassage,
    GoldSentence,
    GoldTrap,
    NearestPassage,
    PageRecord,
    PlantedRecord,
    Record,
    RetrievedSegment,
    SectionRecord,
    SourceText,
    Variant,
)
from graph.context import Context
from graph.entrypoint import Citewell
from graph.errors import CitewellError
from graph.events import RunFailed, RunFinished
from graph.evidence import Citation, Claim, Failure, Segment, Source, Spent
from graph.ports import SearchQuery


class Recorder:
    """Asks cases of a stored data set, each in its own session, and records the outcomes."""

    def __init__(self, citewell: Citewell, stored: StoredDataSet, context: Context) -> None:
        self._citewell = citewell
        self._stored = stored
        self._context = context
        self._documents = {stored.ids[name]: document for name, document in stored.data.by_name.items()}

    async def ask(
        self, case: Case, variant: Variant = "asked", *, under: AbstractContextManager[None] | None = None
    ) -> Record:
        """Ask a case, its earlier questions first; the record of a failed run holds the error.

        ``under`` is a context manager around the case's own run, not around the earlier ones.
        """
        context = context_of(case, self._context)
        try:
            followed = await ask_case(self._citewell, self._stored, case, context, under=under)
        except CitewellError as error:
            failure = RunFailed(
                code=error.code, message=error.message, suggestion=error.advice, retryable=type(error).retryable
            )
            followed = FollowedRun(view=RunView(end=failure), standalone_question=case.question)
        return await self._record(case, variant, context, followed)

    async def _record(self, case: Case, variant: Variant, context: Context, followed: FollowedRun) -> Record:
        standalone = followed.standalone_question
        record = Record(
            case_id=case.case_id,
            variant=variant,
            question=case.question,
            before=list(case.before),
            pages=list(case.pages),
            tags=dict(case.tags),
            expected="abstained" if variant == "removed" else case.expected,
            answers=list(case.answers),
            evidence=[self._gold(chosen) for chosen in case.evidence],
            accepted=self._gold(case.accepted),
            outcome="failed",
            stop_reason="error",
            error=None,
            standalone_question=standalone,
            queries=followed.queries,
            retrieved=await self._retrieved(context, standalone, case),
            pages_read=[self._page(page["document_id"], page["segments"], page["of"]) for page in followed.pages],
            sources=[],
            answer="",
            written=[_section(each) for _, each in sorted(followed.view.first.items())],
            first_claims=[],
            sections=[],
            claims=[],
            disagreements=[each["segment_ids"] for each in followed.view.disagreements],
            family=followed.family,
            model=followed.model,
            ms=round(followed.ms, 2),
            first_text_ms=None if followed.first_text_ms is None else round(followed.first_text_ms, 2),
            spent={},
        )
        _add_annotations(record, case)
        end = followed.view.end
        if isinstance(end, RunFinished):
            await self._take_message(record, context, followed.view, end)
        elif end is not None:
            record["error"] = Failure(code=end.code, message=end.message, suggestion=end.suggestion)
        return record

    async def _take_message(self, record: Record, context: Context, view: RunView, end: RunFinished) -> None:
        message = end.message
        offered = {segment_id: source for source in message["sources"] for segment_id in segments_of(source)}
        segments = await self._citewell.library.reader.read_segments(list(offered), context.identity)
        read = {segment.segment_id: segment for segment in segments}
        record["outcome"], record["stop_reason"], record["spent"] = end.outcome, end.stop_reason, _spent(end)
        record["answer"] = message["answer"]
        record["answerhood"] = message.get("assessment", {}).get("answerhood")
        if nearest := message.get("nearest"):
            record["nearest"] = [self._nearest(source) for source in nearest]
        record["sources"] = [
            SourceText(
                segment_id=segment.segment_id,
                document=self._name(segment.document_id),
                title=segment.title,
                text=segment.text,
                kind=offered[segment.segment_id]["kind"],
                score=offered[segment.segment_id]["score"],
            )
            for segment in segments
        ]
        record["first_claims"] = [
            self._claim(position, claim, read)
            for position, (_, section) in enumerate(sorted(view.first.items()))
            for claim in section.claims
        ]
        if end.outcome == "answered":
            written = [_section(each) for each in view.written]
            # If a section's sources were found by matching its text, only the message has their ids.
            for section, final in zip(written, message["sections"], strict=False):
                section["source_ids"] = final["source_ids"]
            record["sections"] = written
            record["claims"] = [self._claim(claim["section_index"], claim, read) for claim in message.get("claims", [])]

    def _claim(self, section: int, claim: Claim, read: Mapping[str, Segment]) -> ClaimRecord:
        return ClaimRecord(
            section=section,
            text=claim["text"],
            verdict=claim["verdict"],
            reasons=claim["reasons"],
            citations=[self._citation(citation, read) for citation in claim["citations"]],
            mark=mark_of(claim),
        )

    def _citation(self, citation: Citation, read: Mapping[str, Segment]) -> CitationRecord:
        document = self._documents.get(citation["document_id"])
        start, end, quote = citation["start"], citation["end"], citation["quote"]
        segment = read.get(citation["segment_id"])
        record = CitationRecord(
            segment_id=citation["segment_id"],
            document=self._name(citation["document_id"]),
            start=start,
            end=end,
            quote=quote,
            origin=citation["origin"],
            sentences=_indices(document, start, end),
            segment_sentences=_indices(document, segment.start, segment.end) if segment else [],
            exact=document is not None and quote != "" and document.text[start:end] == quote,
            offered=segment is not None,
        )
        if headings := citation.get("heading_path"):
            record["heading_path"] = headings
        if context := citation.get("context"):
            record["context"] = context
        return record

    def _nearest(self, source: Source) -> NearestPassage:
        nearest = NearestPassage(
            document=self._name(source["document_id"]), start=source["start"], text=source["excerpt"]
        )
        if passage := source.get("passage"):
            nearest["start"], nearest["text"] = passage["start"], passage["quote"]
            nearest["heading_path"], nearest["context"] = passage["heading_path"], passage["context"]
        if "answerhood" in source:
            nearest["answerhood"] = source["answerhood"]
        return nearest

    async def _retrieved(self, context: Context, question: str, case: Case) -> list[RetrievedSegment]:
        if context.only_selected_pages or context.search == "off":
            return []
        query = SearchQuery(
            question,
            context.identity,
            top_k=context.top_k,
            min_score=context.min_score,
            spaces=tuple(context.spaces),
        )
        found = await self._citewell.library.searcher.search(query)
        gold = [(each.document, each.text) for each in case.passages] or [
            (each.document, self._stored.data.by_name[each.document].sentence_text(each))
            for each in frozenset[Sentence]().union(*case.evidence)
        ]
        return [
            RetrievedSegment(
                segment_id=hit.segment.segment_id,
                document=self._name(hit.segment.document_id),
                start=hit.segment.start,
                end=hit.segment.end,
                score=round(hit.score, 4),
                gold=any(
                    document == self._name(hit.segment.document_id) and quote_hits(hit.segment.text, text)
                    for document, text in gold
                ),
            )
            for hit in found.hits
        ]

    def _gold(self, sentences: Iterable[Sentence]) -> list[GoldSentence]:
        return [_gold_sentence(self._stored.data.by_name[each.document], each) for each in sorted(sentences)]

    def _page(self, document_id: str, read: int, of: int) -> PageRecord:
        return PageRecord(document=self._name(document_id), read=read, of=of)

    def _name(self, document_id: str) -> str:
        document = self._documents.get(document_id)
        return document.name if document is not None else document_id


def _gold_sentence(document: Document, sentence: Sentence) -> GoldSentence:
    start, end = document.spans[sentence.index]
    return GoldSentence(
        document=document.name, index=sentence.index, start=start, end=end, text=document.sentence_text(sentence)
    )


def _add_annotations(record: Record, case: Case) -> None:
    if case.passages:
        record["passages"] = [
            GoldPassage(document=each.document, text=each.text, alternative=each.alternative) for each in case.passages
        ]
    if case.all_of:
        record["all_of"] = [list(group) for group in case.all_of]
    if case.planted:
        record["planted"] = [PlantedRecord(text=each.text, faithful=each.faithful) for each in case.planted]
    if case.trap is not None:
        record["trap"] = GoldTrap(text=case.trap.text, governs=case.trap.governs)


def _indices(document: Document | None, start: int, end: int) -> list[int]:
    return [sentence.index for sentence in document.sentences_in(start, end)] if document is not None else []


def _section(view: SectionView) -> SectionRecord:
    return SectionRecord(text=view.text, source_ids=list(view.source_ids), unknown_ids=view.unknown_ids)


def _spent(end: RunFinished) -> dict[str, Spent]:
    return {node: spent for node, spent in end.spent.items() if spent["calls"] or spent["ms"]}
