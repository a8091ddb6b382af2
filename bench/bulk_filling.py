"""Fill a workspace with millions of segments in minutes: rows laid out by processes of their own, indexes behind them.

Rows are those that ingestion makes of the same texts. They go in by COPY, and the index on terms is built when they are
there, as ``pg_restore`` does. They hold no vectors. No text repeats: each chunk draws its own.
"""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql

from bench.common_bench import SEED, cpu_seconds
from bench.corpus import SEGMENTS_PER_DOCUMENT, TOKENS, Corpus
from bench.figures import Figure, compared, figure
from text.terms import K1, MEAN_LENGTH, TERM_SPACE, TITLE_COUNT, B, TermVector, weigh_segment, with_impacts
from tools.retrieval.segment_rows import HEADER, TRAILER, segment_row
from tools.retrieval.segmenting import SegmentSpan
from tools.storage.database import Connection
from tools.storage.partitions import create_tables, drop_tables, partition_name, view_name
from tools.storage.stored_columns import SEGMENT_COLUMNS

CHUNK = 10_000  # segments that a process lays out at a time
WORDS, TITLE_WORDS, SENTENCE = 100, 3, 16  # of a segment, a title, a sentence
WORKSPACE = 2  # the number of the first workspace that is created, which the rows hold
INDEX_MEGABYTES = 256  # for building an index on terms
GIN = "CREATE INDEX ON {} USING gin (terms) WITH (fastupdate = on, gin_pending_list_limit = 1024)"


def lay_out(folder: Path, chunk: int) -> None:
    """Write the rows of a chunk of segments, and its documents, to files. For a process of its own."""
    target = folder / f"{chunk}.rows"
    if target.exists():
        return
    documents = list(bulk_documents(chunk))
    with open(folder / f"{chunk}.partial", "wb") as file:
        for each in documents:
            file.writelines(each.rows)
    (folder / f"{chunk}.documents").write_text("".join(f"{each.document_id}\t{each.title}\n" for each in documents))
    (folder / f"{chunk}.partial").rename(target)


@dataclass(frozen=True, slots=True)
class BulkDocument:
    """A document whose rows are laid out, and its segments' texts."""

    document_id: UUID
    title: str
    bodies: list[str]
    rows: list[bytes]


