"""Ingestion over a real PostgreSQL: what is written, what is left alone, and what a failure leaves."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from graph.errors import EmbeddingUnavailable, InvalidRequest, NotFound, UnreadableDocument
from graph.evidence import Identity
from tools.embeddings.embedder import Embedder, open_embedder
from tools.library.catalogue import Documents
from tools.library.document_reader import BATCH_DOCUMENTS
from tools.library.found_files import unread_files
from tools.library.ingestion import Ingested, Ingestor, NewDocument, Refused, Report
from tools.library.reading import Progress, silent
from tools.library.sandbox import Sandbox
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

ME = Identity()
LONG = "\n\n".join(f"Paragraph {n} tells of lamp number {n}. It shines for {n} hours a day." for n in range(200))


@pytest.fixture
async def embedder(settings: Settings) -> Embedder:
    return await open_embedder(settings)


@pytest.fixture(scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    opened = Sandbox(2, 60, 1024)
    yield opened
    await opened.close()


@pytest.fixture(params=["in_threads", "in_processes"])
def ingestor(
    request: pytest.FixtureRequest, database: Database, embedder: Embedder, settings: Settings, sandbox: Sandbox
) -> Ingestor:
    shared = sandbox if request.param == "in_processes" else None
    return Ingestor(database, Workspaces(database), embedder, settings, shared)


@pytest.fixture
def documents(database: Database) -> Documents:
    return Documents(database, Workspaces(database))


async def rows(database: Database, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    async with database.connection() as connection:
        return await (await connection.execute(statement, values)).fetchall()


async def versions(database: Database) -> list[tuple[Any, ...]]:
    """Give the row versions of everything that ingestion writes."""
    return [
        *await rows(database, "SELECT document_id::text, xmin::text FROM documents ORDER BY 1"),
        *await rows(database, "SELECT document_id::text, segment_index, xmin::text FROM segments ORDER BY 1, 2"),
        *await rows(database, "SELECT term, xmin::text FROM term_statistics ORDER BY 1"),
        *await rows(database, "SELECT workspace, xmin::text FROM library_statistics"),
    ]


async def gathered(reports: AsyncIterator[Report]) -> list[Report]:
    return [report async for report in reports]


def of_paths(ingestor: Ingestor, paths: Sequence[Path], progress: Progress = silent) -> AsyncIterator[Report]:
    files = unread_files(paths, ME.workspace, NewDocument(source_type="file"))
    return ingestor.ingest_many(ME, files, progress=progress)


async def gather_into(gathering: list[Report], reports: AsyncIterator[Report]) -> None:
    async for report in reports:
        gathering.append(report)


async def test_a_document_is_stored_with_all_that_its_caller_says(ingestor: Ingestor, documents: Documents) -> None:
    document_id = str(uuid4())
    metadata = {"article": {"id": 7, "tags": ["a", None, 1.5]}, "ключ": "значение"}
    report = await ingestor.ingest(
        ME,
        NewDocument(
            document_id=document_id.upper(),
            text=LONG,
            title="Lamps",
            owner="local",
            space={"id": "s1", "slug": "light"},
            slug="lamps-1",
            url="https://example.org/lamps",
            source_type="article",
            metadata=metadata,
        ),
    )
    assert report == Ingested(document_id, "", "Lamps", "created", report.segments)
    assert report.segments > 5
    stored = await documents.get(ME, document_id)
    assert (stored.title, stored.owner, stored.space) == ("Lamps", "local", {"id": "s1", "slug": "light"})
    assert (stored.slug, stored.url, stored.source_type) == ("lamps-1", "https://example.org/lamps", "article")
    assert (stored.metadata, stored.segments) == (metadata, report.segments)
    raw = await documents.raw_text(ME, document_id)
    assert "".join(segment["text"] for segment in raw["segments"]) == LONG
    assert [segment["segment_index"] for segment in raw["segments"]] == list(range(report.segments))
    for segment in raw["segments"]:
        assert LONG[segment["start"] : segment["end"]] == segment["text"]


async def test_a_document_for_id_citations_has_a_segment_a_paragraph(ingestor: Ingestor) -> None:
    text = "Chủ tịch là bà Trần Phương.\n\nThư ký là ông Lê Minh.\n\nLệ phí là 30 triệu đồng."
    usual = await ingestor.ingest(ME, NewDocument(text=text))
    by_paragraph = await ingestor.ingest(ME, NewDocument(text=text, dialect="id_citations"))
    assert (usual.segments, by_paragraph.segments) == (1, 3)


async def test_an_unchanged_document_writes_no_row(ingestor: Ingestor, database: Database) -> None:
    document = NewDocument(document_id=str(uuid4()), text=LONG, metadata={"b": 1, "a": [2.0]})
    first = await ingestor.ingest(ME, document)
    before = await versions(database)
    again = await ingestor.ingest(ME, document)
    assert (again.status, again.segments) == ("unchanged", first.segments)
    assert await versions(database) == before


async def test_what_of_a_file_is_not_in_its_text_is_kept_and_told(ingestor: Ingestor, documents: Documents) -> None:
    struck = NewDocument(document_id=str(uuid4()), name="lamp.md", data=b"Two lamps. ~~Three lamps.~~ <!-- why -->")
    told = ["Struck-out or hidden text was left out (2 passages)."]
    first = await ingestor.ingest(ME, struck)
    again = await ingestor.ingest(ME, struck)
    assert (first.left_out, again.left_out, again.status) == (told, told, "unchanged")
    stored = await documents.get(ME, first.document_id)
    [listed] = (await documents.list(ME, document_ids=[first.document_id])).documents
    assert (stored.left_out, listed.left_out) == (told, told)
    assert stored.metadata == {"file_path": "lamp.md"}
    mended = await ingestor.ingest(ME, replace(struck, data=b"Two lamps. "))
    assert (mended.left_out, mended.status) == ([], "updated")
    assert (await documents.get(ME, first.document_id)).left_out == []


async def test_a_change_of_fields_updates_the_row_alone(ingestor: Ingestor, database: Database) -> None:
    document_id = str(uuid4())
    await ingestor.ingest(ME, NewDocument(document_id=document_id, text=LONG, title="Lamps"))
    before = await versions(database)
    changed = await ingestor.ingest(
        ME, NewDocument(document_id=document_id, text=LONG, title="Lamps", slug="new", metadata={"seen": True})
    )
    assert changed.status == "updated"
    after = await versions(database)
    assert after[0] != before[0]
    assert after[1:] == before[1:]


async def test_a_new_text_replaces_only_its_own_segments(
    ingestor: Ingestor, documents: Documents, database: Database
) -> None:
    ours, other = str(uuid4()), str(uuid4())
    await ingestor.ingest(ME, NewDocument(document_id=ours, text=LONG))
    await ingestor.ingest(ME, NewDocument(document_id=other, text=LONG))
    others = "SELECT segment_index, xmin::text FROM segments WHERE document_id = %s ORDER BY 1"
    before = await rows(database, others, other)
    report = await ingestor.ingest(ME, NewDocument(document_id=ours, text="A single lamp.\r\n"))
    assert (report.status, report.segments) == ("updated", 1)
    raw = await documents.raw_text(ME, ours)
    assert [segment["text"] for segment in raw["segments"]] == ["A single lamp.\r\n"]
    assert await rows(database, others, other) == before
    [(segments, counted)] = await rows(database, "SELECT segments, documents FROM library_statistics")
    assert (segments, counted) == (1 + len(before), 2)


class Unplugged(Embedder):
    """An embedder whose endpoint goes down after some calls."""

    def __init__(self, real: Embedder, calls: int = 0) -> None:
        self.model, self.dimension = real.model, real.dimension
        self.coverage = real.coverage
        self._real, self._calls = real, calls

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._calls -= 1
        if self._calls >= 0:
            return await self._real.embed(texts)
        raise EmbeddingUnavailable("The embedding endpoint does not answer.")

    async def close(self) -> None:
        pass


async def test_nothing_is_written_where_embedding_fails(
    ingestor: Ingestor, database: Database, embedder: Embedder, settings: Settings
) -> None:
    document_id = str(uuid4())
    await ingestor.ingest(ME, NewDocument(document_id=document_id, text=LONG))
    before = await versions(database)
    failing = Ingestor(database, Workspaces(database), Unplugged(embedder), settings)
    with pytest.raises(EmbeddingUnavailable):
        await failing.ingest(ME, NewDocument(document_id=document_id, text="New text."))
    with pytest.raises(EmbeddingUnavailable):
        await failing.ingest(ME, NewDocument(text="Another."))
    assert await versions(database) == before


async def test_a_failure_within_the_transaction_leaves_the_old_version_whole(
    ingestor: Ingestor, database: Database, documents: Documents
) -> None:
    document_id = str(uuid4())
    await ingestor.ingest(ME, NewDocument(document_id=document_id, text=LONG))
    before = await versions(database)
    async with database.connection() as connection:
        # The last statement of a replacement counts the new segments: here it fails.
        await connection.execute("ALTER TABLE library_statistics ADD CHECK (segments <> 1)")
    with pytest.raises(Exception, match="library_statistics"):
        await ingestor.ingest(ME, NewDocument(document_id=document_id, text="New text."))
    assert await versions(database) == before
    raw = await documents.raw_text(ME, document_id)
    assert "".join(segment["text"] for segment in raw["segments"]) == LONG


async def test_two_ingestions_of_one_document_leave_one_whole_version(ingestor: Ingestor, documents: Documents) -> None:
    document_id = str(uuid4())
    texts = [f"Version {n}. " + LONG[: 500 * (n + 1)] for n in range(6)]
    await asyncio.gather(*(ingestor.ingest(ME, NewDocument(document_id=document_id, text=text)) for text in texts))
    raw = await documents.raw_text(ME, document_id)
    assert "".join(segment["text"] for segment in raw["segments"]) in texts


async def test_many_documents_in_opposite_orders_do_not_deadlock(ingestor: Ingestor, database: Database) -> None:
    ids = [str(uuid4()) for _ in range(30)]

    async def ingest(order: Sequence[str], word: str) -> list[Report]:
        made = [NewDocument(document_id=each, text=f"{word} {LONG[:400]}") for each in order]
        return await gathered(ingestor.ingest_many(ME, made))

    one, two = await asyncio.gather(ingest(ids, "first"), ingest(ids[::-1], "second"))
    assert {report.status for report in [*one, *two]} <= {"created", "updated"}
    assert len(one) == len(two) == 30
    assert await rows(database, "SELECT count(DISTINCT document_id), count(*) FROM segments") == [(30, 30)]


async def test_a_batch_takes_one_id_twice_in_order(ingestor: Ingestor, documents: Documents) -> None:
    document_id = str(uuid4())
    made = [NewDocument(document_id=document_id, text=text) for text in ("One.", "Two.", "Two.")]
    reports = await gathered(ingestor.ingest_many(ME, made))
    assert [report.status for report in reports] == ["created", "updated", "unchanged"]
    assert (await documents.raw_text(ME, document_id))["segments"][0]["text"] == "Two."


async def test_batches_before_a_failure_stay(
    database: Database, embedder: Embedder, settings: Settings, documents: Documents
) -> None:
    failing = Ingestor(database, Workspaces(database), Unplugged(embedder, calls=1), settings)
    made = [NewDocument(text=f"Text {number}.") for number in range(BATCH_DOCUMENTS + 50)]
    reports: list[Report] = []
    with pytest.raises(EmbeddingUnavailable):
        await gather_into(reports, failing.ingest_many(ME, made))
    assert {report.status for report in reports} == {"created"}
    assert await rows(database, "SELECT count(*) FROM documents") == [(len(reports),)] == [(BATCH_DOCUMENTS,)]


async def test_whoever_stops_listening_stops_the_ingestion(ingestor: Ingestor, database: Database) -> None:
    made = [NewDocument(text=f"Text {number}.") for number in range(3 * BATCH_DOCUMENTS)]
    async with aclosing(ingestor.ingest_many(ME, made)) as reports:
        async for report in reports:
            assert report.status == "created"
            break
    assert await rows(database, "SELECT count(*) FROM documents") == [(BATCH_DOCUMENTS,)]


async def test_a_private_document_is_not_there_for_others(ingestor: Ingestor, documents: Documents) -> None:
    mine = await ingestor.ingest(ME, NewDocument(text="Mine.", owner="local"))
    stranger = Identity(user="stranger")
    with pytest.raises(NotFound):
        await ingestor.ingest(stranger, NewDocument(document_id=mine.document_id, text="Taken over."))
    [refused] = await gathered(
        ingestor.ingest_many(stranger, [NewDocument(document_id=mine.document_id, text="Taken over.", name="x.txt")])
    )
    assert isinstance(refused, Refused)
    assert (refused.name, refused.code) == ("x.txt", "not_found")
    assert (await documents.raw_text(ME, mine.document_id))["segments"][0]["text"] == "Mine."


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"document_id": "c1"}, "document_id"),
        ({"metadata": {"a": "x" * 17_000}}, "metadata"),
        ({"metadata": {"a": float("nan")}}, "metadata"),
        ({"metadata": {"a": "\x00"}}, "metadata"),
        ({"metadata": []}, "metadata"),
        ({"url": "javascript:alert(1)"}, "url"),
        ({"url": "//elsewhere.example"}, "url"),
        ({"title": "t" * 501}, "title"),
        ({"expires_at": datetime(2030, 1, 1)}, "expires_at"),
    ],
)
async def test_a_field_that_cannot_be_kept_is_named(ingestor: Ingestor, fields: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        await ingestor.ingest(ME, NewDocument(text="Some text.", **fields))


async def test_content_that_is_missing_or_twofold_is_refused(ingestor: Ingestor) -> None:
    with pytest.raises(InvalidRequest):
        await ingestor.ingest(ME, NewDocument())
    with pytest.raises(InvalidRequest):
        await ingestor.ingest(ME, NewDocument(text="a", data=b"a"))
    with pytest.raises(UnreadableDocument):
        await ingestor.ingest(ME, NewDocument(text=" \n\x00"))


async def test_a_literal_backslash_sequence_is_no_nul(ingestor: Ingestor, documents: Documents) -> None:
    metadata = {"a": "\\u0000", "b": "C:\\u0000x"}
    report = await ingestor.ingest(ME, NewDocument(text="Some text.", metadata=metadata))
    assert (await documents.get(ME, report.document_id)).metadata == metadata


async def test_files_go_in_and_broken_ones_are_named(
    ingestor: Ingestor, documents: Documents, settings: Settings, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    (library / "guide").mkdir(parents=True)
    (library / ".git").mkdir()
    (library / ".git" / "config").write_text("hidden")
    (library / "guide" / "lamps.md").write_text("---\nslug: lamps\n---\n# Lamps\n\nThey shine.")
    (library / "a.txt").write_text("Plain words.")
    (library / "b.pdf").write_bytes(b"%PDF-1.7 nothing more")
    (library / "c.txt").write_bytes(b"")
    (library / "d.bin").write_bytes(b"\x00\x01\x02")
    (library / "e.txt").write_bytes(b"x" * (settings.max_document_bytes + 1))
    (library / "f.zip").write_bytes(b"words that are no archive")
    told: list[tuple[int, int]] = []
    reports = await gathered(
        of_paths(ingestor, [library, tmp_path / "gone.md"], progress=lambda done, of: told.append((done, of)))
    )
    assert [(Path(report.name).name, report.status) for report in reports] == [
        ("a.txt", "created"),
        ("b.pdf", "refused"),
        ("c.txt", "refused"),
        ("d.bin", "refused"),
        ("e.txt", "refused"),
        ("f.zip", "refused"),
        ("lamps.md", "created"),
        ("gone.md", "refused"),
    ]
    reasons = [report.reason for report in reports if isinstance(report, Refused)]
    words = ["broken", "empty", "binary", "too large", "archive is broken", "no such file"]
    for reason, word in zip(reasons, words, strict=True):
        assert word in reason
    assert told == [(done, 8) for done in range(1, 9)]
    [lamps] = [report for report in reports if isinstance(report, Ingested) and report.name.endswith("lamps.md")]
    stored = await documents.get(ME, lamps.document_id)
    assert (stored.title, stored.slug, stored.source_type) == ("Lamps", "lamps", "file")


async def test_a_file_keeps_its_id(ingestor: Ingestor, tmp_path: Path, database: Database) -> None:
    file = tmp_path / "docs" / "a.md"
    file.parent.mkdir()
    file.write_text("# One\n\nText.")
    [first] = await gathered(of_paths(ingestor, [tmp_path / "docs"]))
    before = await versions(database)
    [same] = await gathered(of_paths(ingestor, [tmp_path / "docs" / "a.md"]))
    assert (same.status, await versions(database)) == ("unchanged", before)
    file.write_text("# One\n\nOther text.")
    [changed] = await gathered(of_paths(ingestor, [tmp_path / "docs"]))
    assert isinstance(first, Ingested)
    assert isinstance(changed, Ingested)
    assert (changed.document_id, changed.status) == (first.document_id, "updated")


async def test_files_that_would_share_an_id_are_told_apart(ingestor: Ingestor, tmp_path: Path) -> None:
    for side in ("one", "two"):
        (tmp_path / side / "docs").mkdir(parents=True)
        (tmp_path / side / "docs" / "index.md").write_text(f"Words of {side}.")
    paths = [tmp_path / "one" / "docs", tmp_path / "two" / "docs"]
    reports = await gathered(of_paths(ingestor, paths))
    assert [report.status for report in reports] == ["created", "refused"]


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take no such names")
async def test_a_name_that_is_no_text_is_escaped(ingestor: Ingestor, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("Words.")
    [report] = await gathered(of_paths(ingestor, [tmp_path]))
    assert report.status == "created"
    assert report.name.endswith("caf\\xe9.txt")


async def test_a_link_out_of_the_folder_is_not_followed(ingestor: Ingestor, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("A secret lamp.")
    (folder / "a.txt").write_text("A lamp.")
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "within.txt").symlink_to(folder / "a.txt")
    reports = await gathered(of_paths(ingestor, [folder]))
    assert [(Path(report.name).name, report.status) for report in reports] == [
        ("a.txt", "created"),
        ("out.txt", "refused"),
    ]
    assert isinstance(reports[1], Refused)
    assert "out of the folder" in reports[1].reason
    [named] = await gathered(of_paths(ingestor, [folder / "out.txt"]))
    assert named.status == "created", "a file that is named is meant"


async def test_a_pipe_is_not_waited_for(ingestor: Ingestor, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    [report] = await gathered(of_paths(ingestor, [tmp_path]))
    assert isinstance(report, Refused)
    assert "not a regular file" in report.reason


async def test_an_unknown_workspace_takes_nothing_in(ingestor: Ingestor) -> None:
    with pytest.raises(NotFound):
        await ingestor.ingest(Identity(workspace="nowhere"), NewDocument(text="Lost."))


FIXTURES = Path(__file__).parents[1] / "fixtures" / "documents"


async def test_each_file_of_an_archive_is_a_document(
    ingestor: Ingestor, documents: Documents, tmp_path: Path, database: Database
) -> None:
    (tmp_path / "docs").mkdir()
    archive = tmp_path / "docs" / "bundle.zip"
    archive.write_bytes((FIXTURES / "bundle.zip").read_bytes())
    (tmp_path / "docs" / "z.md").write_text("# Last\n\nword", encoding="utf-8")
    told: list[tuple[int, int]] = []
    reports = await gathered(of_paths(ingestor, [tmp_path / "docs"], progress=lambda done, of: told.append((done, of))))
    names = [Path(report.name).relative_to(tmp_path).as_posix() for report in reports]
    assert names == [
        "docs/bundle.zip/docs/lamps.py",
        "docs/bundle.zip/docs/french.txt",
        "docs/bundle.zip/docs/lamps.epub",
        "docs/bundle.zip/inner.zip/deep/values.yaml",
        "docs/bundle.zip/docs/lamp.png",
        "docs/z.md",
    ]
    assert [report.status for report in reports] == ["created"] * 4 + ["refused", "created"]
    assert told == [(1, 2)] * 5 + [(2, 2)]
    code, french, book, *_ = reports
    assert isinstance(code, Ingested)
    assert isinstance(french, Ingested)
    assert isinstance(book, Ingested)
    assert (code.warnings, book.title) == ([], "The lamp book")
    assert ["windows-1252" in warning for warning in french.warnings] == [True]
    stored = await documents.get(ME, french.document_id)
    assert stored.metadata == {"file_path": "docs/bundle.zip/docs/french.txt", "encoding": "windows-1252"}
    before = await versions(database)
    again = await gathered(of_paths(ingestor, [tmp_path / "docs"]))
    assert [report.status for report in again] == ["unchanged"] * 4 + ["refused", "unchanged"]
    assert isinstance(again[1], Ingested)
    assert again[1].warnings == french.warnings
    assert await versions(database) == before


async def test_an_archive_goes_in_by_itself(ingestor: Ingestor, documents: Documents) -> None:
    data = (FIXTURES / "bundle.zip").read_bytes()
    given = NewDocument(data=data, name="bundle.zip", document_id=str(uuid4()), owner=ME.user)
    reports = await gathered(ingestor.ingest_many(ME, [given]))
    again = await gathered(ingestor.ingest_many(ME, [given]))
    stored = [each for each in reports if isinstance(each, Ingested)]
    assert [each.name for each in stored][-1] == "bundle.zip/inner.zip/deep/values.yaml"
    assert [each.document_id for each in stored] == [each.document_id for each in again if isinstance(each, Ingested)]
    assert [each.name for each in reports if isinstance(each, Refused)] == ["bundle.zip/docs/lamp.png"]
    assert (await documents.get(ME, stored[0].document_id)).owner == ME.user
    with pytest.raises(UnreadableDocument, match="several documents"):
        await ingestor.ingest(ME, given)
    titled, broken = replace(given, title="Lamps"), replace(given, data=b"PK\x03\x04")
    refused = await gathered(ingestor.ingest_many(ME, [titled, broken]))
    assert [each.code for each in refused if isinstance(each, Refused)] == ["invalid_request", "unreadable_document"]
