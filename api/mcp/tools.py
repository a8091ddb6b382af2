"""The tools: search, fetch, read, ask and verify, over an open library and on behalf of one identity a call."""

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

import anyio

from answers.citations import context_of_quote
from answers.entries import entries_of
from answers.verification import Verification
from api.auditing import Audited
from api.dependencies import GrantedRunner, Needs
from api.dialects.annotated_text import SourceAddresses
from api.dialects.openai_api import STEPS as ANSWERING_STEPS
from api.fields import ChatOptions
from api.mcp.tool_schemas import (
    Answer,
    AskArguments,
    FetchArguments,
    FetchedPlace,
    FetchedText,
    FoundSegment,
    LinkedCitation,
    ReadArguments,
    ReadText,
    SearchArguments,
    SearchResults,
    SegmentPlace,
    VerifyArguments,
)
from api.routes.verify_routes import VerifyRequest, run_verification
from api.stream import stop_watching
from api.turns import Turns
from graph.entrypoint import Citewell
from graph.errors import CitewellError, InvalidRequest, NotFound
from graph.events import AnyEvent, PagesLoaded, RunFailed, RunFinished, SearchFailed, SourcesFound, StepStarted
from graph.evidence import CitationContext, Identity, Segment, Source, StopReason
from graph.ports import SearchQuery
from tools.auth.identities import EVERYTHING, Rights, Scope
from tools.runs.runner import Runner
from tools.sessions.run_request import RunReader
from tools.settings import Settings

log = logging.getLogger("citewell.mcp")

STEPS = {**ANSWERING_STEPS, "abstain": "Saying that the sources hold no answer"}
SEGMENTS_A_PART = 20  # about 6,000 tokens
Report = Callable[[str], Awaitable[None]]


