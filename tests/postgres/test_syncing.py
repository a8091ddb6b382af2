"""A library that follows folders and git repositories, over a real PostgreSQL."""

import asyncio
import os
import shutil
import subprocess
import unicodedata
import zipfile
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import uvloop

from bench.statements import recorded_statements
from graph.errors import DependencyFailed, DiskLow, InvalidRequest, NotFound, SourceBusy
from graph.evidence import Identity
from tools.embeddings.embedder import open_embedder
from tools.library.catalogue import Document, Documents
from tools.library.document_filters import DocumentFilter
from tools.library.found_files import find_files, unread_files
from tools.library.git_cache import remove_unused
from tools.library.git_reader import GitReader
from tools.library.ingestion import Ingestor, NewDocument
from tools.library.sandbox import Sandbox
from tools.library.source_records import Kind, SourceOptions, Sources, SyncedSource
from tools.library.syncing import Syncer, SyncReport, TooManyDeletions, checked_location
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.startup import open_database
from tools.storage.tenants import Workspaces
from tools.web.guard import Guard

ME = Identity()
LAMP = "The lamp of the lighthouse turns once in nine seconds."
HORN = "The fog horn sounds twice a minute, whatever the hour."
BOAT = "The boat comes on Tuesdays with paraffin and the post."


class Harbour:
    """A folder, and the library that follows it."""

    def __init__(self, root: Path, database: Database, ingestor: Ingestor, settings: Settings) -> None:
        workspaces = Workspaces(database)
        self.root = root
        self.settings = settings
        self.database = database
        self.ingestor = ingestor
        self.documents = Documents(database, workspaces)
        self.sources = Sources(database, workspaces)
        self.syncer = Syncer(database, workspaces, ingestor, settings, roots=None)

    def confine(self, root: Path) -> None:
        """Sync as the API does, with one root."""
        workspaces = Workspaces(self.database)
        self.syncer = Syncer(self.database, workspaces, self.ingestor, self.settings, roots=[str(root)])

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    async def source(self, *, kind: Kind = "folder", location: str = "", **options: Any) -> SyncedSource:
        where = checked_location(kind, location or str(self.root), None)
        return (await self.sources.add(ME, kind, where, SourceOptions(**options)))[0]

    async def sync(self, **how: Any) -> SyncReport:
        return await self.syncer.sync(ME, await self.source(), **how)

    async def ids(self) -> dict[str, str]:
        """Give the document of each path."""
        return {place["path"]: document.document_id for document in await self.listed() for place in document.places}

    async def listed(self) -> list[Document]:
        return (await self.documents.list(ME, limit=200)).documents

    async def text(self, document_id: str) -> str:
        return "".join(each["text"] for each in (await self.documents.raw_text(ME, document_id))["segments"])


