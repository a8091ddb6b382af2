"""Files that hold up, blow up or break their reader: each is refused by itself, and the next one is read."""

import asyncio
import gzip
import io
import sys
import tempfile
import threading
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
import uvloop

from graph.errors import CitewellError, DocumentTooExpensive, InvalidRequest, UnreadableDocument
from tests.distributions import install
from tools.confinement.priority import NICENESS, SESSION_NICENESS
from tools.library.new_documents import NewDocument
from tools.library.reading import ReadFile, Reading, WiredDocument
from tools.library.sandbox import MOST_FILES, OnPart, Sandbox
from tools.library.sandbox_tasks import Frame, Task

HOW = Reading(
    workspace=1,
    sizes={"*": "300 tokens"},
    dimension=256,
    known_hash=None,
    max_bytes=20_000_000,
    max_pages=100,
    max_characters=100_000,
    recognition=None,
)
HOSTILE = """
import ctypes, os, time
from tools.parsers import Block, Parsed, Parser

def read(data):
    match data.split()[0]:
        case b"sleep":
            time.sleep(3600)
        case b"wait":
            time.sleep(3)
        case b"spin":
            while True:
                pass
        case b"eat":
            held = [bytearray(50_000_000) for _ in range(1000)]
        case b"crash":
            ctypes.string_at(0)
        case b"exit":
            os._exit(3)
        case b"recurse":
            read(data)
        case b"print":
            print("no frame", flush=True)
            os.write(1, b"no frame either")
        case b"secrets":
            data = " ".join(name for name in os.environ if name.startswith("CITEWELL_")).encode() or b"none"
    text = data.decode()
    return Parsed(text, (Block(0, len(text), "paragraph"),))

parser = Parser(("text/x-hostile",), (".hostile",), read)
"""


@pytest.fixture(scope="module")
async def opened_sandbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    folder = tmp_path_factory.mktemp("parsers")
    install(folder, "hostile", {"hostile": HOSTILE}, "[citewell.parsers]\nhostile = hostile:parser\n")
    BEFORE.clear()
    BEFORE.extend(children())
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        opened = Sandbox(1, SECONDS, 512)
        yield opened
        await opened.close()
    assert not children()


@pytest.fixture
def sandbox(opened_sandbox: Sandbox) -> Iterator[Sandbox]:
    """A sandbox whose process, a second of imports, goes from test to test for as long as none ends it."""
    rest_seconds = opened_sandbox.rest_seconds
    yield opened_sandbox
    opened_sandbox.seconds, opened_sandbox.rest_seconds = SECONDS, rest_seconds


SECONDS = 60
BEFORE: list[psutil.Process] = []  # of deployments that other tests keep open


def children() -> list[psutil.Process]:
    return [each for each in psutil.Process().children() if each not in BEFORE and is_reader(each)]


def is_reader(process: psutil.Process) -> bool:
    try:
        return "sandbox_process" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # nor is one that has just ended
        return False


def has_ended(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


async def read(sandbox: Sandbox, data: bytes, name: str = "a.hostile", how: Reading = HOW) -> ReadFile:
    return await sandbox.read(WiredDocument.of(NewDocument(name=name, data=data)), how)


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (b"eat", DocumentTooExpensive, "more than 512 MB of memory"),
        (b"crash", DocumentTooExpensive, "SIGSEGV"),
        (b"exit", DocumentTooExpensive, "exit code 3"),
        (b"recurse", UnreadableDocument, "RecursionError"),
        (b"x" * 100_001, DocumentTooExpensive, "100,001 characters"),
        (b"   ", UnreadableDocument, "empty"),
    ],
)
async def test_a_bad_file_is_refused_and_the_next_one_is_read(
    sandbox: Sandbox, data: bytes, kind: type[CitewellError], says: str
) -> None:
    with pytest.raises(kind) as refused:
        await read(sandbox, data)
    assert says in refused.value.message
    assert (await read(sandbox, b"A lamp.")).packed is not None


