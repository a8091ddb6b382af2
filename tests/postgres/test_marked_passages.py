"""Passages that a reader marked: found where they stand, else kept as documents of their user's own."""

import unicodedata
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import NotFound
from graph.evidence import Identity
from graph.ports import SearchQuery
from tools.embeddings.embedder import open_embedder
from tools.library.catalogue import Documents
from tools.library.ingestion import Ingestor, NewDocument
from tools.library.marked_passages import MarkedPassages, find_rendered, find_span
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.segment_store import SegmentStore
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

ME = Identity()
OTHER = Identity(user="someone-else")
LEAVE, TRAINS = str(UUID(int=1)), str(UUID(int=2))
LONG = "\n\n".join(f"Rule {n} says that form {n} is sent to office {n} within {n} days." for n in range(1, 120))


class Desk:
    """A library with two documents, and the passages marked in it."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings

    async def open(self) -> "Desk":
        workspaces, embedder = Workspaces(self._database), await open_embedder(self._settings)
        ingestor = Ingestor(self._database, workspaces, embedder, self._settings)
        reader = SegmentStore(self._database, workspaces)
        self.documents = Documents(self._database, workspaces)
        self.searcher = HybridSearcher(self._database, workspaces, embedder)
        self.passages = MarkedPassages(reader, self.searcher, ingestor)
        await ingestor.ingest(ME, NewDocument(document_id=LEAVE, title="Leave", text=LONG))
        text = "Second class is booked for trains. Nghỉ phép năm là 25 ngày."
        await ingestor.ingest(ME, NewDocument(document_id=TRAINS, title="Trains", text=text, owner=ME.user))
        return self


@pytest.fixture
async def desk(database: Database, settings: Settings) -> Desk:
    return await Desk(database, settings).open()


async def test_a_passage_is_found_in_the_segments_that_hold_it(desk: Desk) -> None:
    passage = "office 40 within 40 days.\nRule 41 says that form 41"
    segments = await desk.passages.find_passage(passage, [TRAINS, LEAVE], ME)
    assert {segment.document_id for segment in segments} == {LEAVE}
    text = "".join(segment.text for segment in segments)
    assert " ".join(passage.split()) in " ".join(text.split())


async def test_a_passage_may_span_segments(desk: Desk) -> None:
    raw = await desk.documents.raw_text(ME, LEAVE)
    end = raw["segments"][0]["end"]
    text = "".join(segment["text"] for segment in raw["segments"])
    segments = await desk.passages.find_passage(text[end - 200 : end + 200], [LEAVE], ME)
    assert [segment.segment_index for segment in segments] == [0, 1]


async def test_what_stands_nowhere_becomes_a_document_of_its_user_for_a_time(desk: Desk) -> None:
    passage = "The canteen closes at nine, but for Fridays, when it closes at ten."
    [segment] = await desk.passages.find_passage(passage, [LEAVE], ME)
    assert (segment.text, segment.source_type) == (passage, "selection")
    stored = await desk.documents.get(ME, segment.document_id)
    assert (stored.owner, stored.title) == (ME.user, passage)
    assert stored.expires_at is not None
    assert timedelta(hours=23) < stored.expires_at - datetime.now(UTC) <= timedelta(days=1)
    assert {each.document_id for each in (await desk.documents.list(ME)).documents} == {LEAVE, TRAINS}
    with pytest.raises(NotFound):
        await desk.documents.get(OTHER, segment.document_id)


async def test_a_passage_marked_again_is_the_same_document(desk: Desk) -> None:
    first = await desk.passages.find_passage("The canteen closes at nine.", [], ME)
    again = await desk.passages.find_passage("  The canteen closes at nine.\n", [LEAVE], ME)
    of_another = await desk.passages.find_passage("The canteen closes at nine.", [], OTHER)
    assert first[0].segment_id == again[0].segment_id
    assert first[0].document_id != of_another[0].document_id


async def test_each_session_has_its_own_of_a_passage(desk: Desk) -> None:
    passage, (one, other) = "The canteen closes at nine.", (str(uuid4()), str(uuid4()))
    first = await desk.passages.find_passage(passage, [], ME, session_id=one)
    again = await desk.passages.find_passage(passage, [], ME, session_id=one)
    apart = await desk.passages.find_passage(passage, [], ME, session_id=other)
    assert first[0].segment_id == again[0].segment_id
    assert first[0].document_id != apart[0].document_id
    stored = await desk.documents.get(ME, first[0].document_id)
    assert stored.expires_at is not None
    assert stored.expires_at - datetime.now(UTC) > timedelta(days=365), "it goes with its session"


async def test_a_stored_passage_is_no_part_of_what_the_library_is_searched_for(desk: Desk) -> None:
    await desk.passages.find_passage("The canteen closes at nine.", [], ME)
    found = await desk.searcher.search(SearchQuery("when does the canteen close", ME, min_score=0.0))
    assert "selection" not in {hit.segment.source_type for hit in found.hits}


async def test_only_the_documents_named_and_readable_are_looked_in(desk: Desk) -> None:
    passage = "Second class is booked for trains."
    [mine] = await desk.passages.find_passage(passage, [TRAINS], ME)
    [unnamed] = await desk.passages.find_passage(passage, [LEAVE], ME)
    [unreadable] = await desk.passages.find_passage(passage, [TRAINS], OTHER)
    assert mine.document_id == TRAINS
    assert (unnamed.source_type, unreadable.source_type) == ("selection", "selection")


async def test_a_passage_is_found_however_its_letters_are_composed(desk: Desk) -> None:
    passage = unicodedata.normalize("NFD", "Nghỉ phép năm")
    [segment] = await desk.passages.find_passage(passage, [TRAINS], ME)
    assert segment.document_id == TRAINS


async def test_blank_text_is_no_passage(desk: Desk) -> None:
    assert await desk.passages.find_passage(" \n", [LEAVE], ME) == []


@pytest.mark.parametrize(
    ("passage", "text", "expected"),
    [
        ("two three", "one two\n\n three four", "two\n\n three"),
        ("Leave", "Sleaves and Leave.", "Leave"),
        ("eave", "leaves and leaves", "eave"),
        ("年假为 25天", "前言。年假为25天。", "年假为25天"),
        ("e\u0301t\u00e9", "l'\u00e9te\u0301 dernier", "\u00e9te\u0301"),
        ("\u1112\u1161\u11ab글", "이 한글은", "한글"),
        ("Two", "one two", None),
        ("two, three", "two three", None),
        ("", "text", None),
        ("text", "", None),
    ],
)
def test_a_span_is_exact_but_for_white_space_and_composition(passage: str, text: str, expected: str | None) -> None:
    span = find_span(passage, text)
    assert (span and text[span[0] : span[1]]) == expected


@pytest.mark.parametrize(
    ("passage", "text", "expected"),
    [
        (
            "Run colcon build at the root.",
            "Then: Run `colcon build` at the **root**.",
            "Run `colcon build` at the **root",
        ),
        (
            "see the setup file first",
            "see [the setup](a/b.md) <b>file</b> first",
            "see [the setup](a/b.md) <b>file</b> first",
        ),
        ("two, three and four five", "two three, *and* four five", "two three, *and* four five"),
        ("late", "a *late* one", None),
        ("run colcon build at the root", "Run `colcon build` at the root", None),
    ],
)
def test_a_selection_is_found_in_markdown_by_its_letters(passage: str, text: str, expected: str | None) -> None:
    span = find_rendered(passage, text)
    assert (span and text[span[0] : span[1]]) == expected


async def test_without_a_document_named_a_passage_is_looked_for_in_the_library(desk: Desk) -> None:
    raw = await desk.documents.raw_text(ME, LEAVE)
    end = raw["segments"][1]["end"]
    text = "".join(segment["text"] for segment in raw["segments"])
    segments = await desk.passages.find_passage(text[end - 200 : end + 200], [], ME)
    assert [(each.document_id, each.segment_index) for each in segments] == [(LEAVE, 1), (LEAVE, 2)]
    [mine] = await desk.passages.find_passage("Second class is booked for trains.", [], ME)
    [foreign] = await desk.passages.find_passage("Second class is booked for trains.", [], OTHER)
    assert (mine.document_id, foreign.source_type) == (TRAINS, "selection")


@given(st.text("aé e\u0301\u0323한\u1161 \n.,", min_size=1, max_size=40), st.data())
def test_any_part_of_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    composed = unicodedata.normalize("NFC", text)
    start = data.draw(st.integers(0, len(composed) - 1))
    part = composed[start : data.draw(st.integers(start + 1, len(composed)))]
    span = find_span(part, text)
    if not part.strip():
        assert span is None
    else:
        assert span is not None
        found = unicodedata.normalize("NFC", text[span[0] : span[1]])
        assert "".join(part.split()) in "".join(found.split())