@pytest.fixture(scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    opened = Sandbox(1, 60, 1024)
    yield opened
    await opened.close()


@pytest.fixture
async def harbour(database: Database, settings: Settings, sandbox: Sandbox, tmp_path: Path) -> Harbour:
    root = tmp_path / "harbour"
    root.mkdir()
    embedder = await open_embedder(settings)
    return Harbour(root, database, Ingestor(database, Workspaces(database), embedder, settings, sandbox), settings)


def counted(report: SyncReport) -> dict[str, int]:
    return {name: number for name, number in report.counts.items() if number}


async def test_a_library_follows_a_folder(harbour: Harbour) -> None:
    harbour.write("lamp.md", LAMP)
    harbour.write("signals/horn.md", HORN)
    harbour.write("signals/copy.md", LAMP)
    harbour.write(".hidden/secret.md", BOAT)
    assert counted(await harbour.sync()) == {"new": 2, "copied": 1}
    first = await harbour.ids()
    assert first.keys() == {"lamp.md", "signals/horn.md", "signals/copy.md"}
    assert first["lamp.md"] == first["signals/copy.md"]

    (harbour.root / "signals/horn.md").rename(harbour.root / "horn.md")
    harbour.write("lamp.md", BOAT)
    assert counted(await harbour.sync()) == {"changed": 1, "moved": 1, "unchanged": 1}
    second = await harbour.ids()
    assert second["horn.md"] == first["signals/horn.md"]
    assert second["signals/copy.md"] == first["lamp.md"] != second["lamp.md"]
    assert await harbour.text(second["lamp.md"]) == BOAT
    assert (await harbour.documents.get(ME, second["horn.md"])).metadata["file_path"] == "harbour/horn.md"

    (harbour.root / "horn.md").unlink()
    report = await harbour.sync()
    assert counted(report) == {"unchanged": 2, "gone": 1, "deleted": 1}
    with pytest.raises(NotFound):
        await harbour.documents.get(ME, first["signals/horn.md"])


async def test_a_sync_with_nothing_changed_reads_no_file_and_writes_one_row(harbour: Harbour) -> None:
    for number in range(5):
        harbour.write(f"page{number}.md", f"{LAMP} It has {number} steps.")
    await harbour.sync()
    for path in harbour.root.iterdir():
        path.chmod(0o600)
    await harbour.sync()
    before = await _rows(harbour, "SELECT path, xmin::text FROM places ORDER BY path")
    with recorded_statements() as sent:
        report = await harbour.sync()
    assert counted(report) == {"unchanged": 5}
    written = [each for each in sent if str(each).lstrip().startswith(("UPDATE", "INSERT", "DELETE"))]
    assert await _rows(harbour, "SELECT path, xmin::text FROM places ORDER BY path") == before
    assert len(written) <= 2, written  # the other one adds the source, which this test does each time


async def test_a_dry_run_says_what_would_happen_and_does_nothing(harbour: Harbour) -> None:
    harbour.write("lamp.md", LAMP)
    harbour.write("horn.md", HORN)
    await harbour.sync()
    before = await harbour.ids()
    (harbour.root / "horn.md").rename(harbour.root / "fog.md")
    harbour.write("lamp.md", BOAT)
    harbour.write("boat.md", BOAT)
    harbour.write("keys.md", "The keys hang behind the door of the oil store.\n")
    report = await harbour.sync(dry_run=True)
    assert {file.path: (file.change, file.previous) for file in report.files} == {
        "boat.md": ("copied", None),
        "fog.md": ("moved", "horn.md"),
        "keys.md": ("new", None),
        "lamp.md": ("changed", None),
    }
    assert await harbour.ids() == before
    source = await harbour.source()
    assert source.report is not None
    assert source.report["counts"]["new"] == 2  # that of the sync before


async def test_many_deletions_are_refused_until_they_are_allowed(harbour: Harbour) -> None:
    for number in range(12):
        harbour.write(f"page{number}.md", f"{LAMP} It has {number} steps.")
    await harbour.sync()
    shutil.rmtree(harbour.root)
    with pytest.raises(InvalidRequest):
        await harbour.syncer.sync(ME, await harbour.sources.get(ME, (await harbour.sources.list(ME))[0].source_id))
    harbour.root.mkdir()
    with pytest.raises(TooManyDeletions):
        await harbour.sync()
    assert len(await harbour.listed()) == 12
    source = await harbour.source()
    assert source.report is not None
    assert "12 of 12 documents" in source.report["problem"]["message"]
    assert counted(await harbour.sync(most_deleted=1.0)) == {"gone": 12, "deleted": 12}
    assert await harbour.listed() == []


async def test_what_cannot_be_read_is_told_and_keeps_its_document(harbour: Harbour) -> None:
    harbour.write("lamp.md", LAMP)
    harbour.write("empty.md", "")
    harbour.write("empty.txt", "")
    harbour.write("empty too.md", "")
    report = await harbour.sync()
    assert counted(report) == {"new": 1, "unreadable": 3}
    assert all(file.reason for file in report.files if file.change == "unreadable")
    assert counted(await harbour.sync()) == {"unchanged": 1, "still_unreadable": 3}
    before = (await harbour.ids())["lamp.md"]
    harbour.write("lamp.md", "")
    assert counted(await harbour.sync()) == {"unreadable": 1, "still_unreadable": 3}
    document = await harbour.documents.get(ME, before)
    assert document.places[0]["trouble"]
    assert await harbour.text(before) == LAMP
    harbour.write("lamp.md", HORN)
    assert counted(await harbour.sync()) == {"changed": 1, "still_unreadable": 3}
    assert (await harbour.ids())["lamp.md"] == before


async def test_an_archive_is_refused_by_name_and_the_others_go_in(harbour: Harbour) -> None:
    harbour.write("a.md", LAMP)
    with zipfile.ZipFile(harbour.root / "b.zip", "w") as archive:
        archive.writestr("horn.md", HORN)
        archive.writestr("boat.md", BOAT)
    harbour.write("c.md", HORN)
    report = await harbour.sync()
    assert counted(report) == {"new": 2, "unreadable": 1}
    [told] = [file for file in report.files if file.change == "unreadable"]
    assert told.path == "b.zip"
    assert told.reason is not None
    assert "citewell ingest" in told.reason
    ids = await harbour.ids()
    assert [await harbour.text(ids[path]) for path in ("a.md", "c.md")] == [LAMP, HORN]
    assert counted(await harbour.sync()) == {"unchanged": 2, "still_unreadable": 1}


async def test_a_guess_is_told(harbour: Harbour) -> None:
    text = "Фонарь маяка горит всю ночь. Ключи лежат у смотрителя."
    (harbour.root / "lamp.txt").write_bytes(text.encode("cp1251"))
    [file] = (await harbour.sync()).files
    assert (file.change, len(file.warnings)) == ("new", 1)


async def test_the_same_bytes_are_tried_under_each_suffix(harbour: Harbour) -> None:
    harbour.write("a.pdf", LAMP)
    harbour.write("b.md", LAMP)
    assert counted(await harbour.sync()) == {"new": 1, "unreadable": 1}
    assert [place["path"] for document in await harbour.listed() for place in document.places] == ["b.md"]


async def test_what_was_ingested_before_is_adopted(harbour: Harbour) -> None:
    harbour.write("lamp.md", LAMP)
    harbour.write("horn.md", HORN)
    files = unread_files([harbour.root], ME.workspace, NewDocument(source_type="file"))
    ingested = [report async for report in harbour.ingestor.ingest_many(ME, files)]
    harbour.write("horn.md", BOAT)
    report = await harbour.sync()
    assert counted(report) == {"adopted": 2}
    assert set((await harbour.ids()).values()) == {each.document_id for each in ingested if each.status == "created"}
    assert await harbour.text((await harbour.ids())["horn.md"]) == BOAT


async def test_a_name_is_one_however_its_letters_are_composed(harbour: Harbour) -> None:
    apart, composed = unicodedata.normalize("NFD", "Gebühren.md"), "Gebühren.md"
    harbour.write(apart, LAMP)
    assert counted(await harbour.sync()) == {"new": 1}
    first = await harbour.ids()
    (harbour.root / apart).rename(harbour.root / composed)
    assert "new" not in counted(await harbour.sync())
    assert await harbour.ids() == first
    assert first.keys() == {composed}
    for name in (apart, composed):
        for named in (DocumentFilter(title=name[:-3]), DocumentFilter(query=name[:5])):
            found = await harbour.documents.list(ME, named, limit=5)
            assert [each.title for each in found.documents] == ["Gebühren"]
    harbour.write(apart, HORN)
    assert "composed in another way" in " ".join((await harbour.sync()).notes)
    [file] = {file.document_id(ME.workspace) for file in find_files([harbour.root])}
    assert file == first[composed]


async def test_links_are_not_followed(harbour: Harbour, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text(BOAT)
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "far.md").write_text(HORN)
    harbour.write("lamp.md", LAMP)
    (harbour.root / "link.md").symlink_to(tmp_path / "outside.md")
    (harbour.root / "folder").symlink_to(tmp_path / "away")
    report = await harbour.sync()
    assert counted(report) == {"new": 1}
    (note,) = report.notes
    assert "2 symbolic links" in note


async def test_a_document_in_two_sources_goes_with_the_last(harbour: Harbour, tmp_path: Path) -> None:
    harbour.write("lamp.md", LAMP)
    await harbour.sync()
    source = await harbour.source()
    assert await harbour.sources.delete(ME, source.source_id, with_documents=False) == 0
    [document] = await harbour.listed()
    assert document.places == []
    await harbour.sync()
    assert (await harbour.ids())["lamp.md"] == document.document_id
    source = await harbour.source()
    assert await harbour.sources.delete(ME, source.source_id, with_documents=True) == 1
    assert await harbour.listed() == []


async def test_folders_of_one_name_share_no_document(harbour: Harbour, tmp_path: Path) -> None:
    harbour.write("lamp.md", LAMP)
    await harbour.sync()
    twin = tmp_path / "other" / "harbour"
    twin.mkdir(parents=True)
    (twin / "lamp.md").write_text(HORN)
    await harbour.syncer.sync(ME, await harbour.source(location=str(twin)))
    assert sorted([await harbour.text(each.document_id) for each in await harbour.listed()]) == sorted([LAMP, HORN])


async def test_a_deleted_document_comes_back_while_its_file_is_there(harbour: Harbour) -> None:
    harbour.write("lamp.md", LAMP)
    await harbour.sync()
    document_id = (await harbour.ids())["lamp.md"]
    await harbour.documents.delete(ME, document_id)
    assert counted(await harbour.sync()) == {"changed": 1}
    assert (await harbour.ids())["lamp.md"] == document_id


async def test_a_new_space_reaches_every_document(harbour: Harbour) -> None:
    harbour.write("lamp.md", LAMP)
    harbour.write("my horn.md", HORN)
    await harbour.sync()
    source = await harbour.source(space="coast", link="https://docs.example/{path}")
    assert counted(await harbour.syncer.sync(ME, source)) == {"changed": 2}
    documents = {document.url: document.space for document in await harbour.listed()}
    assert documents.keys() == {"https://docs.example/lamp.md", "https://docs.example/my%20horn.md"}
    assert {str(space) for space in documents.values()} == {str({"id": None, "slug": "coast"})}


async def test_one_sync_at_a_time(harbour: Harbour) -> None:
    harbour.write("lamp.md", LAMP)
    source = await harbour.source()
    async with harbour.syncer._locked(source.source_id):
        assert (await harbour.sources.get(ME, source.source_id)).syncing
        with pytest.raises(SourceBusy):
            await harbour.sync()
    assert not (await harbour.sources.get(ME, source.source_id)).syncing
    assert counted(await harbour.sync()) == {"new": 1}


async def test_a_sync_that_is_cut_off_is_finished_by_the_next(
    harbour: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    harbour.write("a.md", LAMP)
    harbour.write("b.md", HORN)
    await harbour.sync()
    before = await harbour.ids()
    harbour.write("a.md", HORN)  # each other's content
    harbour.write("b.md", LAMP)
    harbour.write("c.md", BOAT)

    async def cut_off(*_: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as broken:
        broken.setattr("tools.library.syncing._Sync._finish", cut_off)
        with pytest.raises(ConnectionError):
            await harbour.sync()
    assert counted(await harbour.sync()) == {"moved": 2, "unchanged": 1}
    after = await harbour.ids()
    assert (after["a.md"], after["b.md"]) == (before["b.md"], before["a.md"])
    assert len(await harbour.listed()) == 3
    assert counted(await harbour.sync()) == {"unchanged": 3}


@asynccontextmanager
async def overtaken(harbour: Harbour, first: Coroutine[Any, Any, Any]) -> AsyncIterator[asyncio.Task[SyncReport]]:
    """Sync while another process is first to wait for the source's row; give the sync once both go on."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    async with (
        await psycopg.AsyncConnection.connect(harbour.database.url, autocommit=True) as watching,
        await psycopg.AsyncConnection.connect(harbour.database.url) as holding,
    ):

        async def until_waiting(transactions: int) -> None:
            async with asyncio.timeout(60):
                while await (await watching.execute(query)).fetchone() != (transactions,):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)

        source = await harbour.source()
        await holding.execute("SELECT FROM sources FOR UPDATE")
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(first)
            await until_waiting(1)
            syncing = asyncio.create_task(harbour.syncer.sync(ME, source))
            await until_waiting(2)
            await holding.rollback()
        yield syncing


@pytest.fixture
async def elsewhere(settings: Settings) -> AsyncIterator[Sources]:
    """The sources, as another process has them."""
    async with open_database(settings) as opened:
        yield Sources(opened, Workspaces(opened))


async def test_a_source_that_is_deleted_while_its_documents_are_stored_leaves_none(
    harbour: Harbour, elsewhere: Sources
) -> None:
    harbour.write("lamp.md", LAMP)
    harbour.write("horn.md", HORN)
    source = await harbour.source()
    async with overtaken(harbour, elsewhere.delete(ME, source.source_id, with_documents=True)) as syncing:
        with pytest.raises(NotFound, match="was deleted meanwhile"):
            await syncing
    assert await harbour.listed() == []


async def cut_off_with_a_new_document(harbour: Harbour) -> None:
    """Cut a sync off when it has stored a new document for the path of one that another path shares."""
    harbour.write("a.md", LAMP)
    harbour.write("b.md", LAMP)
    await harbour.sync()
    harbour.write("b.md", HORN)

    def cut_off(*_: object) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await harbour.sync(progress=cut_off)
    assert sorted([await harbour.text(each.document_id) for each in await harbour.listed()]) == sorted([LAMP, HORN])


async def test_a_source_that_is_deleted_after_its_sync_was_cut_off_leaves_none(harbour: Harbour) -> None:
    await cut_off_with_a_new_document(harbour)
    assert await harbour.sources.delete(ME, (await harbour.source()).source_id, with_documents=True) == 2
    assert await harbour.listed() == []


async def test_what_a_sync_that_was_cut_off_has_stored_goes_with_its_file(harbour: Harbour) -> None:
    await cut_off_with_a_new_document(harbour)
    (harbour.root / "b.md").unlink()
    assert counted(await harbour.sync()) == {"unchanged": 1, "gone": 1, "deleted": 1}
    assert [await harbour.text(each.document_id) for each in await harbour.listed()] == [LAMP]


async def test_what_a_sync_that_was_cut_off_has_stored_keeps_its_place(harbour: Harbour) -> None:
    await cut_off_with_a_new_document(harbour)
    [document] = [each for each in await harbour.listed() if not each.places]
    assert counted(await harbour.sync()) == {"changed": 1, "unchanged": 1}
    assert (await harbour.ids())["b.md"] == document.document_id
    assert len(await harbour.listed()) == 2


async def test_readers_who_are_taken_out_while_documents_are_stored_read_none(
    harbour: Harbour, elsewhere: Sources
) -> None:
    harbour.write("lamp.md", LAMP)
    source = await harbour.source()
    narrowing = elsewhere.set_readers(ME, source.source_id, ["user:me"], operator=True)
    async with overtaken(harbour, narrowing) as syncing:
        with pytest.raises(SourceBusy, match="readers"):
            await syncing
    assert await harbour.listed() == []


async def test_documents_are_found_by_source_and_path(harbour: Harbour) -> None:
    for path in ("guides/start.md", "guides/deep/end.md", "50%.md", "notes.md"):
        harbour.write(path, f"{LAMP} {path}")
    await harbour.sync()
    source = await harbour.source()

    async def found(**by: Any) -> list[str]:
        page = await harbour.documents.list(ME, **by)
        return sorted(place["path"] for document in page.documents for place in document.places)

    assert await found(path="guides/") == ["guides/deep/end.md", "guides/start.md"]
    assert await found(path="*/e*.md") == ["guides/deep/end.md"]
    assert await found(path="50%") == ["50%.md"]
    assert len(await found(source=source.source_id)) == 4
    assert await found(source="6f1cbe0e-64f9-4b4e-9c39-2a2f4ac2f7a1") == []
    assert await found(source="no id") == []


async def test_near_duplicates_are_told(harbour: Harbour) -> None:
    words = [f"Step {number} of the stair is worn by {number * 7} years of boots." for number in range(40)]
    harbour.write("a.md", "\n".join(words))
    harbour.write("other.md", "\n".join(f"Chart {n} shows {n * n} rocks and a wreck off the cape." for n in range(40)))
    await harbour.sync()
    harbour.write("b.md", "\n".join([*words, "The last step is new."]))
    report = await harbour.sync()
    ids = await harbour.ids()
    [file] = [file for file in report.files if file.path == "b.md"]
    [similar] = file.similar_to
    assert (similar["document_id"], similar["title"]) == (ids["a.md"], "a")
    assert 0.85 <= similar["share"] <= 1.0
    assert [each["document_id"] for each in (await harbour.documents.get(ME, ids["a.md"])).similar_to] == [ids["b.md"]]


async def test_a_shared_report_names_no_private_document(harbour: Harbour) -> None:
    text = "\n".join(f"Step {number} of the stair is worn by {number * 7} years of boots." for number in range(40))
    await harbour.ingestor.ingest(ME, NewDocument(data=text.encode(), name="diary.md", owner=ME.user))
    harbour.write("stair.md", f"{text}\nThe last step is new.")
    [shared] = (await harbour.sync()).files
    assert (shared.change, shared.similar_to) == ("new", [])
    own, _ = await harbour.sources.add(ME, "folder", str(harbour.root), SourceOptions(), owner=ME.user)
    [mine] = (await harbour.syncer.sync(ME, own)).files
    assert {each["title"] for each in mine.similar_to} == {"diary", "stair"}


GIT = ["git", "-c", "user.name=Keeper", "-c", "user.email=keeper@example.org", "-c", "init.defaultBranch=main"]


def git(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True, env=environment)


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
async def test_a_library_follows_a_repository(harbour: Harbour) -> None:
    git(harbour.root, "init")
    harbour.write("docs/lamp.md", LAMP)
    harbour.write("docs/horn.md", HORN)
    harbour.write("code.py", "print('not asked for')\n")
    (harbour.root / "docs" / "link.md").symlink_to("lamp.md")
    git(harbour.root, "add", ".")
    git(harbour.root, "commit", "-m", "First")
    source = await harbour.source(kind="git", folder="docs", link="https://git.example/blob/main/docs/{path}")
    report = await harbour.syncer.sync(ME, source)
    assert counted(report) == {"new": 2}
    (note,) = report.notes
    assert "1 symbolic links" in note
    first = await harbour.ids()
    assert (await harbour.documents.get(ME, first["lamp.md"])).url == "https://git.example/blob/main/docs/lamp.md"

    git(harbour.root, "mv", "docs/lamp.md", "docs/light.md")
    harbour.write("docs/horn.md", BOAT)
    assert counted(await harbour.syncer.sync(ME, source)) == {"unchanged": 2}
    git(harbour.root, "commit", "-a", "-m", "Second")
    assert counted(await harbour.syncer.sync(ME, source)) == {"changed": 1, "moved": 1}
    assert await harbour.ids() == {"light.md": first["lamp.md"], "horn.md": first["horn.md"]}
    assert await harbour.text(first["horn.md"]) == BOAT


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a commit."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init")
    commit(folder, "lamp.md", LAMP)
    return folder


def commit(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-m", name)


def cached(cache: Path) -> set[str]:
    """Give the objects of the only repository in the cache."""
    [folder] = [each for each in cache.iterdir() if each.is_dir()]
    found = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return set(found.stdout.decode().split())


async def test_what_is_kept_of_a_repository_is_its_latest_commit(repository: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for number in range(3):
        commit(repository, "lamp.md", f"{LAMP} It was lit {number} times.")
        reader = GitReader(str(repository), cache=cache, max_bytes=10_000)
        await reader.listing()
        await reader.close()
        assert len(cached(cache)) == 3, "a commit, its folder and its file"
    assert cache.stat().st_mode & 0o777 == 0o700


async def test_a_file_that_is_being_read_stays_while_a_later_commit_is_fetched(
    repository: Path, tmp_path: Path
) -> None:
    first, second, third = (
        GitReader(str(repository), cache=tmp_path / "cache", max_bytes=10_000) for _ in ("first", "second", "third")
    )
    await first.listing()
    commit(repository, "lamp.md", HORN)
    await second.listing()
    for reader, text in ((first, LAMP), (second, HORN)):
        [read] = await reader.read(["lamp.md"])
        assert isinstance(read, NewDocument)
        assert read.data == text.encode()
        await reader.close()
    await third.listing()
    await third.close()
    assert len(cached(tmp_path / "cache")) == 3


async def test_readers_of_one_repository_take_turns_to_fetch_it(repository: Path, tmp_path: Path) -> None:
    readers = [GitReader(str(repository), cache=tmp_path / "cache", max_bytes=10_000) for _ in range(6)]
    listings = await asyncio.gather(*(reader.listing() for reader in readers))
    assert [[file.path for file in listing.files] for listing in listings] == [["lamp.md"]] * 6
    for reader in readers:
        await reader.close()


async def test_what_a_git_that_was_killed_left_locked_is_fetched_all_the_same(repository: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for text in (HORN, BOAT, LAMP):
        commit(repository, "lamp.md", text)
        reader = GitReader(str(repository), cache=cache, max_bytes=10_000)
        await reader.listing()
        await reader.close()
        assert len(cached(cache)) == 3
        [folder] = [each for each in cache.iterdir() if each.is_dir()]
        for name in ("shallow.lock", "packed-refs.lock", "HEAD.lock"):
            (folder / name).touch()


async def test_a_file_that_is_gone_from_the_cache_is_no_other_file(repository: Path, tmp_path: Path) -> None:
    commit(repository, "horn.md", HORN)
    reader = GitReader(str(repository), cache=tmp_path / "cache", max_bytes=10_000)
    await reader.listing()
    [folder] = [each for each in (tmp_path / "cache").iterdir() if each.is_dir()]
    shutil.rmtree(folder / "objects")
    (folder / "objects").mkdir()
    with pytest.raises(DependencyFailed):
        await reader.read(["horn.md", "lamp.md"])
    await reader.close()


async def test_a_repository_that_nobody_follows_any_more_is_removed(repository: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    reader = GitReader(str(repository), cache=cache, max_bytes=10_000)
    await reader.listing()
    assert remove_unused(cache, days=-1) == 0, "it is being read"
    await reader.close()
    assert remove_unused(cache) == 0
    assert remove_unused(cache, days=-1) == 1
    assert not [each for each in cache.iterdir() if each.is_dir()]
    await reader.listing()
    await reader.close()
    assert len(cached(cache)) == 3


async def ended(*command: str, **how: Any) -> asyncio.subprocess.Process:
    """Start a process, and give it when it has ended."""
    process = await START(*command, **how)
    await process.wait()
    return process


START = asyncio.create_subprocess_exec


def test_a_repository_is_read_where_each_git_has_ended_before_it_is_heard(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio, "create_subprocess_exec", ended)
    reader = GitReader(str(repository), cache=tmp_path / "cache", max_bytes=10_000)

    async def text() -> bytes | None:
        [listed] = (await reader.listing()).files
        [read] = await reader.read([listed.path])
        await reader.close()
        assert isinstance(read, NewDocument)
        return read.data

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as `citewell serve` has it
        assert runner.run(text()) == LAMP.encode()


def test_a_git_that_fails_at_once_is_told_by_its_own_words(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "bin" / "git"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\necho 'fatal: the lamp is out' >&2\nexit 3\n")
    stub.chmod(0o755)
    monkeypatch.setattr(asyncio, "create_subprocess_exec", ended)
    monkeypatch.setenv("PATH", str(stub.parent), prepend=os.pathsep)
    reader = GitReader(str(repository), cache=tmp_path / "cache", max_bytes=10_000)
    with (
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        pytest.raises(DependencyFailed, match="the lamp is out"),
    ):
        runner.run(reader.listing())


@pytest.fixture
def fetches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[list[str]]]:
    """List the arguments of each fetch of a git that fetches nothing."""
    stub, written = tmp_path / "bin" / "git", tmp_path / "arguments"
    stub.parent.mkdir()
    stub.write_text(f'#!/bin/sh\ncase "$*" in *" fetch "*) echo "$*" >> {written}; exit 3;; esac\n')
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", str(stub.parent), prepend=os.pathsep)
    return lambda: [line.split() for line in written.read_text().splitlines()] if written.exists() else []


HOSTS = ["git.example.com", "Git.Example.COM", "git.example.com.", "пример.рф", "straße.example", "例え.テスト"]


@pytest.mark.parametrize("host", HOSTS)
async def test_git_asks_the_address_that_was_checked_however_its_host_is_written(
    tmp_path: Path, fetches: Callable[[], list[list[str]]], host: str
) -> None:
    asked: list[str] = []

    async def resolve(name: str, port: int) -> list[str]:
        asked.append(name)
        return ["93.184.215.14"]

    guard = Guard(resolve=resolve)
    reader = GitReader(f"https://{host}/a/b.git", cache=tmp_path / "cache", max_bytes=10_000, guard=guard)
    with pytest.raises(DependencyFailed):
        await reader.listing()
    [fetch] = fetches()
    [url] = [urlsplit(each) for each in fetch if each.startswith("https:")]
    [proxy] = [each.partition("=")[2] for each in fetch if each.startswith("http.proxy=")]
    assert urlsplit(proxy).hostname == "127.0.0.1"
    assert asked == [url.hostname]
    assert url.netloc.isascii()


async def test_a_private_address_of_a_repository_is_told_as_such(
    tmp_path: Path, fetches: Callable[[], list[list[str]]]
) -> None:
    reader = GitReader("https://127.0.0.1/a.git", cache=tmp_path / "cache", max_bytes=10_000, guard=Guard())
    with pytest.raises(DependencyFailed) as refused:
        await reader.listing()
    assert refused.value.code == DependencyFailed.code
    assert "SERPER" not in (refused.value.suggestion or "")
    assert fetches() == []


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
async def test_a_repository_that_was_removed_in_part_is_fetched_anew(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    reader = GitReader(str(repository), cache=cache, max_bytes=10_000)
    before = await reader.listing()
    await reader.close()
    remove = shutil.rmtree

    def cut_off(folder: Path) -> None:
        remove(folder / "objects")
        raise OSError("the process was killed here")

    with monkeypatch.context() as dying:
        dying.setattr(shutil, "rmtree", cut_off)
        assert remove_unused(cache, days=-1) == 0
    assert await reader.listing() == before
    await reader.close()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
async def test_a_repository_that_is_not_there_is_told(harbour: Harbour, tmp_path: Path) -> None:
    from graph.errors import DependencyFailed

    with pytest.raises(DependencyFailed, match="git could not read"):
        await harbour.syncer.sync(ME, await harbour.source(kind="git", location=str(tmp_path / "nowhere")))
    for location in ("ssh://git.example/x", "ext::sh -c id", "https://me:secret@git.example/x"):
        with pytest.raises(InvalidRequest):
            checked_location("git", location, [])


def test_the_api_reads_folders_below_its_roots_alone(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside").mkdir()
    (inside / "link").symlink_to(tmp_path / "outside")
    assert checked_location("folder", str(inside), [str(inside)]) == str(inside)
    for location in (inside / ".." / "outside", inside / "link", tmp_path):
        for kind in ("folder", "git"):
            with pytest.raises(InvalidRequest):
                checked_location(kind, str(location), [str(inside)])
    with pytest.raises(InvalidRequest):
        checked_location("folder", str(inside), [])


def gitlink(inside: Path, outside: Path) -> str:
    (inside / ".git").write_text(f"gitdir: {outside / '.git'}\n")
    return str(inside)


def alternates(inside: Path, outside: Path, *, by: Path | None = None) -> str:
    """Make a repository that has the names of commits whose objects it borrows."""
    git(inside, "init")
    shutil.copytree(outside / ".git" / "refs", inside / ".git" / "refs", dirs_exist_ok=True)
    (inside / ".git" / "objects" / "info" / "alternates").write_text(f"{by or outside / '.git' / 'objects'}\n")
    return str(inside)


def chained_alternates(inside: Path, outside: Path) -> str:
    between = inside / "between" / "objects"
    (between / "info").mkdir(parents=True)
    (between / "info" / "alternates").write_text(f"{outside / '.git' / 'objects'}\n")
    return alternates(inside, outside, by=between)


def common_folder(inside: Path, outside: Path) -> str:
    git(inside, "init")
    (inside / ".git" / "commondir").write_text(f"{outside / '.git'}\n")
    return str(inside)


def linked(*parts: str) -> Callable[[Path, Path], str]:
    """Make a copy of the repository in which a part is a symbolic link out of it."""

    def build(inside: Path, outside: Path) -> str:
        shutil.copytree(outside / ".git", inside / ".git")
        part = inside.joinpath(".git", *parts)
        shutil.rmtree(part)
        part.symlink_to(outside.joinpath(".git", *parts))
        return str(inside)

    return build


def linked_packs(inside: Path, outside: Path) -> str:
    git(outside, "repack", "-a", "-d")
    shutil.copytree(outside / ".git", inside / ".git")
    for pack in (inside / ".git" / "objects" / "pack").iterdir():
        pack.unlink()
        pack.symlink_to(outside / ".git" / "objects" / "pack" / pack.name)
    return str(inside)


def index_of_packs_elsewhere(inside: Path, outside: Path) -> str:
    shutil.copytree(outside / ".git", inside / ".git")
    git(inside, "multi-pack-index", "write")
    packs = inside / ".git" / "objects" / "pack"
    [name] = [each.name for each in packs.glob("*.idx")]
    for pack in packs.glob("pack-*"):
        pack.rename(outside / f"p{pack.suffix}")
    index = packs / "multi-pack-index"
    index.chmod(0o600)
    way = f"../../../../{outside.name}".ljust(len(name) - len("p.idx"), "/") + "p.idx"
    index.write_bytes(index.read_bytes().replace(name.encode(), way.encode()))
    return str(inside)


def address_with_a_query(inside: Path, outside: Path) -> str:
    (inside / "a?").mkdir()
    return f"{inside.as_uri()}/a?/../../{outside.name}"


def worktree(inside: Path, outside: Path) -> str:
    git(outside, "worktree", "add", str(inside / "tree"))
    return str(inside / "tree")


def folder_for_a_file(inside: Path, outside: Path) -> str:
    shutil.copytree(outside / ".git", inside / ".git")
    (inside / ".git" / "HEAD").unlink()
    (inside / ".git" / "HEAD").mkdir()
    return str(inside)


def reftable(inside: Path, outside: Path) -> str:
    shutil.copytree(outside / ".git", inside / ".git")
    (inside / ".git" / "reftable").mkdir()
    return str(inside)


ESCAPES: list[Callable[[Path, Path], str]] = [
    gitlink, alternates, chained_alternates, common_folder, linked_packs, index_of_packs_elsewhere,
    address_with_a_query, worktree, folder_for_a_file, reftable,
    *(linked(*parts) for parts in ([], ["objects"], ["objects", "pack"], ["refs"])),
]  # fmt: skip


def held_open(folder: Path) -> list[str]:
    """List what this process has open below a folder, where the system tells."""
    opened = [os.path.realpath(each) for each in Path("/proc/self/fd").glob("*")]
    return [path for path in opened if path.startswith(str(folder))]


@pytest.mark.parametrize("escape", ESCAPES)
async def test_below_the_roots_no_repository_leads_out_of_them(
    harbour: Harbour, repository: Path, tmp_path: Path, escape: Callable[[Path, Path], str]
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    git(repository, "repack", "-d")
    source = await harbour.source(kind="git", location=escape(inside, repository))
    harbour.confine(inside)
    with pytest.raises((InvalidRequest, DependencyFailed)):
        await harbour.syncer.sync(ME, source)
    assert await harbour.listed() == []
    assert held_open(inside) == []


def as_it_is(repository: Path) -> None:
    pass


def packed(repository: Path) -> None:
    git(repository, "gc")


def bare(repository: Path) -> None:
    (repository / ".git").rename(repository.parent / "bare")
    shutil.rmtree(repository)
    (repository.parent / "bare").rename(repository)


def of_another_configuration(repository: Path) -> None:
    (repository / ".git" / "config").write_text("[no configuration")


@pytest.mark.parametrize("become", [as_it_is, packed, bare, of_another_configuration])
async def test_a_repository_below_the_roots_is_read_as_it_is(
    harbour: Harbour, repository: Path, become: Callable[[Path], None]
) -> None:
    git(repository, "tag", "first")
    git(repository, "switch", "--create", "horns")
    commit(repository, "horn.md", HORN)
    become(repository)
    harbour.confine(repository.parent)
    for ref, paths in ((None, {"lamp.md", "horn.md"}), ("first", {"lamp.md"}), ("horns", {"lamp.md", "horn.md"})):
        source = await harbour.source(kind="git", location=str(repository), ref=ref)
        assert {file.path for file in (await harbour.syncer.sync(ME, source, dry_run=True)).files} == paths
    left = [path for path in harbour.settings.data_dir.glob("git/*/copy")]
    assert left == []


async def test_what_was_read_without_roots_is_not_told_below_them(repository: Path, tmp_path: Path) -> None:
    inside, cache = tmp_path / "inside", tmp_path / "cache"
    inside.mkdir()
    alternates(inside, repository)
    anywhere = GitReader(str(inside), cache=cache, max_bytes=10_000)
    await anywhere.listing()
    await anywhere.close()
    (inside / ".git" / "objects" / "info" / "alternates").unlink()
    with pytest.raises(DependencyFailed):
        await GitReader(str(inside), cache=cache, max_bytes=10_000, root=inside).listing()


async def test_a_repository_that_is_copied_leaves_the_disk_its_room(repository: Path, tmp_path: Path) -> None:
    cache, root = tmp_path / "cache", tmp_path
    reader = GitReader(str(repository), cache=cache, max_bytes=10_000, root=root, reserve=1 << 60)
    with pytest.raises(DiskLow):
        await reader.listing()
    assert list(cache.glob("*/copy")) == []


async def test_a_repository_that_becomes_a_link_after_it_was_checked_is_not_followed(
    repository: Path, tmp_path: Path
) -> None:
    inside = tmp_path / "inside"
    shutil.copytree(repository, inside / "repository")
    reader = GitReader(str(inside / "repository"), cache=tmp_path / "cache", max_bytes=10_000, root=inside)
    await reader.listing()
    shutil.rmtree(inside / "repository")
    (inside / "repository").symlink_to(repository)
    with pytest.raises(InvalidRequest):
        await reader.listing()
    await reader.close()


async def _rows(harbour: Harbour, statement: str) -> Sequence[tuple[Any, ...]]:
    async with harbour.database.connection() as connection:
        return await (await connection.execute(statement)).fetchall()


async def test_a_library_follows_a_bucket(harbour: Harbour, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = pytest.importorskip("obstore.store")
    import obstore

    bucket = stores.MemoryStore()
    monkeypatch.setattr("tools.library.syncing.open_bucket", lambda location: bucket)
    await obstore.put_async(bucket, "guides/lamp.md", LAMP.encode())
    await obstore.put_async(bucket, "horn.md", HORN.encode())
    await obstore.put_async(bucket, ".hidden/boat.md", BOAT.encode())
    source = await harbour.source(kind="s3", location="s3://harbour/docs/")
    assert source.location == "s3://harbour/docs"
    assert counted(await harbour.syncer.sync(ME, source)) == {"new": 2}
    first = await harbour.ids()
    await obstore.rename_async(bucket, "horn.md", "guides/fog.md")
    await obstore.put_async(bucket, "guides/lamp.md", BOAT.encode())
    assert counted(await harbour.syncer.sync(ME, source)) == {"changed": 1, "moved": 1}
    assert await harbour.ids() == {"guides/fog.md": first["horn.md"], "guides/lamp.md": first["guides/lamp.md"]}
    assert counted(await harbour.syncer.sync(ME, source)) == {"unchanged": 2}
    for location in ("s3://", "s3:///", "https://harbour/docs"):
        with pytest.raises(InvalidRequest):
            checked_location("s3", location, None)
    assert checked_location("s3", "s3://harbour/docs", ["s3://harbour/docs/"]) == "s3://harbour/docs"
    with pytest.raises(InvalidRequest):
        checked_location("s3", "s3://harbour/docs-of-others", ["s3://harbour/docs"])