async def test_the_folder_of_a_process_is_made_off_the_loop(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """LangGraph's development server ends a run that looks for a temporary folder on the event loop."""
    make, made_in = tempfile.mkdtemp, set[threading.Thread]()

    def noted(**given: Any) -> str:
        made_in.add(threading.current_thread())
        return make(**given)

    monkeypatch.setattr(tempfile, "mkdtemp", noted)
    await sandbox.rest()
    assert (await read(sandbox, b"A lamp.")).packed is not None
    assert made_in.isdisjoint({threading.current_thread()})
    assert made_in


async def test_a_fault_of_a_parser_is_not_said_to_be_one_of_the_file(sandbox: Sandbox) -> None:
    with pytest.raises(UnreadableDocument) as refused:
        await read(sandbox, b"recurse")
    assert refused.value.advice != UnreadableDocument.suggestion


@pytest.mark.parametrize("data", [b"sleep", b"spin"])
async def test_a_file_that_takes_too_long_is_ended(sandbox: Sandbox, data: bytes) -> None:
    await read(sandbox, b"A lamp.")
    sandbox.seconds = 0.3
    with pytest.raises(DocumentTooExpensive, match=r"0\.3 seconds"):
        await read(sandbox, data)
    sandbox.seconds = SECONDS
    assert (await read(sandbox, b"A lamp.")).ready.fields.title == "a"


def niceness_of_session(process: psutil.Process) -> int | None:
    with suppress(OSError):  # a kernel without autogroups
        return int(Path(f"/proc/{process.pid}/autogroup").read_text().split()[-1])
    return None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has autogroups")
async def test_it_gives_way_to_questions_in_whichever_session_they_are(sandbox: Sandbox) -> None:
    await read(sandbox, b"A lamp.")
    [process] = children()
    assert process.nice() == NICENESS
    assert niceness_of_session(process) in (None, SESSION_NICENESS)


async def test_time_that_others_have_the_processor_is_not_that_of_a_file(sandbox: Sandbox) -> None:
    sandbox.seconds = 2
    assert (await read(sandbox, b"wait")).packed is not None


async def test_whoever_stops_waiting_ends_the_reading(sandbox: Sandbox) -> None:
    await read(sandbox, b"A lamp.")
    [process] = children()
    reading = asyncio.create_task(read(sandbox, b"sleep"))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not process.is_running()


async def test_a_process_that_the_system_ends_costs_one_file(sandbox: Sandbox) -> None:
    await read(sandbox, b"A lamp.")
    [process] = children()
    reading = asyncio.create_task(read(sandbox, b"sleep"))
    await asyncio.sleep(0)
    process.kill()  # what a system without memory does
    with pytest.raises(DocumentTooExpensive, match="SIGKILL"):
        await reading
    assert (await read(sandbox, b"A lamp.")).packed is not None


@pytest.mark.parametrize("is_noticed", [True, False])
async def test_a_process_that_the_system_ends_between_two_files_costs_none(sandbox: Sandbox, is_noticed: bool) -> None:
    await read(sandbox, b"A lamp.")
    [process] = children()
    process.kill()
    while not has_ended(process) or (is_noticed and psutil.pid_exists(process.pid)):
        if is_noticed:
            await asyncio.sleep(0.01)
    assert (await read(sandbox, b"Another lamp.")).packed is not None
    assert children() != [process]


def test_such_a_process_costs_none_in_the_loop_that_serves_either() -> None:
    async def read_twice() -> ReadFile:
        sandbox = Sandbox(1, 60, 1024)
        try:
            before = children()
            await read(sandbox, b"A lamp.", "lamp.md")
            [process] = [each for each in children() if each not in before]
            process.kill()
            while psutil.pid_exists(process.pid):  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0.01)
            return await read(sandbox, b"Another lamp.", "lamp.md")
        finally:
            await sandbox.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(read_twice()).packed is not None


