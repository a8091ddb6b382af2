"""What viewers draw of originals is read apart and once, stored, and so is that a file can't be read."""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from graph.errors import Overloaded
from graph.evidence import Identity, Segment
from tests.unit.pictured_office import PNG, png, with_picture
from tests.unit.placed_pdf import column, placed_pdf
from tools.embeddings.static_embedding import bundled_embedder
from tools.library import fair_turns
from tools.library.ingestion import Ingestor, NewDocument
from tools.library.laid_out_texts import LaidOutTexts
from tools.library.layout import Layouts, ShownPicture
from tools.library.original_views import MOST_BYTES, ROW_BYTES, OriginalViews, ViewStore
from tools.library.sandbox import Sandbox
from tools.library.sandbox_tasks import Frame, Task
from tools.originals.originals import Originals
from tools.retrieval.segment_store import SegmentStore
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

HANDBOOK = Path(__file__).parents[1] / "fixtures/documents/handbook.docx"
ME = Identity()


class CountingSandbox(Sandbox):
    """A sandbox that knows what it was asked."""

    asked: list[Task]

    async def run(self, task: Task, header: dict[str, Any], *blobs: bytes, **others: Any) -> Frame:
        self.asked.append(task)
        return await super().run(task, header, *blobs, **others)


class CountingReader(SegmentStore):
    """A reader of segments that counts how often it is asked."""

    asked = 0

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        self.asked += 1
        return await super().read_segments(segment_ids, identity)


class Shelf:
    """Documents with their originals, and the views of them, as one process of several has them."""

    def __init__(
        self, database: Database, settings: Settings, sandbox: Sandbox, *, most_bytes: int = MOST_BYTES
    ) -> None:
        self.workspaces = Workspaces(database)
        embedder = bundled_embedder().truncated(256)
        self._ingestor = Ingestor(database, self.workspaces, embedder, settings)
        originals = Originals.of(settings, database, self.workspaces)
        self.views = OriginalViews(originals, ViewStore(database, most_bytes=most_bytes), sandbox)
        self.reader = CountingReader(database, self.workspaces)
        self.layouts = Layouts(self.reader, originals, self.views, LaidOutTexts(database))

    async def put(self, name: str, data: bytes, document_id: str | None = None, me: Identity = ME) -> str:
        stored = await self._ingestor.ingest(me, NewDocument(name=name, data=data, document_id=document_id))
        return stored.document_id

    async def layout(self, document_id: str, me: Identity = ME) -> dict[str, Any]:
        layout: dict[str, Any] = json.loads(b"".join([piece async for piece in self.layouts.pieces(me, document_id)]))
        return layout

    async def pictures(self, document_id: str, me: Identity = ME) -> list[dict[str, Any]]:
        pictures: list[dict[str, Any]] = (await self.layout(document_id, me))["pictures"]
        return pictures

    async def picture(self, document_id: str, number: int = 0) -> ShownPicture:
        return await self.layouts.picture(ME, document_id, number)


@pytest.fixture
async def sandbox() -> AsyncIterator[CountingSandbox]:
    opened = CountingSandbox(1, 60, 512)
    opened.asked = []
    yield opened
    await opened.close()


@pytest.fixture
async def shelf(database: Database, settings: Settings, sandbox: CountingSandbox) -> AsyncIterator[Shelf]:
    opened = Shelf(database, settings, sandbox)
    yield opened
    await opened.layouts.close()
    await opened.views.close()


async def test_pictures_are_read_once_for_all_who_look_at_them(shelf: Shelf, sandbox: CountingSandbox) -> None:
    document_id = await shelf.put("handbook.docx", with_picture(HANDBOOK))
    shown = await asyncio.gather(*(shelf.picture(document_id) for _ in range(6)))
    assert {(picture.data, picture.media_type) for picture in shown} == {(PNG, "image/png")}
    assert sandbox.asked == ["layout"]


async def test_another_process_reads_nothing_again(
    shelf: Shelf, sandbox: CountingSandbox, database: Database, settings: Settings
) -> None:
    document_id = await shelf.put("handbook.docx", with_picture(HANDBOOK))
    pdf = await shelf.put("a.pdf", placed_pdf([column(72, 700, ["Lamps burn at night."])]))
    pictures, place = await shelf.pictures(document_id), await shelf.views.place(ME, pdf, 0, "Lamps burn", "")
    assert pictures
    assert place
    other = Shelf(database, settings, sandbox)
    assert await other.pictures(document_id) == pictures
    assert (await other.picture(document_id)).data == PNG
    assert await other.views.place(ME, pdf, 0, "Lamps burn", "") == place
    assert sandbox.asked == ["layout", "place"]


