"""Old sessions read again: what has become of their quotes, in the documents as they are stored today."""

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest

from api.dialects.ai_sdk.schemas import ui_messages
from api.dialects.docmost.schemas import AiMessage
from api.dialects.docs_chatbot.schemas import DocsMessage
from api.dialects.native.schemas import message_as_json
from bench.statements import CHECKED, recorded_statements
from graph.errors import NotFound
from graph.events import RunFinished
from graph.evidence import Citation, Identity, Message, Section, SectionClaim
from tests.entering import entered, finish
from tools.embeddings.embedder import open_embedder
from tools.library.catalogue import Documents
from tools.library.ingestion import Ingestor, NewDocument
from tools.sessions.feedback import FeedbackBook, Rating
from tools.sessions.session_store import Sessions
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

ME = Identity()
BOOK = str(UUID(int=7))
LEAVE, NOTICE = "Every employee gets 25 days of leave.", "The notice period is three months."
TEXT = f"# Leave\n\n{LEAVE} Unused leave lapses in March.\n\n# Notice\n\n{NOTICE}\n"


class Archive:
    """A library with one document, and a session whose answer cites it."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings

    async def open(self) -> "Archive":
        workspaces = Workspaces(self._database)
        embedder = await open_embedder(self._settings)
        self.ingestor = Ingestor(self._database, workspaces, embedder, self._settings)
        self.documents = Documents(self._database, workspaces)
        self.sessions = Sessions(self._database, workspaces)
        await self.write(TEXT)
        self.session_id = (await self.sessions.create(ME)).session_id
        return self

    async def write(self, text: str, **fields: Any) -> None:
        document = NewDocument(document_id=BOOK, name="book.md", title="Book", text=text)
        await self.ingestor.ingest(ME, replace(document, **fields))

    async def answer(self, *quotes: str) -> None:
        """Store an answer that quotes the document as it is."""
        raw = await self.documents.raw_text(ME, BOOK)
        text = "".join(segment["text"] for segment in raw["segments"])
        citations = []
        for quote in quotes:
            start = text.index(quote)
            segment = next(s for s in raw["segments"] if s["start"] <= start < s["end"])
            citations.append(
                Citation(
                    segment_id=f"{BOOK}:{segment['segment_index']}",
                    document_id=BOOK,
                    segment_index=segment["segment_index"],
                    page_idx=None,
                    start=start,
                    end=start + len(quote),
                    quote=quote,
                    origin="cited",
                    verdict="supported",
                    source_index=1,
                    section_index=0,
                )
            )
        claims = [
            SectionClaim(
                start=0,
                end=1,
                text="x",
                verdict="supported",
                reasons=[],
                citations=citations,
                section_index=0,
            )
        ]
        message = Message(
            answer="x",
            sections=[Section(text="x", source_ids=[])],
            citations=citations,
            sources=[],
            claims=claims,
        )
        run = await entered(self._database, self.session_id)
        end = RunFinished(outcome="answered", stop_reason="answer_complete", message=message, spent={})
        await finish(self._database, run, end)

    async def set_owner(self, owner: str | None) -> None:
        async with self._database.connection() as connection:
            await connection.execute("UPDATE documents SET owner = %s", [owner])

    async def rate(self, rating: Rating) -> None:
        last = (await self.elsewhere().get(ME, self.session_id, limit=1)).messages[-1]
        await FeedbackBook(self._database, Workspaces(self._database)).give(
            ME, self.session_id, last.message_id, rating
        )

    def elsewhere(self) -> Sessions:
        """The sessions as a process sees them that has not read any."""
        return Sessions(self._database, Workspaces(self._database))

    async def citations(self) -> list[Citation]:
        body = (await self.sessions.get(ME, self.session_id)).messages[-1].body
        assert body["claims"][0]["citations"] == body["citations"]
        found: list[Citation] = body["citations"]
        return found


@pytest.fixture
async def archive(database: Database, settings: Settings) -> Archive:
    archive = await Archive(database, settings).open()
    await archive.answer(LEAVE, NOTICE)
    return archive


async def freshness(archive: Archive) -> list[str]:
    return [citation["freshness"] for citation in await archive.citations()]


async def test_quotes_of_an_unchanged_document_are_fresh(archive: Archive) -> None:
    citations = await archive.citations()
    assert [citation["freshness"] for citation in citations] == ["fresh", "fresh"]
    assert all("now" not in citation for citation in citations)


async def test_a_quote_that_moved_is_found_where_it_stands(archive: Archive) -> None:
    many = "\n\n".join(f"Paragraph {n} of a long preface that came later." for n in range(80))
    await archive.write(f"# Preface\n\n{many}\n\n{TEXT}")
    citations = await archive.citations()
    assert [citation["freshness"] for citation in citations] == ["moved", "moved"]
    raw = await archive.documents.raw_text(ME, BOOK)
    text = "".join(segment["text"] for segment in raw["segments"])
    for citation in citations:
        now = citation["now"]
        assert text[now["start"] : now["end"]] == citation["quote"]
        segment = raw["segments"][now["segment_index"]]
        assert (now["segment_id"], now["segment_index"] > 0) == (f"{BOOK}:{segment['segment_index']}", True)
        assert segment["start"] <= now["start"] < segment["end"]


async def test_a_reworded_and_a_removed_sentence_have_changed(archive: Archive) -> None:
    await archive.write(TEXT.replace("25 days", "30 days"))
    assert await freshness(archive) == ["changed", "fresh"]
    await archive.write(TEXT.replace(NOTICE, ""))
    assert await freshness(archive) == ["fresh", "changed"]
    await archive.write(TEXT)
    assert await freshness(archive) == ["fresh", "fresh"]


async def test_what_is_deleted_or_expired_looks_alike_and_what_is_out_of_reach_is_withheld(
    archive: Archive, database: Database
) -> None:
    gone = [{**citation, "freshness": "deleted"} for citation in await archive.citations()]
    await archive.documents.delete(ME, BOOK)
    assert await archive.citations() == gone
    await archive.write(TEXT)
    assert await freshness(archive) == ["fresh", "fresh"]
    async with database.connection() as connection:
        await connection.execute("UPDATE documents SET owner = 'someone-else'")
    withheld = await archive.citations()
    assert [(each["quote"], each["freshness"]) for each in withheld] == [("", "withheld")] * len(gone)
    assert [each["start"] for each in withheld] == [each["start"] for each in gone]
    async with database.connection() as connection:
        row = [datetime.now(UTC) - timedelta(seconds=1)]
        await connection.execute("UPDATE documents SET owner = NULL, expires_at = %s", row)
    assert await archive.citations() == gone


async def test_what_is_stored_of_an_answer_stays_as_it_was(archive: Archive, database: Database) -> None:
    await archive.write("Preface.\n\n" + TEXT)
    await archive.citations()
    async with database.connection() as connection:
        found = await connection.execute("SELECT body::text FROM messages WHERE role = 'assistant'")
        row = await found.fetchone()
    assert row is not None
    assert "freshness" not in row[0]


async def test_a_message_that_is_stored_anew_is_read_anew(archive: Archive, database: Database) -> None:
    before = await archive.sessions.get(ME, archive.session_id)
    assert await archive.sessions.get(ME, archive.session_id) == before
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE messages SET body = body || '{\"family\": \"claims\"}' WHERE role = 'assistant'"
        )
    after = await archive.sessions.get(ME, archive.session_id)
    assert [message.body for message in after.messages] == [
        message.body if message.role == "user" else {**message.body, "family": "claims"} for message in before.messages
    ]


async def test_a_reader_finds_in_an_answer_what_another_left_in_it(archive: Archive) -> None:
    before = deepcopy(await archive.sessions.get(ME, archive.session_id))
    shown = await archive.sessions.whole(ME, archive.session_id, reader=Identity(user="guest"))
    ui_messages(shown.shown)
    [DocsMessage.of(message, archive.session_id) for message in shown.shown]
    [AiMessage.of(message) for message in shown.shown]
    assert await archive.sessions.get(ME, archive.session_id) == before


@pytest.mark.parametrize("seed", range(3))
async def test_a_process_that_has_read_a_session_sees_what_one_sees_that_has_not(archive: Archive, seed: int) -> None:
    async def again() -> None:
        await archive.sessions.get(ME, archive.session_id)

    moved, changed = "Preface.\n\n" + TEXT, TEXT.replace("25 days", "30 days")
    events: list[Callable[[], Awaitable[object]]] = [
        again,
        lambda: archive.sessions.get(ME, archive.session_id, limit=1),
        lambda: archive.sessions.whole(ME, archive.session_id, reader=Identity(user="guest")),
        lambda: archive.rate("up"),
        lambda: archive.rate("down"),
        lambda: archive.answer(NOTICE),
        lambda: archive.write(TEXT),
        lambda: archive.write(moved),
        lambda: archive.write(changed),
        lambda: archive.documents.delete(ME, BOOK),
        lambda: archive.set_owner("someone-else"),
        lambda: archive.set_owner(None),
    ]
    drawn = Random(seed)
    for _ in range(16):
        with suppress(NotFound, ValueError):  # what is deleted, or not as it was, can't be deleted again or quoted
            await drawn.choice(events)()
        pages = [
            await sessions.get_encoded(ME, archive.session_id, message_as_json)
            for sessions in (archive.sessions, archive.elsewhere())
        ]
        assert pages[0] == pages[1]
        shown = (await archive.elsewhere().get(ME, archive.session_id)).shown
        assert pages[0].messages == [message_as_json(message) for message in shown]


AGAIN = {
    "session: opened": 1,
    "session: a branch": 1,
    "session: rights to documents": 1,
    "segments: fingerprints": 1,
}


async def test_a_session_that_is_read_again_is_read_without_its_answers_and_texts(archive: Archive) -> None:
    async def read() -> Counter[str]:
        with recorded_statements() as sent:
            await archive.sessions.get_encoded(ME, archive.session_id, message_as_json)
        del sent[CHECKED]
        return sent

    again, bodies = Counter(AGAIN), Counter(["session: messages with their bodies"])
    looked_up = Counter(["segments: read by id"])
    assert await read() == again + bodies + looked_up
    assert await read() == again
    await archive.answer(NOTICE)
    assert await read() == again + bodies + looked_up + Counter(["segments: fingerprints"])
    assert await read() == again
    await archive.write(TEXT.replace("25 days", "30 days"))
    assert await read() == again + bodies + looked_up + Counter(["segments: fingerprints", "pages: read whole"])
    # One of the answers is known to be as it was; the other's quotes are looked for each time.
    assert await read() == again + looked_up + Counter(["segments: fingerprints", "pages: read whole"])
