"""Guides of documents, and questions that the library is known to answer: to begin with, and to go on with.

Each is made when it is first wanted, and stored. Questions are those that documents ask themselves, and, where the
deployment wants it, those that its model proposes. None is offered that was not asked and answered before.
"""

import asyncio
import logging
import time
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from typing_extensions import TypedDict

from graph.errors import CitewellError
from graph.evidence import Identity, Segment
from graph.ports import Families, SegmentReader
from graph.usage import Meter
from text.language import language
from text.normal_forms import fold_case
from tools.concurrency.tasks import cancel_and_wait
from tools.guides.guide_store import GuideStore
from tools.guides.outlines import GuideHeading, GuideSentence, first_sentences, guide_outline
from tools.guides.own_questions import Candidate, names_a_matter, own_questions
from tools.guides.proving import Prover
from tools.sessions.history import StoredMessage
from tools.sessions.session_store import Sessions
from tools.spending.charges import Spending

log = logging.getLogger("citewell.guides")

OFFERED = 3  # questions at once, and documents to begin with
HEADINGS = 3  # of a document to begin with
MOST_TRIED = 10  # questions that are asked for three of them
MOST_SECONDS = 6.0  # that asking them may take
MODEL_SECONDS = 20.0
MOST_CALLS = 2  # one, and one retry if the endpoint failed or refused the request format
NEWEST = 12  # documents that suggestions are taken from
MADE_AT_ONCE = 4  # guides that one request for suggestions begins
PATIENCE_SECONDS = 2.0  # that such a request waits for them
AT_ONCE = 2  # guides or follow-ups that a process makes
NEIGHBOURS = 3  # segments before and after a cited one
MOST_CITED = 2  # documents of an answer that are gone on from
TURNS_READ = 20  # messages back that are not asked again
MODEL_SEGMENTS = 12

Maker = Literal["documents", "model", "off"]
Status = Literal["ready", "making"]


class ProvenQuestion(TypedDict):
    """A question that the library answers, and the quote by which it does: ``canonical_text[start:end] == quote``."""

    question: str
    language: str
    document_id: str
    title: str
    segment_id: str
    start: int
    end: int
    quote: str


class Guide(TypedDict):
    """How a document begins, its headings or lines of contents, and questions that the library answers from it."""

    document_id: str
    title: str
    version: int
    sentences: list[GuideSentence]
    outline: list[GuideHeading]
    questions: list[ProvenQuestion]


class GuideBeginning(TypedDict):
    """A document to begin with, and its first headings."""

    document_id: str
    title: str
    outline: list[GuideHeading]


class Suggestions(TypedDict):
    """Questions and documents to begin with. ``making``: there may be more of them soon."""

    status: Status
    questions: list[ProvenQuestion]
    documents: list[GuideBeginning]


class FollowUps(TypedDict):
    """Questions to go on with after an answer, None where there is no answer yet.

    ``guides`` are of the documents that it quotes, where it was asked for what takes a model, such as a summary.
    """

    message_id: str | None
    questions: list[ProvenQuestion]
    guides: list[Guide]