async def test_blocks_are_made_of_segments_once_for_each_text(
    shelf: Shelf, sandbox: CountingSandbox, database: Database, settings: Settings
) -> None:
    text = await shelf.put("lamps.txt", b"\n\n".join(b"Lamp %d burns." % number for number in range(5_000)))
    first, *others = await asyncio.gather(*(shelf.layout(text) for _ in range(3)))
    assert others == [first, first]
    assert [each["start"] for each in first["blocks"][:3]] == [0, 15, 30]
    assert len(first["blocks"]) == 5_000
    other = Shelf(database, settings, sandbox)
    asked = shelf.reader.asked
    assert await shelf.layout(text) == await other.layout(text) == first
    assert (shelf.reader.asked, other.reader.asked) == (asked, 0)
    await shelf.put("lamps.txt", b"No lamp burns.", text)
    assert [each["end"] for each in (await other.layout(text))["blocks"]] == [14]


async def test_a_new_version_is_read_anew(shelf: Shelf, sandbox: CountingSandbox) -> None:
    first = await shelf.put("a.html", b"<p>Lamps.</p>")
    assert await shelf.pictures(first) == []
    inline = b"data:image/png;base64," + b64encode(PNG)
    await shelf.put("a.html", b'<p>Lamps.</p><img alt="A lamp" src="%b">' % inline, first)
    [picture] = await shelf.pictures(first)
    assert ((await shelf.picture(first)).data, picture["alt"]) == (PNG, "A lamp")
    assert sandbox.asked == ["layout", "layout"]


async def test_a_place_is_found_once_for_each_quote(shelf: Shelf, sandbox: CountingSandbox) -> None:
    document_id = await shelf.put(
        "a.pdf", placed_pdf([column(72, 700, ["Lamps burn at night.", "They sleep by day."])])
    )
    for quote in ("Lamps burn", "Lamps burn", "sleep by day"):
        place = await shelf.views.place(ME, document_id, 0, quote, "")
        assert place is not None
        assert len(place["boxes"]) == 1
    assert sandbox.asked == ["place", "place"]


async def test_a_file_that_takes_too_long_is_tried_once(shelf: Shelf, sandbox: CountingSandbox) -> None:
    document_id = await shelf.put("handbook.docx", with_picture(HANDBOOK))
    sandbox.seconds = 0.001
    assert await shelf.pictures(document_id) == []
    sandbox.seconds = 60
    assert await shelf.pictures(document_id) == []
    assert sandbox.asked == ["layout"]


async def test_a_page_that_takes_too_long_costs_no_other(shelf: Shelf, sandbox: CountingSandbox) -> None:
    pages = [column(72, 700, ["Lamps burn at night."]), column(72, 700, ["They sleep by day."])]
    document_id = await shelf.put("a.pdf", placed_pdf(pages))
    sandbox.seconds = 0.001
    assert await shelf.views.place(ME, document_id, 0, "Lamps burn", "") is None
    sandbox.seconds = 60
    assert await shelf.views.place(ME, document_id, 0, "burn at night", "") is None
    assert await shelf.views.place(ME, document_id, 1, "sleep by day", "") is not None
    assert sandbox.asked == ["place", "place"]


async def test_a_document_without_an_original_has_nothing_to_draw(shelf: Shelf, sandbox: CountingSandbox) -> None:
    assert await shelf.views.place(ME, "00000000-0000-4000-8000-000000000000", 0, "Lamps", "") is None
    assert sandbox.asked == []


async def test_pictures_take_no_more_than_their_file(shelf: Shelf) -> None:
    unpacked = PNG + b"\0" * 10_000_000  # which the file holds in some kilobytes
    document_id = await shelf.put("handbook.docx", with_picture(HANDBOOK, unpacked))
    [picture] = await shelf.pictures(document_id)
    assert (picture["width"], picture["height"]) == (0, 0)


