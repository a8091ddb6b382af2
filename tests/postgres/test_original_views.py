"""What viewers draw of originals is read apart and once, and so is a file that can't be read."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from graph.evidence import Identity
from tests.unit.pictured_office import PNG, png, with_picture
from tests.unit.placed_pdf import column, placed_pdf
from tools.embeddings.static_embedding import bundled_embedder
from tools.library.ingestion import Ingestor, NewDocument
from tools.library.original_views import KEPT_BYTES, OriginalViews
from tools.library.sandbox import Sandbox
from tools.library.sandbox_process import Frame, Task
from tools.originals.originals import Originals
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

HANDBOOK = Path(__file__).parents[1] / "fixtures/documents/handbook.docx"
ME = Identity()


class CountingSandbox(Sandbox):
    """A sandbox that knows what it was asked."""

    asked: list[Task]

    async def run(self, task: Task, header: dict[str, Any], data: bytes, **others: Any) -> Frame:
        self.asked.append(task)
        return await super().run(task, header, data, **others)


class Shelf:
    """Documents with their originals, and the views of them."""

    def __init__(self, database: Database, settings: Settings, sandbox: Sandbox) -> None:
        workspaces = Workspaces(database)
        embedder = bundled_embedder().truncated(256)
        self._ingestor = Ingestor(database, workspaces, embedder, settings)
        self.originals = Originals.of(settings, database, workspaces)
        self.views = OriginalViews(self.originals, sandbox)

    async def put(self, name: str, data: bytes, document_id: str | None = None) -> str:
        stored = await self._ingestor.ingest(ME, NewDocument(name=name, data=data, document_id=document_id))
        return stored.document_id


@pytest.fixture
async def sandbox() -> AsyncIterator[CountingSandbox]:
    opened = CountingSandbox(1, 60, 512)
    opened.asked = []
    yield opened
    await opened.close()


@pytest.fixture
def shelf(database: Database, settings: Settings, sandbox: CountingSandbox) -> Shelf:
    return Shelf(database, settings, sandbox)


async def test_pictures_are_read_once_for_all_who_look_at_them(shelf: Shelf, sandbox: CountingSandbox) -> None:
    document_id = await shelf.put("handbook.docx", with_picture(HANDBOOK))
    seen = await asyncio.gather(*(shelf.views.pictures(ME, document_id) for _ in range(6)))
    assert all([picture.data for picture in pictures] == [PNG] for pictures in seen)
    assert sandbox.asked == ["pictures"]


async def test_a_new_version_is_read_anew(shelf: Shelf, sandbox: CountingSandbox) -> None:
    first = await shelf.put("a.html", b"<p>Lamps.</p>")
    assert await shelf.views.pictures(ME, first) == []
    inline = b"data:image/png;base64," + b64encode(PNG)
    await shelf.put("a.html", b'<p>Lamps.</p><img alt="A lamp" src="%b">' % inline, first)
    [picture] = await shelf.views.pictures(ME, first)
    assert (picture.data, picture.alt) == (PNG, "A lamp")
    assert sandbox.asked == ["pictures", "pictures"]


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
    assert await shelf.views.pictures(ME, document_id) == []
    sandbox.seconds = 60
    assert await shelf.views.pictures(ME, document_id) == []
    assert sandbox.asked == ["pictures"]


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
    assert await shelf.views.pictures(ME, "00000000-0000-4000-8000-000000000000") == []
    assert await shelf.views.place(ME, "00000000-0000-4000-8000-000000000000", 0, "Lamps", "") is None
    assert sandbox.asked == []


async def test_pictures_take_no_more_than_their_file(shelf: Shelf) -> None:
    unpacked = PNG + b"\0" * 10_000_000  # which the file holds in some kilobytes
    document_id = await shelf.put("handbook.docx", with_picture(HANDBOOK, unpacked))
    [picture] = await shelf.views.pictures(ME, document_id)
    assert (picture.raster, picture.data) == (None, b"")


async def test_what_was_read_longest_ago_is_forgotten(shelf: Shelf, sandbox: CountingSandbox) -> None:
    assert KEPT_BYTES > 2 * 20_000_000, "what a document may have at most can be kept"
    views = OriginalViews(shelf.originals, sandbox, kept_bytes=3_000)
    first, second, third = [
        await shelf.put(f"{width}.docx", with_picture(HANDBOOK, png(width, 4))) for width in (8, 9, 10)
    ]
    for document_id in (first, second, first, third, first, second):
        assert len(await views.pictures(ME, document_id)) == 1
    assert len(sandbox.asked) == 4, "the second one alone was forgotten"


class BusySandbox(Sandbox):
    """A sandbox whose process is at work until it is freed."""

    freed: asyncio.Event
    began: asyncio.Event

    async def run(self, task: Task, header: dict[str, Any], data: bytes, **others: Any) -> Frame:
        self.began.set()
        await self.freed.wait()
        return {"pictures": []}, []


async def test_nobody_waits_long_behind_the_files_of_others(shelf: Shelf) -> None:
    sandbox = BusySandbox(1, 60, 512)
    sandbox.freed, sandbox.began = asyncio.Event(), asyncio.Event()
    views = OriginalViews(shelf.originals, sandbox, wait_seconds=0)
    first, second = await shelf.put("a.html", b"<p>Lamps.</p>"), await shelf.put("b.html", b"<p>Masts.</p>")
    looking = asyncio.create_task(views.pictures(ME, first))
    await sandbox.began.wait()
    assert await views.pictures(ME, second) == []
    assert not looking.done()
    sandbox.freed.set()
    assert await looking == []