def bulk_documents(chunk: int, documents: int = CHUNK // SEGMENTS_PER_DOCUMENT) -> Iterator[BulkDocument]:
    """Make the documents of a chunk, five times as fast as one by one: their words are weighed in one array.

    Their rows are those that ingestion makes of the same texts.
    """
    corpus = _corpus().other(chunk)
    words, drawn, subjects = corpus.drawn_words(documents, WORDS)
    titles = np.repeat(subjects[:, :TITLE_WORDS], SEGMENTS_PER_DOCUMENT, axis=0)
    body = drawn.reshape(-1, WORDS)
    vectors = _weigh(words, np.concatenate([body, *[titles] * TITLE_COUNT], axis=1))
    openings = [word.capitalize() for word in words]
    for place in range(documents):
        number, title = corpus.new_id(), " ".join(words[rank] for rank in subjects[place, :TITLE_WORDS]).title()
        bodies, rows, start = [], [], 0
        for index in range(SEGMENTS_PER_DOCUMENT):
            at = place * SEGMENTS_PER_DOCUMENT + index
            text = _sentences(words, openings, body[at].tolist())
            span = SegmentSpan(index, start, start + len(text), None, "", TOKENS)
            rows.append(segment_row(WORKSPACE, number, span, vectors[at], with_impacts(vectors[at]), text))
            bodies.append(text)
            start += len(text)
        yield BulkDocument(number, title, bodies, rows)


def _sentences(words: list[str], openings: list[str], ranks: list[int]) -> str:
    sentences = [
        " ".join([openings[ranks[start]], *[words[rank] for rank in ranks[start + 1 : start + SENTENCE]]])
        for start in range(0, len(ranks), SENTENCE)
    ]
    return ". ".join(sentences) + ". "


@cache
def _corpus() -> Corpus:
    return Corpus(SEED)


@cache
def _terms_of(word: str) -> tuple[int, ...]:
    return tuple(weigh_segment(word).ids.tolist())


def _weigh(words: list[str], segments: NDArray[np.int64]) -> list[TermVector]:
    """Weigh the terms of segments of the same number of words, as ``weigh_segment`` does."""
    used, place = np.unique(segments, return_inverse=True)
    terms = [_terms_of(words[rank]) for rank in used.tolist()]
    ids = np.zeros((len(used), max(map(len, terms))), np.int64)
    for at, found in enumerate(terms):
        ids[at, : len(found)] = found
    of_words = ids[place.reshape(segments.shape)]
    keys = of_words + (np.arange(len(segments)) * (TERM_SPACE + 1))[:, None, None]
    distinct, counts = np.unique(keys[of_words > 0], return_counts=True)
    segment, term = np.divmod(distinct, TERM_SPACE + 1)
    norm = np.float32(K1 * (1.0 - B + B * segments.shape[1] / MEAN_LENGTH))
    frequency = counts.astype(np.float32)
    weights = frequency * np.float32(K1 + 1) / (frequency + norm)
    bounds = np.flatnonzero(np.diff(segment)) + 1
    pairs = zip(np.split(term.astype(np.int32), bounds), np.split(weights, bounds), strict=True)
    return [TermVector(*pair) for pair in pairs]


class Built:
    """What a block takes of a connection's server process: CPU seconds, and the most mebibytes of its own memory."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._status = Path(f"/proc/{conn.info.backend_pid}/status")
        self._ended = threading.Event()
        self._before = self._most = 0
        self.cpu = 0.0

    @property
    def mebibytes(self) -> float:
        """How much the process has grown by."""
        return (self._most - self._before) / 1024

    def figure(self, name: str) -> Figure:
        """Return both as one figure."""
        return compared(figure(name, self.cpu, "s of CPU"), {"memory, MiB": self.mebibytes}, rival=None)

    def __enter__(self) -> "Built":
        self._before = self._own()
        self.cpu = -cpu_seconds(self._conn)
        self._watching = threading.Thread(target=self._watch)
        self._watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watching.join()
        self.cpu += cpu_seconds(self._conn)

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            self._most = max(self._most, self._own())

    def _own(self) -> int:
        found = next(line for line in self._status.read_text().splitlines() if line.startswith("RssAnon"))
        return int(found.split()[1])


def table_of(workspace: int, part: int = 0) -> sql.Identifier:
    """Return the table of a part."""
    return sql.Identifier(partition_name(workspace, part))


async def make_anew(conn: Connection, workspace: int) -> None:
    """Make the tables of a workspace anew, which are no part of the library: searches name them themselves."""
    await conn.execute(sql.SQL("DROP VIEW {}").format(sql.Identifier(view_name(workspace))))
    await drop_tables(conn, workspace)
    await create_tables(conn, workspace)


async def copy_chunks(conn: Connection, rows: Path, part: int, chunks: Sequence[int]) -> Built:
    """Copy laid-out chunks into a part of ``WORKSPACE`` without indexes; return what the index on terms then took."""
    table = table_of(WORKSPACE, part)
    await drop_indexes(conn, table)
    for chunk in chunks:
        async with conn.transaction():
            await _copy(conn, table, rows / f"{chunk}.rows")
            await _documents(conn, rows / f"{chunk}.documents")
    return await build_indexes(conn, table)


async def count_parts(conn: Connection, filled: Sequence[int]) -> None:
    """Tell the library how many segments each part of ``WORKSPACE`` has."""
    segments = sum(filled)
    await conn.execute(
        "UPDATE library_statistics SET segments = %s, documents = %s, part_segments = %s WHERE workspace = %s",
        [segments, segments // SEGMENTS_PER_DOCUMENT, list(filled) if len(filled) > 1 else None, WORKSPACE],
    )


async def drop_indexes(conn: Connection, table: sql.Identifier) -> None:
    """Drop the key and all indexes of a table."""
    found = await conn.execute(
        "SELECT c.conname FROM pg_constraint AS c WHERE c.conrelid = %s::regclass AND c.contype = 'p'",
        [table.as_string()],
    )
    [(key,)] = await found.fetchall()
    await conn.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(table, sql.Identifier(key)))
    found = await conn.execute(
        "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = %s::regclass", [table.as_string()]
    )
    for (index,) in await found.fetchall():
        await conn.execute(sql.SQL("DROP INDEX {}").format(sql.SQL(index)))


async def build_indexes(conn: Connection, table: sql.Identifier) -> Built:
    """Build the key and the index on terms; return what the latter took."""
    await conn.execute(sql.SQL("ALTER TABLE {} ADD PRIMARY KEY (workspace, document_id, segment_index)").format(table))
    return await build(conn, sql.SQL(GIN).format(table), INDEX_MEGABYTES)


async def build(conn: Connection, statement: sql.Composed, megabytes: int) -> Built:
    """Build an index by a server process of its own, whose memory tells what that took."""
    async with await psycopg.AsyncConnection.connect(conn.info.dsn, autocommit=True) as alone:
        await alone.execute("SET max_parallel_maintenance_workers = 0")
        await alone.execute(sql.SQL("SET maintenance_work_mem = {}").format(sql.Literal(f"{megabytes}MB")))
        with Built(alone) as built:
            await alone.execute(statement)
    return built


async def _copy(conn: Connection, table: sql.Identifier, rows: Path) -> None:
    copy = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(table, sql.SQL(SEGMENT_COLUMNS))
    async with conn.cursor().copy(copy) as stream:
        await stream.write(HEADER)
        await stream.write(await asyncio.to_thread(rows.read_bytes))
        await stream.write(TRAILER)


async def _documents(conn: Connection, documents: Path) -> None:
    lines = [line.split("\t") for line in (await asyncio.to_thread(documents.read_text)).splitlines()]
    ids, titles = zip(*lines, strict=True)
    await conn.execute(
        "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
        " SELECT %s, d.document_id, d.title, 'text/plain', md5(d.title)"
        " FROM unnest(%s::uuid[], %s::text[]) AS d (document_id, title)",
        [WORKSPACE, list(ids), list(titles)],
    )
