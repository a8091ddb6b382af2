"""Documents listed, read back, deleted and purged, within the reach of who asks."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.embeddings.embedder import open_embedder
from tools.library.catalogue import Documents
from tools.library.ingestion import Ingestor, NewDocument
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

ME = Identity()
STRANGER = Identity(user="stranger")
ELSEWHERE = Identity(workspace="elsewhere")


@pytest.fixture
async def ingestor(database: Database, settings: Settings) -> Ingestor:
    workspaces = Workspaces(database)
    await workspaces.create("elsewhere")
    return Ingestor(database, workspaces, await open_embedder(settings), settings)


@pytest.fixture
def documents(database: Database) -> Documents:
    return Documents(database, Workspaces(database))


async def put(ingestor: Ingestor, title: str, **fields: Any) -> str:
    document = NewDocument(text=f"The text of {title}.", title=title, **fields)
    return (await ingestor.ingest(ME, document)).document_id


async def count(database: Database, table: str) -> int:
    async with database.connection() as connection:
        found = await (await connection.execute(f"SELECT count(*) FROM {table}")).fetchone()
    assert found is not None
    return int(found[0])


async def test_the_last_changed_come_first_page_by_page(ingestor: Ingestor, documents: Documents) -> None:
    ids = [await put(ingestor, f"Document {number}") for number in range(5)]
    first = await documents.list(ME, limit=2)
    second = await documents.list(ME, limit=2, cursor=first.next_cursor)
    third = await documents.list(ME, limit=2, cursor=second.next_cursor)
    listed = [document.document_id for page in (first, second, third) for document in page.documents]
    assert listed == ids[::-1]
    assert third.next_cursor is None


async def test_documents_of_one_transaction_are_each_listed_once(ingestor: Ingestor, documents: Documents) -> None:
    made = [NewDocument(text=f"Text {number}.") for number in range(7)]
    ids = {report.document_id async for report in ingestor.ingest_many(ME, made) if report.status == "created"}
    listed: list[str] = []
    cursor = None
    while True:
        page = await documents.list(ME, limit=3, cursor=cursor)
        listed += [document.document_id for document in page.documents]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(listed) == sorted(ids)


async def test_a_listing_is_narrowed_by_space_and_title(ingestor: Ingestor, documents: Documents) -> None:
    lamp = await put(ingestor, "The Lamp 100%", space={"id": "s1", "slug": "light"})
    chair = await put(ingestor, "The chair", space={"id": "s2", "slug": "rest"})

    async def listed(**narrowed: Any) -> list[str]:
        return [document.document_id for document in (await documents.list(ME, **narrowed)).documents]

    assert await listed(space="s1") == await listed(space="light") == [lamp]
    assert await listed(title="CHAIR") == [chair]
    assert await listed(title="100%") == [lamp]
    assert await listed(title="_") == []
    assert await listed(space="none") == []


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 201}, {"cursor": "x"}, {"cursor": "W10="}])
async def test_a_listing_that_cannot_be_is_refused(documents: Documents, asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        await documents.list(ME, **asked)


async def test_a_document_is_there_for_those_who_may_read_it(ingestor: Ingestor, documents: Documents) -> None:
    shared, private = await put(ingestor, "Shared"), await put(ingestor, "Private", owner="local")
    assert [document.title for document in (await documents.list(STRANGER)).documents] == ["Shared"]
    assert (await documents.list(ELSEWHERE)).documents == []
    assert (await documents.get(STRANGER, shared)).title == "Shared"
    for identity, document_id in ((STRANGER, private), (ELSEWHERE, shared), (ME, str(uuid4())), (ME, "c1")):
        with pytest.raises(NotFound):
            await documents.get(identity, document_id)
        with pytest.raises(NotFound):
            await documents.raw_text(identity, document_id)
        with pytest.raises(NotFound):
            await documents.delete(identity, document_id)
    assert len((await documents.list(ME)).documents) == 2


async def test_raw_text_counts_in_code_points(ingestor: Ingestor, documents: Documents) -> None:
    text = "Trang một 😀 é\u0301.\f灯泡很亮。"
    report = await ingestor.ingest(ME, NewDocument(text=text, title="Hai trang"))
    assert await documents.raw_text(ME, report.document_id) == {
        "document_id": report.document_id,
        "title": "Hai trang",
        "segments": [
            {"segment_index": 0, "page_idx": 0, "start": 0, "end": 16, "text": text[:16]},
            {"segment_index": 1, "page_idx": 1, "start": 16, "end": 21, "text": text[16:]},
        ],
    }
    assert (await documents.get(ME, report.document_id)).page_count == 2


async def test_a_deleted_document_is_out_of_sight_and_comes_back_when_ingested(
    ingestor: Ingestor, documents: Documents
) -> None:
    document = NewDocument(document_id=str(uuid4()), text="Now and then.")
    await ingestor.ingest(ME, document)
    assert document.document_id is not None
    await documents.delete(ME, document.document_id)
    for read in (documents.get, documents.raw_text, documents.delete):
        with pytest.raises(NotFound):
            await read(ME, document.document_id)
    assert (await documents.list(ME)).documents == []
    assert (await ingestor.ingest(ME, document)).status == "updated"
    assert (await documents.raw_text(ME, document.document_id))["segments"][0]["text"] == "Now and then."


async def test_purging_removes_what_is_deleted_or_expired(
    ingestor: Ingestor, documents: Documents, database: Database
) -> None:
    kept, deleted, private = await put(ingestor, "A"), await put(ingestor, "B"), await put(ingestor, "C", owner="local")
    expired = await put(ingestor, "D", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    await put(ingestor, "E", expires_at=datetime.now(UTC) + timedelta(days=1))
    with pytest.raises(NotFound):
        await documents.get(ME, expired)
    await documents.delete(ME, deleted)
    await documents.delete(ME, private)
    assert await documents.purge("default", older_than=timedelta(days=30)) == 1
    assert await count(database, "documents") == 4
    assert await documents.purge("default") == 2
    assert await documents.purge("default") == 0
    assert [document.title for document in (await documents.list(ME)).documents] == ["E", "A"]
    assert (await documents.get(ME, kept)).segments == 1
    assert await count(database, "segments") == 2
    async with database.connection() as connection:
        statistics = await connection.execute("SELECT sum(segments), sum(documents) FROM library_statistics")
        assert await statistics.fetchone() == (2, 2)


async def test_purging_goes_on_beyond_one_batch(ingestor: Ingestor, documents: Documents, database: Database) -> None:
    made = [NewDocument(text=f"Text {number}.", expires_at=datetime.now(UTC)) for number in range(450)]
    assert len([report async for report in ingestor.ingest_many(ME, made)]) == 450
    assert await documents.purge("default") == 450
    assert await count(database, "segments") == 0