async def test_what_a_parser_prints_is_no_reply(sandbox: Sandbox) -> None:
    assert (await read(sandbox, b"print this")).packed is not None


async def test_a_process_does_not_get_the_keys_of_the_deployment(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_WEB__API_KEY", "secret")
    await sandbox.rest()  # the next process begins with that key in our environment
    found = await read(sandbox, b"secrets", how=replace(HOW, dimension=None))
    assert found.texts == ["none"]


async def test_a_document_is_the_same_on_the_other_side() -> None:
    from datetime import UTC, datetime

    document = NewDocument(
        text="Lamps.\ud800\0",
        name="a.md",
        document_id="7A9E0F3C-5A55-4B0E-9B0C-0D3F1F6D2A01",
        title="\ud800",
        space={"id": "1", "slug": None},
        metadata={"n": 2**70, "deep": [{"ключ": None}]},
        expires_at=datetime(2030, 1, 1, tzinfo=UTC),
    )
    wired = WiredDocument.of(document)
    assert wired.fields.isascii()
    same = replace(document, text="Lamps.�", document_id=wired.document_id)
    assert wired.document() == same
    with pytest.raises(InvalidRequest, match="metadata"):
        WiredDocument.of(replace(document, metadata={"a": {1, 2}}))
    with pytest.raises(InvalidRequest, match="text or a file"):
        WiredDocument.of(NewDocument())


async def test_segments_that_are_known_are_not_made_again(sandbox: Sandbox) -> None:
    first = await read(sandbox, b"A lamp.")
    again = await read(sandbox, b"A lamp.", how=replace(HOW, known_hash=first.ready.content_hash))
    assert again.packed is None
    assert again.ready.fields == first.ready.fields


async def test_a_process_reads_many_files_however_large_its_parent_is(sandbox: Sandbox) -> None:
    held = b"x" * 300_000_000
    await read(sandbox, b"A lamp.")
    first = children()
    await read(sandbox, b"Another lamp.")
    assert len(held)
    assert children() == first != []


async def test_processes_that_rest_are_started_again(sandbox: Sandbox) -> None:
    await read(sandbox, b"A lamp.")
    await sandbox.rest()
    assert not children()
    assert (await read(sandbox, b"A lamp.")).packed is not None


async def test_processes_without_a_file_end_by_themselves() -> None:
    before = children()
    sandbox = Sandbox(1, SECONDS, 1024, rest_seconds=0)
    try:
        await read(sandbox, b"A lamp.", "lamp.md")
        async with asyncio.timeout(60):
            while children() != before:  # noqa: ASYNC110 - another process has no event to wait for
                await asyncio.sleep(0.01)
        assert (await read(sandbox, b"A lamp.", "lamp.md")).packed is not None
    finally:
        await sandbox.close()


def page_of(links: int) -> bytes:
    return b"<base href='/docs/'><link rel=canonical href=/own>" + b"<a href=x>" * links


async def test_addresses_of_a_page_are_read_apart(sandbox: Sandbox) -> None:
    own, links = await sandbox.addresses(page_of(1), "https://docs.example/a")
    assert (own, list(links)) == ("https://docs.example/own", ["https://docs.example/docs/x"])
    assert list(await sandbox.sitemap(b"<urlset><url><loc>https://docs.example/a</loc></url></urlset>", 1_000)) == [
        ("https://docs.example/a", None, False)
    ]


async def test_a_page_of_millions_of_elements_costs_the_process_that_serves_nothing(sandbox: Sandbox) -> None:
    await read(sandbox, b"A lamp.")
    before = psutil.Process().memory_info().rss
    _, links = await sandbox.addresses(page_of(1_900_000), "https://docs.example/a")
    assert len(links) < 10
    assert psutil.Process().memory_info().rss - before < 60_000_000  # the page itself, on its way there


async def test_a_sitemap_that_cannot_be_read_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(UnreadableDocument):
        await sandbox.sitemap(gzip.compress(b"\0" * 1_000_000), 100_000)
    with pytest.raises(UnreadableDocument):
        await sandbox.sitemap(b"<urlset><url>", 100_000)


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


async def unpacked(sandbox: Sandbox, new: NewDocument) -> tuple[bool, list[WiredDocument]]:
    documents: list[WiredDocument] = []

    async def take(document: WiredDocument) -> None:
        documents.append(document)

    return await sandbox.unpack(new, 100_000, take, whose=1), documents


async def test_an_archive_is_unpacked_file_by_file(sandbox: Sandbox) -> None:
    data = zipped({"a.md": b"# Lamps", "b/c.md": b"# Masts", "large.txt": b"x" * 100_001})
    new = NewDocument(name="all.zip", data=data, title=None, owner="ann")
    is_archive, documents = await unpacked(sandbox, new)
    assert is_archive
    assert [(each.name, each.data) for each in documents[:2]] == [
        ("all.zip/a.md", b"# Lamps"),
        ("all.zip/b/c.md", b"# Masts"),
    ]
    assert documents[0].document().owner == "ann"
    assert documents[0].document_id == WiredDocument.of(replace(new, data=b"# Lamps", name="all.zip/a.md")).document_id
    with pytest.raises(UnreadableDocument, match="too large"):
        documents[2].document()


async def test_what_only_begins_like_an_archive_is_a_document(sandbox: Sandbox) -> None:
    book = zipped({"mimetype": b"application/epub+zip", "a.xhtml": b"<p>Lamps</p>"})
    is_archive, [document] = await unpacked(sandbox, NewDocument(name="book", data=book))
    assert (is_archive, document.name, document.data) == (False, "book", book)


async def test_a_broken_archive_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(UnreadableDocument):
        await unpacked(sandbox, NewDocument(name="a.zip", data=b"PK\x03\x04 no more"))


async def test_a_process_that_sends_more_than_any_reply_is_ended(sandbox: Sandbox) -> None:
    small = Sandbox(1, SECONDS, 512, reply_bytes=10_000)
    try:
        with pytest.raises(DocumentTooExpensive):
            await read(small, b"word " * 10_000)
        assert (await read(small, b"A lamp.", how=replace(HOW, dimension=None))).texts == ["A lamp."]
    finally:
        await small.close()


def test_time_follows_size() -> None:
    limited = Sandbox(1, 120, 512, full_bytes=20_000_000)
    assert limited.seconds_for(10_000) == pytest.approx(30, abs=1)
    assert limited.seconds_for(10_000_000) == pytest.approx(75)
    assert limited.seconds_for(30_000_000) == 120


async def test_what_a_taken_over_process_says_of_a_file_is_its_path_alone(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(task: Task, header: dict[str, Any], *blobs: bytes, on_part: OnPart, **_: Any) -> Frame:
        await on_part({"path": "a.md", "fields": "{}", "owner": "mallory", "document_id": str(uuid4())}, b"# Lamps")
        return {"is_archive": True}, []

    monkeypatch.setattr(sandbox, "run", run)
    new = NewDocument(name="all.zip", data=b"PK\x03\x04", owner="ann", readers=["group:staff"])
    _, [file] = await unpacked(sandbox, new)
    document = file.document()
    assert (document.name, document.owner, document.readers) == ("all.zip/a.md", "ann", ["group:staff"])
    assert document.document_id == WiredDocument.of(replace(document, document_id=None)).document_id


async def test_a_taken_over_process_sends_no_more_files_than_an_archive_holds(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(task: Task, header: dict[str, Any], *blobs: bytes, on_part: OnPart, **_: Any) -> Frame:
        for number in range(MOST_FILES + 1):
            await on_part({"path": f"{number}.md", "error": ["unreadable_document", "It is none.", ""]}, b"")
        return {"is_archive": True}, []

    monkeypatch.setattr(sandbox, "run", run)
    with pytest.raises(EOFError):
        await unpacked(sandbox, NewDocument(name="all.zip", data=b"PK\x03\x04"))