async def test_what_was_seen_longest_ago_is_forgotten(
    database: Database, settings: Settings, sandbox: CountingSandbox
) -> None:
    shelf = Shelf(database, settings, sandbox, most_bytes=2 * ROW_BYTES + 3_000)
    for width in (8, 9, 10):
        await shelf.pictures(await shelf.put(f"{width}.docx", with_picture(HANDBOOK, png(width, 4))))
    async with database.connection() as connection:
        found = await connection.execute("SELECT count(*), sum(size)::bigint FROM original_views")
        assert await found.fetchone() == (2, pytest.approx(2 * ROW_BYTES, abs=3_000))


class BusySandbox(Sandbox):
    """A sandbox that is at work on every file until it is freed."""

    freed: asyncio.Event
    began: asyncio.Queue[Task]

    async def run(self, task: Task, header: dict[str, Any], *blobs: bytes, **others: Any) -> Frame:
        await self.began.put(task)
        await self.freed.wait()
        return {"pictures": []}, []


@pytest.fixture
async def busy() -> BusySandbox:
    sandbox = BusySandbox(2, 60, 512)
    sandbox.freed, sandbox.began = asyncio.Event(), asyncio.Queue()
    return sandbox


async def test_the_files_of_one_workspace_hold_up_no_other(
    database: Database, settings: Settings, busy: BusySandbox
) -> None:
    shelf, other = Shelf(database, settings, busy), Identity("other")
    await shelf.workspaces.create("other")
    looking = []
    for name in ("a.html", "b.html", "c.html"):
        document_id = await shelf.put(name, f"<p>{name}</p>".encode())
        looking.append(asyncio.create_task(shelf.pictures(document_id)))
    await busy.began.get()
    document_id = await shelf.put("d.html", b"<p>Masts.</p>", me=other)
    looking.append(asyncio.create_task(shelf.pictures(document_id, other)))
    await busy.began.get()
    assert busy.began.empty(), "a second file of the first workspace waits, though a process is free"
    busy.freed.set()
    assert await asyncio.gather(*looking) == [[], [], [], []]


async def test_a_full_queue_is_said_to_be_full(
    database: Database, settings: Settings, busy: BusySandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_turns, "MOST_OF_ONE", 1)
    shelf = Shelf(database, settings, busy)
    first, second = await shelf.put("a.html", b"<p>Lamps.</p>"), await shelf.put("b.html", b"<p>Masts.</p>")
    looking = asyncio.create_task(shelf.pictures(first))
    await busy.began.get()
    with pytest.raises(Overloaded) as full:
        await shelf.pictures(second)
    assert full.value.retry_after == 60
    busy.freed.set()
    assert await looking == []


async def test_whoever_leaves_has_not_had_it_read_in_vain(
    database: Database, settings: Settings, busy: BusySandbox
) -> None:
    shelf = Shelf(database, settings, busy)
    document_id = await shelf.put("a.html", b"<p>Lamps.</p>")
    looking = asyncio.create_task(shelf.pictures(document_id))
    await busy.began.get()
    looking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await looking
    busy.freed.set()
    assert await shelf.pictures(document_id) == []
    assert busy.began.empty(), "it was not read again"


async def test_a_reader_that_a_file_took_over_sends_no_picture_of_its_own_kind(
    database: Database, settings: Settings, busy: BusySandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = {"number": 0, "after": 0, "page_idx": None, "alt": ""}

    async def run(*_: Any, **__: Any) -> Frame:
        return {"pictures": [{"placed": placed, "blob": 0}]}, [b"<svg onload=alert(1)>"]

    monkeypatch.setattr(busy, "run", run)
    shelf = Shelf(database, settings, busy)
    document_id = await shelf.put("a.html", b"<p>Lamps.</p>")
    [picture] = await shelf.pictures(document_id)
    assert (picture["width"], picture["height"]) == (0, 0)


@pytest.mark.parametrize("reply", [{}, {"pictures": 3}, {"pictures": [{"placed": {}, "blob": 7}]}])
async def test_a_reply_that_is_none_is_one_of_a_file_that_cannot_be_read(
    database: Database, settings: Settings, busy: BusySandbox, monkeypatch: pytest.MonkeyPatch, reply: dict[str, Any]
) -> None:
    async def run(*_: Any, **__: Any) -> Frame:
        return reply, []

    monkeypatch.setattr(busy, "run", run)
    shelf = Shelf(database, settings, busy)
    assert await shelf.pictures(await shelf.put("a.html", b"<p>Lamps.</p>")) == []
