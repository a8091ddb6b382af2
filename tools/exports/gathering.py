"""Gather what an export holds from the stored session, as its reader may see it at this moment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from answers.answerhood import answerhood_of
from answers.highlighting import in_markdown
from graph.errors import InvalidRequest
from graph.evidence import Citation, Identity, Section, Segment, Source
from graph.ports import SegmentReader
from tools.auth.document_links import DocumentLinks, LinkSigner
from tools.exports.exported import (
    Address,
    DocumentVersion,
    Exchange,
    ExportedAnswer,
    ExportedClaim,
    ExportedSection,
    Note,
    NoteBook,
    RunAccount,
    Surroundings,
    Transcript,
    marked,
    quote_key,
)
from tools.retrieval.scope import READABLE, as_uuid, reading_as
from tools.retrieval.withholding import WITHHELD
from tools.sessions.history import StoredMessage
from tools.sessions.session_store import Sessions
from tools.storage.database import Database, rows_of
from tools.storage.tenants import Workspaces

AROUND = 240  # characters before and behind a quote
_RUNS = """
SELECT run_id::text, coalesce(request -> 'context' ->> 'model', ''), created_at, finished_at
FROM runs WHERE session_id = %s AND run_id = ANY(%s::uuid[])
"""
# The version that was current at a moment: today's, if it is older than that, or else one that was kept.
_VERSIONS = f"""
SELECT d.document_id::text, d.title, CASE WHEN d.updated_at <= asked.at THEN d.version ELSE (
    SELECT v.version FROM document_versions AS v
    WHERE v.workspace = d.workspace AND v.document_id = d.document_id
      AND v.changed_at <= asked.at AND v.replaced_at > asked.at
    ORDER BY v.version DESC LIMIT 1
) END AS version, d.version AS current, d.updated_at AS changed_at, d.content_hash AS sha256
FROM unnest(%(ids)s::uuid[], %(moments)s::timestamptz[]) WITH ORDINALITY AS asked (document_id, at, place)
JOIN documents AS d ON d.workspace = %(workspace)s AND d.document_id = asked.document_id
WHERE d.deleted_at IS NULL AND {READABLE} ORDER BY asked.place
"""


@dataclass(frozen=True, slots=True)
class Exports:
    """Makes transcripts of stored sessions. Sessions of other identities raise NotFound, as if they did not exist."""

    database: Database
    workspaces: Workspaces
    sessions: Sessions
    reader: SegmentReader
    links: DocumentLinks

    async def transcript(
        self,
        identity: Identity,
        session_id: str,
        *,
        message: str | None = None,
        through: str | None = None,
        viewer: Identity | None = None,
        base_url: str = "",
    ) -> Transcript:
        """Return a session's branch used last, or that up to the message ``through``, or one answer: ``message``.

        ``viewer`` is somebody else whom the identity shows it to: the viewer's rights decide what is in it, and what
        was spent is not. Without ``base_url`` documents of the library have no address.
        Raises NotFound, InvalidRequest if ``message`` is not an answer.
        """
        history = await self.sessions.whole(identity, session_id, through=message or through, reader=viewer)
        stored = history.messages
        if message is not None:
            if not stored or stored[-1].role != "assistant":
                raise InvalidRequest("message: it must name an answer, not a question.")
            stored = stored[-2:]
        may = viewer or identity
        notes = await self._book(stored, may, base_url)
        accounts = {} if viewer is not None else await self._accounts(session_id, stored)
        exchanges: list[Exchange] = []
        for each in stored:
            if each.role == "user":
                passage = each.body.get("selected_text", "") if viewer is None else ""
                exchanges.append(Exchange(each.content, each.created_at, passage))
            elif exchanges:
                answer = _answer(each, notes, accounts.get(each.run_id or ""), is_own=viewer is None)
                exchanges[-1] = replace(exchanges[-1], answer=answer)
        return Transcript(
            session_id=history.session.session_id if viewer is None else "",
            title=history.session.title,
            exported_at=datetime.now(UTC),
            exchanges=tuple(exchanges),
            documents=await self._versions(may, exchanges),
            is_whole=message is None,
        )

    async def note(
        self,
        identity: Identity,
        title: str,
        text: str,
        pinned: Sequence[tuple[str, StoredMessage]],
        *,
        is_own: bool,
        base_url: str = "",
    ) -> Transcript:
        """Return a note as its reader may see it: its text, and questions with the answers that are pinned in it."""
        book = await self._book([answer for _, answer in pinned], identity, base_url)
        exchanges = [
            Exchange(question or _title(answer), None, answer=_answer(answer, book, None, is_own=is_own))
            for question, answer in pinned
        ]
        return Transcript(
            session_id="",
            title=title,
            exported_at=datetime.now(UTC),
            exchanges=tuple(exchanges),
            documents=await self._versions(identity, exchanges),
            text=text,
        )

    async def _book(self, stored: Sequence[StoredMessage], reader: Identity, base_url: str) -> NoteBook:
        surroundings = await self._surroundings(stored, reader)
        home = base_url if reader.user else ""  # who is nobody can open no document
        signer = await self.links.signer(reader) if home else None
        return NoteBook(_address(home, signer), surroundings)

    async def _surroundings(
        self, messages: Sequence[StoredMessage], identity: Identity
    ) -> dict[tuple[str, int, int], Surroundings]:
        places: dict[tuple[str, int, int], tuple[str, int, int]] = {}
        claims = [claim for message in messages for claim in message.body.get("claims", ())]
        for citation in (each for claim in claims for each in claim["citations"]):
            if citation.get("freshness") in ("fresh", "moved"):
                now: Any = citation.get("now") or citation
                places[quote_key(citation)] = (now["segment_id"], now["start"], now["end"])
        ids = list(dict.fromkeys(segment_id for segment_id, *_ in places.values()))
        found = await self.reader.read_segments(ids, identity) if ids else []
        segments = {segment.segment_id: segment for segment in found}
        return {key: _around(segments[at[0]], *at[1:]) for key, at in places.items() if at[0] in segments}

    async def _accounts(self, session_id: str, messages: Sequence[StoredMessage]) -> dict[str, RunAccount]:
        runs = {each.run_id: each.body for each in messages if each.run_id and each.role == "assistant"}
        rows = await self.database.fetch_all(_RUNS, [session_id, list(runs)])
        return {
            run_id: RunAccount(
                run_id, model, runs[run_id].get("spent", {}), runs[run_id].get("cost"), created_at, finished_at
            )
            for run_id, model, created_at, finished_at in rows
        }

    async def _versions(self, identity: Identity, exchanges: Iterable[Exchange]) -> tuple[DocumentVersion, ...]:
        asked: dict[str, datetime] = {}
        for answer in (each.answer for each in exchanges if each.answer is not None):
            for note in answer.notes:
                if not note.withheld and as_uuid(note.document_id) is not None:
                    asked[note.document_id] = answer.answered_at
        if not asked:
            return ()
        row = {
            **reading_as(identity),
            "workspace": await self.workspaces.number(identity.workspace),
            "ids": list(asked),
            "moments": list(asked.values()),
        }
        async with self.database.connection() as connection:
            return tuple(await rows_of(connection, DocumentVersion, _VERSIONS, row))


def _title(stored: StoredMessage) -> str:
    """Return the title of the document that a pinned passage is of."""
    return next((each["title"] for each in stored.body["sources"] if each["title"]), WITHHELD)


def _answer(stored: StoredMessage, book: NoteBook, account: RunAccount | None, *, is_own: bool) -> ExportedAnswer:
    body = stored.body
    sources = body.get("sources", [])
    web = {each["document_id"] for each in sources if each["kind"] == "web"}
    claims = sorted(body.get("claims", ()), key=lambda claim: (claim["section_index"], claim["end"]))
    cited: list[Citation] = [citation for claim in claims for citation in claim["citations"]]
    if not is_own:  # whether a page of the web is still stored is between the asker and the library
        cited = [_of_web(each) if each["document_id"] in web else each for each in cited]
    notes = book.notes_of(cited, sources)

    def numbers(citations: Iterable[Citation]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(notes[quote_key(each)].number for each in citations))

    exported = tuple(ExportedClaim(claim, numbers(claim["citations"])) for claim in claims)
    sections = tuple(
        _section(section, [each for each in exported if each.claim["section_index"] == index], notes)
        for index, section in enumerate(body.get("sections", ()))
        if section["text"]
    )
    chance = (body.get("assessment") or {}).get("answerhood")
    return ExportedAnswer(
        message_id=stored.message_id,
        outcome=stored.outcome or "",
        stop_reason=stored.stop_reason or "",
        family=body.get("family", ""),
        answered_at=stored.created_at,
        sections=sections,
        claims=tuple(each for each in exported if each.claim["text"] != WITHHELD),
        notes=tuple(notes.values()),
        nearest=tuple(each for each in body.get("nearest", ()) if each["title"]),
        disagreements=tuple(body.get("disagreements", ())),
        account=account,
        answerhood=None if chance is None else answerhood_of(chance),
    )


def _section(
    section: Section, claims: Sequence[ExportedClaim], notes: Mapping[tuple[str, int, int], Note]
) -> ExportedSection:
    text = section["text"]
    shown = ExportedSection(
        text, marked(text, claims), grounded=section.get("grounded", True), withheld=text == WITHHELD
    )
    quotes = [citation for each in claims for citation in each.claim["citations"]]
    if "passage" not in section or shown.withheld or not quotes:
        return shown
    return replace(shown, passage=notes[quote_key(quotes[0])], highlight=in_markdown(text, quotes[0]))


def _of_web(citation: Citation) -> Citation:
    if citation.get("freshness") == "withheld":
        return citation
    kept = citation.copy()
    kept.pop("freshness", None)
    return kept


def _around(segment: Segment, start: int, end: int) -> Surroundings:
    begin, stop = max(start - segment.start, 0), max(end - segment.start, 0)
    before, after = segment.text[max(0, begin - AROUND) : begin], segment.text[stop : stop + AROUND]
    if begin > AROUND:
        before = before[before.find(" ") + 1 :]
    if stop + AROUND < len(segment.text):
        after = after[: after.rfind(" ") if " " in after else len(after)]
    return Surroundings(before.lstrip(), after.rstrip())


def _address(base_url: str, signer: LinkSigner | None) -> Address:
    """Return what gives a quote's address: its source's own on the web, or its page of this service by a link."""

    def address(citation: Citation, source: Source | None) -> str:
        own = (source["url"] if source else None) or ""
        if own.lower().startswith(("http://", "https://")):
            return own
        if not base_url:
            return ""
        now: Any = citation.get("now") or citation
        if signer is not None:
            path = signer.path(
                citation["document_id"], now["segment_index"], start=now["start"], quote=citation["quote"]
            )
            return base_url + path
        return f"{base_url}/documents/{citation['document_id']}#segment-{now['segment_index']}"

    return address