class Guides:
    """Makes guides and questions; each is made once, when somebody first wants it, and few at a time.

    ``by`` is whose questions are offered: those of documents, those beside them that the deployment's model proposes,
    or nobody's.
    """

    def __init__(
        self,
        store: GuideStore,
        reader: SegmentReader,
        sessions: Sessions,
        prover: Prover,
        families: Families,
        spending: Spending,
        by: Maker = "documents",
    ) -> None:
        self._store = store
        self._reader = reader
        self._sessions = sessions
        self._prover = prover
        self._families = families
        self._spending = spending
        self._by = by
        self._making: dict[tuple[str, ...], asyncio.Task[Any]] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def guide(self, identity: Identity, document_id: str) -> Guide:
        """Return a document's guide, and make it if its present text has none. Raises NotFound."""
        stored = await self._store.guide(identity, document_id)
        return _guide(stored) if stored is not None else await asyncio.shield(self._begin_guide(identity, document_id))

    async def suggestions(self, identity: Identity, *, languages: Sequence[str] = ()) -> Suggestions:
        """Return questions to begin with, of the documents changed last, those in the first of the languages first.

        Each is of another document, if there are enough. With them come those documents that have headings. Guides that
        are missing are begun, and waited for a moment.
        """
        if self._by == "off":
            return Suggestions(status="ready", questions=[], documents=[])
        newest = await self._store.newest(identity, NEWEST)
        missing = [document_id for document_id, _, body in newest if body is None][:MADE_AT_ONCE]
        tasks = [self._begin_guide(identity, document_id) for document_id in missing]
        unfinished: set[asyncio.Task[Guide]] = set()
        if tasks:
            _, unfinished = await asyncio.wait(tasks, timeout=PATIENCE_SECONDS)
            newest = await self._store.newest(identity, NEWEST)
        guides = [_guide(body) for _, _, body in newest if body is not None]
        return Suggestions(
            status="making" if unfinished else "ready",
            questions=_offered(guides, languages),
            documents=[each for each in map(_beginning, guides) if each["outline"]][:OFFERED],
        )

    async def follow_ups(self, identity: Identity, session_id: str) -> FollowUps:
        """Return questions to go on with after the last answer of a session's branch. Raises NotFound.

        Strangers who share an identity open no documents, and so get no guides.
        """
        history = await self._sessions.get(identity, session_id, limit=TURNS_READ)
        last = history.messages[-1] if history.messages and not history.asked else None
        if self._by == "off" or last is None or last.outcome not in ("answered", "abstained"):
            return FollowUps(message_id=None, questions=[], guides=[])
        opens = not identity.is_shared and _asks_beyond_quotes(last.body)
        guides = await self._guides_of(identity, last.body) if opens else []
        if last.outcome == "abstained":
            return FollowUps(message_id=last.message_id if guides else None, questions=[], guides=guides)
        made = await self._store.follow_ups(identity, last.message_id)
        if made is None:
            work = self._make_follow_ups(identity, last, history.messages)
            begun: asyncio.Task[list[dict[str, Any]]] = self._begin(("answer", last.message_id), work)
            made = await asyncio.shield(begun)
        allowed = await self._store.versions(identity, [each["document_id"] for each in made])
        fresh = [each for each in made if allowed.get(each["document_id"]) == each["version"]]
        names = ProvenQuestion.__annotations__
        questions = [cast(ProvenQuestion, {name: each[name] for name in names}) for each in fresh]
        return FollowUps(message_id=last.message_id, questions=questions, guides=guides)

    async def _guides_of(self, identity: Identity, body: dict[str, Any]) -> list[Guide]:
        """Return the guides of the first documents that an answer quotes, or that came nearest."""
        rows = body.get("citations") or body.get("nearest") or ()
        named = list(dict.fromkeys(each["document_id"] for each in rows))
        allowed = await self._store.versions(identity, named)
        return [await self.guide(identity, each) for each in [each for each in named if each in allowed][:MOST_CITED]]

    async def close(self) -> None:
        """Stop what is being made."""
        await cancel_and_wait(*self._making.values())

    def _begin_guide(self, identity: Identity, document_id: str) -> asyncio.Task[Guide]:
        # Whom it is made for is part of the key: nobody waits for what somebody else may read.
        key = ("guide", identity.workspace, identity.user, *identity.readers, *(identity.spaces or ()), document_id)
        return self._begin(key, self._make_guide(identity, document_id))

    def _begin(self, key: tuple[str, ...], work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        known = self._making.get(key)
        if known is not None:
            work.close()
            return known
        task = asyncio.ensure_future(self._in_turn(work))
        self._making[key] = task
        task.add_done_callback(lambda done: self._ended(key, done))
        return task

    async def _in_turn(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            async with self._turn:
                return await work
        finally:
            work.close()

    def _ended(self, key: tuple[str, ...], task: asyncio.Task[Any]) -> None:
        self._making.pop(key, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            level = logging.INFO if isinstance(error, CitewellError) else logging.ERROR
            log.log(level, "What was begun for %s could not be made.", key[-1], exc_info=error)

    async def _make_guide(self, identity: Identity, document_id: str) -> Guide:
        version = await self._store.version(identity, document_id)
        pages = await self._reader.read_pages([document_id], identity)
        segments = pages[0].segments if pages else ()
        title = pages[0].title if pages else ""
        sentences, outline, own = await asyncio.to_thread(_read, segments)
        guide = Guide(
            document_id=document_id,
            title=title,
            version=version,
            sentences=sentences,
            outline=outline,
            questions=await self._questions(identity, own, segments),
        )
        await self._store.keep_guide(identity, document_id, version, guide)
        return guide

    async def _make_follow_ups(
        self, identity: Identity, answer: StoredMessage, messages: Sequence[StoredMessage]
    ) -> list[dict[str, Any]]:
        citations = [each for message in messages for each in message.body.get("citations", ())]
        quoted = [(each["document_id"], each["start"], each["end"]) for each in citations]
        asked = [message.content for message in messages if message.role == "user"]
        around = await self._neighbours(identity, answer)
        versions = await self._store.versions(identity, list({segment.document_id for segment in around}))
        own = await asyncio.to_thread(_nearest_questions, around)
        proven = await self._questions(identity, own, around, asked=asked, quoted=quoted)
        made: list[dict[str, Any]] = [
            {**each, "version": versions[each["document_id"]]} for each in proven if each["document_id"] in versions
        ]
        await self._store.keep_follow_ups(answer.message_id, made)
        return made

    async def _neighbours(self, identity: Identity, answer: StoredMessage) -> list[Segment]:
        """Return the segments around those that an answer cites, the nearest first, of at most two documents."""
        wanted: dict[str, int] = {}
        documents: dict[str, None] = {}
        for citation in answer.body.get("citations", ()):
            if citation.get("freshness") in ("withheld", "deleted", "changed"):
                continue
            document_id = citation["document_id"]
            if len(documents) < MOST_CITED:
                documents[document_id] = None
            if document_id not in documents:
                continue
            place = citation.get("now", citation)["segment_index"]
            for index in range(max(0, place - NEIGHBOURS), place + NEIGHBOURS + 1):
                distance = abs(index - place)
                segment_id = f"{document_id}:{index}"
                wanted[segment_id] = min(distance, wanted.get(segment_id, distance))
        return await self._reader.read_segments(sorted(wanted, key=lambda each: wanted[each]), identity)

    async def _questions(
        self,
        identity: Identity,
        own: Sequence[Candidate],
        segments: Sequence[Segment],
        *,
        asked: Sequence[str] = (),
        quoted: Sequence[tuple[str, int, int]] = (),
    ) -> list[ProvenQuestion]:
        """Return up to three questions that are answered: those of the segments, and a model's where these are fewer.

        None is one of those ``asked``, or is answered by what was ``quoted`` already.
        """
        if self._by == "off":
            return []
        titles = {segment.document_id: segment.title for segment in segments}
        proven = await self._proven(own, titles, identity, asked, quoted)
        if len(proven) < OFFERED:
            before = [each["question"] for each in proven]
            proposed = await self._proposed(identity, segments[:MODEL_SEGMENTS], asked=[*asked, *before])
            taken = [*quoted, *((each["document_id"], each["start"], each["end"]) for each in proven)]
            proven += await self._proven(proposed, titles, identity, asked, taken)
        return proven[:OFFERED]

    async def _proposed(
        self, identity: Identity, segments: Sequence[Segment], *, asked: Sequence[str]
    ) -> list[Candidate]:
        """Return what the deployment's model proposes, where it has one and it can be asked."""
        proposer = self._families("").proposer if self._by == "model" else None
        if proposer is None or not segments:
            return []
        spoken = language(" ".join(segment.text for segment in segments)[:5000])
        try:
            async with self._spending.beside_runs(identity, "suggestion"):
                meter = Meter(calls_left=MOST_CALLS, seconds_left=MODEL_SECONDS)
                found = await proposer.propose(segments, asked=asked, language=spoken, meter=meter)
        except CitewellError as error:
            log.info("No model proposed questions: %s", error.message)
            return []
        by_id = {segment.segment_id: segment for segment in segments}
        candidates = []
        for each in found:
            segment = by_id[each.segment_id]
            place = segment.text.find(each.quote)
            if place >= 0 and names_a_matter(each.question):
                start = segment.start + place
                end = start + len(each.quote)
                candidates.append(Candidate(each.question, segment.document_id, start, end))
        return candidates

    async def _proven(
        self,
        candidates: Iterable[Candidate],
        titles: Mapping[str, str],
        identity: Identity,
        asked: Sequence[str],
        quoted: Sequence[tuple[str, int, int]],
    ) -> list[ProvenQuestion]:
        """Ask questions in their order until three were answered, each of another place, or it takes too long."""
        proven: list[ProvenQuestion] = []
        known = {_bare(question) for question in asked}
        taken = list(quoted)
        tried = 0
        until = time.monotonic() + MOST_SECONDS
        for candidate in candidates:
            place = candidate.document_id, candidate.start, candidate.end
            if _bare(candidate.question) in known or _is_quoted(*place, taken):
                continue
            if tried == MOST_TRIED or len(proven) == OFFERED or time.monotonic() >= until:
                break
            tried += 1
            found = await self._prover.prove(candidate, identity)
            if found is not None:
                taken.append(place)
                proven.append(
                    ProvenQuestion(
                        question=candidate.question,
                        language=language(candidate.question),
                        document_id=candidate.document_id,
                        title=titles[candidate.document_id],
                        segment_id=found["segment_id"],
                        start=found["start"],
                        end=found["end"],
                        quote=found["quote"],
                    )
                )
        return proven


def _read(segments: Sequence[Segment]) -> tuple[list[GuideSentence], list[GuideHeading], list[Candidate]]:
    return first_sentences(segments), guide_outline(segments), own_questions(segments)


def _nearest_questions(segments: Sequence[Segment]) -> list[Candidate]:
    """Return the questions of segments, those of the first segments first."""
    ranks = {(each.document_id, each.segment_index): rank for rank, each in enumerate(segments)}
    in_order = sorted(segments, key=lambda each: (each.document_id, each.start))

    def rank(candidate: Candidate) -> int:
        own = [each for each in in_order if each.document_id == candidate.document_id and each.start <= candidate.start]
        return ranks[own[-1].document_id, own[-1].segment_index]

    return sorted(own_questions(in_order), key=rank)


def _is_quoted(document_id: str, start: int, end: int, quoted: Iterable[tuple[str, int, int]]) -> bool:
    return any(document_id == other and start < last and first < end for other, first, last in quoted)


def _asks_beyond_quotes(body: dict[str, Any]) -> bool:
    said = {section.get("notice") for section in body.get("sections", ())}
    return "quotes_only" in said.union((body.get("refusal") or {}).get("notices", ()))


def _bare(question: str) -> str:
    return fold_case(question).strip(" ?？.。!！")


def _guide(row: dict[str, Any]) -> Guide:
    return cast(Guide, {name: row[name] for name in Guide.__annotations__})


def _beginning(guide: Guide) -> GuideBeginning:
    """Return a document to begin with, whose title is not told again as its first heading."""
    title = fold_case(guide["title"])
    headings = [each for each in guide["outline"] if fold_case(each["text"]) != title]
    return GuideBeginning(document_id=guide["document_id"], title=guide["title"], outline=headings[:HEADINGS])


def _offered(guides: Sequence[Guide], languages: Sequence[str]) -> list[ProvenQuestion]:
    """Return three questions: the first of each document, then the second, those in a wanted language before others."""
    ranks = {spoken: languages.index(spoken) for spoken in languages}
    ranked = [
        (ranks.get(question["language"], len(languages)), round_, document, question)
        for document, guide in enumerate(guides)
        for round_, question in enumerate(guide["questions"])
    ]
    found: dict[str, ProvenQuestion] = {}
    for _, _, _, question in sorted(ranked, key=lambda each: each[:3]):
        found.setdefault(_bare(question["question"]), question)
    return list(found.values())[:OFFERED]