class RunNotAnswered(CitewellError):
    """A run that failed, with the code and the advice of its end."""

    def __init__(self, end: RunFailed, run_id: str) -> None:
        super().__init__(end.message, suggestion=end.suggestion)
        self.end = end
        self.run_id = run_id


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What the tools of one call work on, and the ``scopes`` of its credentials; nothing is kept between calls.

    ``base_url`` is where a browser reaches the service, "" where it can't; ``report`` tells a run's steps.
    """

    citewell: Citewell
    settings: Settings
    turns: Turns
    runner: Runner | GrantedRunner
    base_url: str
    scopes: frozenset[Scope] = EVERYTHING
    audited: Audited = field(default_factory=Audited)
    report: Report | None = None

    def check(self, *needed: Scope) -> None:
        """Raise NotPermitted unless the credentials have one of these scopes."""
        Needs(needed).check(Rights(self.scopes))

    async def addresses(self, me: Identity) -> SourceAddresses:
        """Return the addresses of what an identity is told. Raises DatabaseUnavailable."""
        return SourceAddresses(self.base_url, await self.citewell.library.links.signer(me))

    async def search(self, asked: SearchArguments, me: Identity) -> SearchResults:
        """Search the library by words and meaning. Raises DatabaseUnavailable."""
        found = await self.citewell.library.searcher.search(
            SearchQuery(
                asked.query,
                me,
                top_k=asked.top_k,
                min_score=asked.min_score,
                spaces=tuple(asked.spaces),
                document_ids=tuple(map(str, asked.document_ids)),
                expand=0,
            )
        )
        addresses = await self.addresses(me)
        results = [_found(hit.segment, hit.score, addresses) for hit in found.hits]
        return SearchResults(query=asked.query, degraded=found.degraded, results=results)

    async def fetch(self, asked: FetchArguments, me: Identity) -> FetchedText:
        """Read the part of a document that a passage stands in, or its first part. Raises NotFound."""
        document_id, _, index = asked.id.partition(":")
        part = int(index or 0) // SEGMENTS_A_PART + 1
        try:
            read = await self._read(ReadArguments(document_id=UUID(document_id), part=part), me)
        except InvalidRequest:
            raise NotFound(f"There is no passage {asked.id}.", suggestion="Send an id that `search` returns.") from None
        following = f"{read.document_id}:{part * SEGMENTS_A_PART}" if part < (read.parts or 0) else None
        url = (await self.addresses(me)).of(read.url, read.document_id, int(index or 0))
        place = FetchedPlace(document_id=read.document_id, start=read.start, end=read.end, next=following)
        return FetchedText(id=asked.id, title=read.title, text=read.text, url=url, metadata=place)

    async def read(self, asked: ReadArguments, me: Identity) -> ReadText:
        """Read a part of a document, the entry around an offset, or a segment. Raises NotFound, InvalidRequest."""
        read = await self._read(asked, me)
        index = int(read.segments[0].segment_id.rpartition(":")[2])
        read.url = (await self.addresses(me)).of(read.url, read.document_id, index)
        return read

    async def _read(self, asked: ReadArguments, me: Identity) -> ReadText:
        if asked.segment_id is not None:
            segments = await self.citewell.library.reader.read_segments([asked.segment_id], me)
            if not segments:
                raise NotFound(f"There is no segment {asked.segment_id}.")
            return _read("segment", segments, context=context_of_quote(segments[0], segments[0].start, segments[0].end))
        document_id = str(asked.document_id)
        if asked.offset is not None:
            return await self._read_entry(document_id, asked.offset, me)
        document = await self.citewell.library.documents.get(me, document_id)
        parts = max(1, -(-document.segments // SEGMENTS_A_PART))
        if asked.part > parts:
            raise InvalidRequest(f"part: the document has {parts} part{'s' if parts > 1 else ''}.")
        first = (asked.part - 1) * SEGMENTS_A_PART
        wanted = range(first, min(first + SEGMENTS_A_PART, document.segments))
        segments = await self.citewell.library.reader.read_segments([f"{document_id}:{each}" for each in wanted], me)
        if not segments:
            raise NotFound(f"There is no text of document {document_id}.")
        return _read("part", segments, part=asked.part, parts=parts)

    async def _read_entry(self, document_id: str, offset: int, me: Identity) -> ReadText:
        pages = await self.citewell.library.reader.read_pages([document_id], me)
        if not pages:
            raise NotFound(f"There is no document {document_id}.")
        segments = pages[0].segments
        if offset >= segments[-1].end:
            raise InvalidRequest(f"offset: the document ends at {segments[-1].end}.")
        segment = segments[max(0, bisect_right(segments, offset, key=lambda each: each.start) - 1)]
        return await asyncio.to_thread(_entry_at, segment, offset)

    async def ask(self, asked: AskArguments, me: Identity) -> Answer:
        """Answer a question in a run, whose steps are reported; a cancelled call cancels a run that no other follows.

        Raises RunNotAnswered where the run fails, and what starting one raises.
        """
        options = ChatOptions(
            page_ids=asked.document_ids,
            only_selected_pages=bool(asked.document_ids),
            spaces=asked.spaces,
            web=asked.web,
            model=asked.model,
        )
        run_request = options.to_run_request(asked.question, me, self.settings.run_knobs)
        session_id = str(asked.session_id) if asked.session_id else None
        if session_id is None:
            created = await self.citewell.library.sessions.create(me, ephemeral=True, dialect="mcp")
            session_id = created.session_id
        try:
            run = await self.runner.start(session_id, run_request)
        except CitewellError:
            if asked.session_id is None:  # else each try of a full service would leave an empty session
                with suppress(CitewellError):
                    await self.citewell.library.sessions.delete(me, session_id)
            raise
        run.watchers += 1
        left = False
        try:
            end, notices = await _follow(run, self.report)
        except anyio.get_cancelled_exc_class():
            left = True
            raise
        finally:
            reason = stop_watching(run, "cancel", left=left, reason="cancel_requested")
            if reason is not None:
                with anyio.CancelScope(shield=True):
                    await _cancel(run, reason)
        if isinstance(end, RunFailed):
            raise RunNotAnswered(end, run.run_id)
        message = end.message
        addresses = await self.addresses(me)
        addresses.learn(message["sources"])

        def linked(sources: Sequence[Source]) -> list[Source]:
            return [{**source, "url": addresses.url(source)} for source in sources]

        # Citations are asked first: a link to a page marks the first quote that it is asked for.
        citations = [LinkedCitation(**each, url=addresses.cited(each)[0]) for each in message["citations"]]
        return Answer(
            session_id=run.session_id,
            run_id=run.run_id,
            message_id=run.message_id,
            outcome=end.outcome,
            stop_reason=end.stop_reason,
            answer=message["answer"],
            sections=message["sections"],
            citations=citations,
            sources=linked(message["sources"]),
            nearest=linked(message.get("nearest", [])),
            assessment=message.get("assessment"),
            notices=notices,
            message=message,
        )

    async def verify(self, asked: VerifyArguments, me: Identity) -> Verification:
        """Verify the claims of a text against given sources, some documents, or the library. Raises Overloaded."""
        request = VerifyRequest(
            answer=asked.text,
            question=asked.question,
            sources=asked.sources,
            document_ids=asked.document_ids,
            strict=asked.strict,
        )
        return await run_verification(request, me, self.citewell.library, self.turns)


async def _follow(run: RunReader, report: Report | None) -> tuple[RunFinished | RunFailed, list[str]]:
    """Read a run to its end; return that and what it fell back from."""
    notices: dict[str, None] = {}
    async for envelope in run.events():
        event = envelope.event
        notices.update(dict.fromkeys(_notices(event)))
        if isinstance(event, RunFinished | RunFailed):
            return event, list(notices)
        if isinstance(event, StepStarted) and report is not None:
            await report(STEPS.get(event.step, event.step.replace("_", " ")))
    raise AssertionError("a log ends with its terminal event")


def _notices(event: AnyEvent) -> Iterator[str]:
    if isinstance(event, SearchFailed):
        yield event.message
    elif isinstance(event, SourcesFound) and event.degraded:
        yield event.degraded
    elif isinstance(event, PagesLoaded):
        yield from (f"Of {each['title']}, {each['segments']} of {each['of']} segments were read." for each in event.cut)
        yield from (f"Document {each} was not read." for each in event.unused)
    elif fallback := getattr(event, "fallback", None):
        yield fallback["message"]


async def _cancel(run: RunReader, reason: StopReason) -> None:
    try:
        await run.cancel(reason)
    except CitewellError as error:
        log.warning("run %s: could not be cancelled: %s", run.run_id, error.code)


def _found(segment: Segment, score: float, addresses: SourceAddresses) -> FoundSegment:
    shown = {name: getattr(segment, name) for name in FoundSegment.model_fields.keys() - {"id", "score", "url"}}
    url = addresses.of(segment.url, segment.document_id, segment.segment_index)
    return FoundSegment(**shown, id=segment.segment_id, url=url, score=round(score, 4))


def _read(
    kind: Literal["part", "segment", "entry"],
    segments: Sequence[Segment],
    *,
    span: tuple[int, int] | None = None,
    part: int | None = None,
    parts: int | None = None,
    context: list[CitationContext] | None = None,
) -> ReadText:
    """Return consecutive segments, or the span of their text, as what was read."""
    first, last = segments[0], segments[-1]
    start, end = span or (first.start, last.end)
    text = "".join(each.text for each in segments)
    return ReadText(
        kind=kind,
        document_id=first.document_id,
        title=first.title,
        url=first.url or "",
        start=start,
        end=end,
        text=text[start - first.start : end - first.start],
        part=part,
        parts=parts,
        context=context or [],
        segments=[SegmentPlace.model_validate(each, from_attributes=True) for each in segments],
    )


def _entry_at(segment: Segment, offset: int) -> ReadText:
    """Return the entry at an offset, or else the one before it; the whole segment where it has none."""
    entries = entries_of(segment)
    if not entries:
        return _read("segment", [segment])
    entry = entries[max(0, bisect_right(entries, offset, key=lambda each: each.start) - 1)]
    context = context_of_quote(segment, entry.start, entry.end)
    return _read("entry", [segment], span=(entry.start, entry.end), context=context)
