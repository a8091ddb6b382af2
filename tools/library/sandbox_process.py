"""A process that reads files for another one, a file at a time: what a library stores of it, or what a viewer draws.

It has neither a connection to the database nor the keys of the deployment. Its parent sends a frame for each file and
gets frames back: any number of progress, then the document or the error. A frame is a JSON object, with the lengths of
the bytes that follow it.
"""

import gc
import json
import os
import resource
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from functools import cache
from typing import Any, BinaryIO, Literal
from uuid import UUID, uuid4

import numpy as np
from numpy.typing import NDArray

from graph.errors import CitewellError, DocumentTooExpensive, InvalidRequest, UnreadableDocument, restored_error
from tools.embeddings.static_embedding import StaticEmbedder, bundled_embedder, count_tokens
from tools.library.drawn_pictures import drawn_pictures
from tools.library.new_documents import NewDocument, ReadyDocument, id_of, make_ready
from tools.parsers import Recognition
from tools.parsers.canonical_text import storable
from tools.retrieval.segment_rows import TermCounts, packed_rows, vector_rows
from tools.retrieval.segmenting import SegmentSize, segment

LENGTH = struct.Struct(">I")
EMBEDDED_AT_ONCE = 64  # segments, between two reports of progress
# Of a file: more than any book has, so that what has more was made to be a burden.
MOST_PAGES, MOST_CHARACTERS = 10_000, 20_000_000
GRACE_SECONDS = 5  # of CPU time beyond the limit, for a process whose parent is gone and can't end it
NEW_OBJECTS = 10_000  # between two collections of the youngest generation
NICENESS = 10  # so that questions come first
MOST_FILES = 500  # read by one process, in case a parser leaks
_WIRED = [field.name for field in fields(NewDocument) if field.name not in ("text", "data")]

Frame = tuple[dict[str, Any], list[bytes]]
Progress = Callable[[int, int], None]
Task = Literal["document", "pictures", "place"]


@dataclass(frozen=True, slots=True)
class WiredDocument:
    """A document to ingest as it is sent and stored: its fields as JSON in ASCII, and the bytes of its file or text."""

    fields: str
    data: bytes
    is_text: bool
    document_id: str
    name: str

    @classmethod
    def of(cls, new: NewDocument) -> "WiredDocument":
        """Return a document with its id. Raises InvalidRequest."""
        if (new.text is None) == (new.data is None):
            raise InvalidRequest("A document needs either a text or a file.")
        document_id = id_of(new)
        new = replace(new, document_id=document_id, name=storable(new.name))
        values = {name: getattr(new, name) for name in _WIRED}
        if new.expires_at is not None:
            values["expires_at"] = new.expires_at.isoformat()
        try:
            encoded = json.dumps(values)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidRequest("metadata: must be a JSON object.") from error
        data = storable(new.text).encode() if new.text is not None else new.data or b""
        return cls(encoded, data, new.text is not None, document_id, new.name)

    @classmethod
    def refused(cls, name: str, error: CitewellError) -> "WiredDocument":
        """Return a document that can't be read, so that it is reported like the others."""
        reason = [error.code, error.message, error.advice]
        return cls(json.dumps({"error": reason}), b"", is_text=False, document_id=str(uuid4()), name=storable(name))

    def with_id(self, document_id: str) -> "WiredDocument":
        """Return the document under another id."""
        fields = {**json.loads(self.fields), "document_id": document_id}
        return replace(self, fields=json.dumps(fields), document_id=document_id)

    @property
    def expires_at(self) -> datetime | None:
        """When the document expires."""
        moment = json.loads(self.fields).get("expires_at")
        return None if moment is None else datetime.fromisoformat(moment)

    def document(self) -> NewDocument:
        """Return the document. Raises the error of one that can't be read."""
        values = {**json.loads(self.fields), "expires_at": self.expires_at}
        if "error" in values:
            raise restored_error(*values["error"])
        content: dict[str, Any] = {"text": self.data.decode()} if self.is_text else {"data": self.data}
        return NewDocument(**values, **content)


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read a file: limits, segment size, and the width of static vectors, None where an endpoint embeds.

    Without ``vectors`` the segments are laid out for a database without pgvector, and nothing is embedded. A document
    whose content hash is ``known_hash`` is not segmented again.
    """

    workspace: int
    size: str
    dimension: int | None
    known_hash: str | None
    max_bytes: int
    recognition: dict[str, Any] | None  # fields of Recognition
    vectors: bool = True
    max_pages: int = MOST_PAGES
    max_characters: int = MOST_CHARACTERS


def write_frame(header: dict[str, Any], *blobs: bytes) -> Iterator[bytes]:
    """Yield the parts of a frame."""
    encoded = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    yield LENGTH.pack(len(encoded)) + encoded
    yield from blobs


def read_document(document: WiredDocument, how: Reading, on_progress: Progress = lambda done, of: None) -> Frame:
    """Read a document: the header and the bytes of its reply.

    Raises InvalidRequest, UnreadableDocument, DocumentTooExpensive, and whatever a parser does.
    """
    size = SegmentSize.parse(how.size)
    recognition = None if how.recognition is None else Recognition(**how.recognition)
    ready = make_ready(document.document(), size, max_bytes=how.max_bytes, recognition=recognition)
    _check_extent(ready, how)
    values = asdict(replace(ready.fields, expires_at=None))
    header: dict[str, Any] = {"content_hash": ready.content_hash, "fields": values, "warnings": ready.warnings}
    if ready.content_hash == how.known_hash:
        return header, []
    assert ready.parsed is not None
    text = ready.parsed.text
    spans = segment(ready.parsed, size, count_tokens)
    texts = [text[span.start : span.end] for span in spans]
    held: list[NDArray[np.int32]] = []
    title = ready.fields.title
    laid_out = packed_rows(how.workspace, ready.document_id, title, spans, text, held, vectors=how.vectors)
    rows = b"".join(laid_out)
    terms = TermCounts.of(held).packed()
    header |= {"segments": len(spans)}
    if not how.vectors:
        return header, [rows, terms]
    if how.dimension is None:
        return {**header, "texts": texts}, [rows, terms]
    model, number = _static(how.dimension), UUID(ready.document_id)
    vectors = []
    for start in range(0, len(texts), EMBEDDED_AT_ONCE):
        on_progress(start, len(texts))
        part = model.pooled(texts[start : start + EMBEDDED_AT_ONCE])
        vectors.append(vector_rows(how.workspace, number, start, part))
    return header, [rows, terms, b"".join(vectors)]


def _check_extent(ready: ReadyDocument, how: Reading) -> None:
    assert ready.parsed is not None
    characters, pages = len(ready.parsed.text), ready.fields.page_count or 0
    if characters > how.max_characters:
        raise DocumentTooExpensive(
            f"Its text has {characters:,} characters, but the limit is {how.max_characters:,}.",
            suggestion="Split it.",
        )
    if pages > how.max_pages:
        raise DocumentTooExpensive(
            f"It has {pages:,} pages, but the limit is {how.max_pages:,}.",
            suggestion="Split it.",
        )


def _document(header: dict[str, Any], data: bytes, on_progress: Progress) -> Frame:
    how = Reading(**header.pop("how"))
    return read_document(WiredDocument(data=data, **header), how, on_progress)


def _pictures(header: dict[str, Any], data: bytes, _: Progress) -> Frame:
    return drawn_pictures(data, header["media_type"])


def _place(header: dict[str, Any], data: bytes, _: Progress) -> Frame:
    from tools.parsers.pdf_places import find_boxes  # with PDFium, which other files don't need

    place = find_boxes(data, header["page_idx"], header["quote"], header["before"])
    return {"place": None if place is None else asdict(place)}, []


_TASKS: dict[Task, Callable[[dict[str, Any], bytes, Progress], Frame]] = {
    "document": _document,
    "pictures": _pictures,
    "place": _place,
}


@cache
def _static(dimension: int) -> StaticEmbedder:
    whole = bundled_embedder()
    return whole if dimension == whole.dimension else whole.truncated(dimension)


def main(megabytes: int) -> None:
    """Read files until the parent closes the pipe; at most ``megabytes`` of memory for all of the process."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a parser prints is no frame
    os.nice(NICENESS)
    gc.set_threshold(NEW_OBJECTS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit(resource.RLIMIT_DATA, megabytes << 20)
    count_tokens([""])
    for left in reversed(range(MOST_FILES)):
        opening = inbox.read(LENGTH.size)
        if len(opening) < LENGTH.size:
            return
        header, [data] = _rest_of_frame(inbox, opening)
        if _answer(header, data, outbox, megabytes, last=not left):
            return


def _answer(header: dict[str, Any], data: bytes, outbox: BinaryIO, megabytes: int, *, last: bool) -> bool:
    """Read one file and reply; return whether it was the last: this process may have become too large for another."""

    def send(reply: dict[str, Any], *blobs: bytes) -> None:
        for part in write_frame(reply, *blobs):
            outbox.write(part)
        outbox.flush()

    def refuse(error: CitewellError) -> Frame:
        return {"error": [error.code, error.message, error.advice]}, []

    task = _TASKS[header.pop("task")]
    with _cpu_seconds(header.pop("seconds")):
        try:
            reply, blobs = task(header, data, lambda done, of: send({"progress": [done, of]}))
        except CitewellError as error:
            reply, blobs = refuse(error)
        except MemoryError:
            reply, blobs = refuse(
                DocumentTooExpensive(
                    f"Reading it takes more than {megabytes:,} MB of memory.",
                    suggestion="Split the file, or raise CITEWELL_JOBS__FILE_MEGABYTES.",
                )
            )
        except Exception as error:  # noqa: BLE001 - a parser may fail in any way, and the file is all it may fail
            reply, blobs = refuse(
                UnreadableDocument(
                    f"The file can't be read: its parser failed ({type(error).__name__}).",
                    suggestion="This is a fault of Citewell: report it, with the file if you may. Until it is mended,"
                    " convert the file to another format and ingest that.",
                )
            )
    last = last or _megabytes() > megabytes / 2
    try:
        send({**reply, "last": last}, *blobs)
    except (ValueError, RecursionError):  # metadata that JSON can't hold, such as an integer of 5,000 digits
        send({**refuse(InvalidRequest("metadata: must be a JSON object."))[0], "last": last})
    return last


def _rest_of_frame(inbox: BinaryIO, opening: bytes) -> Frame:
    header = json.loads(inbox.read(LENGTH.unpack(opening)[0]))
    return header, [inbox.read(length) for length in header.pop("blobs")]


@contextmanager
def _cpu_seconds(seconds: float) -> Iterator[None]:
    """Be ended by the system after some CPU time. The parent looks at the clock, but it may be killed itself."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds + GRACE_SECONDS))
    yield
    _limit(resource.RLIMIT_CPU, resource.RLIM_INFINITY)


def _limit(what: int, amount: int) -> None:
    """Lower a soft limit. Best effort: macOS has some limits only by name."""
    hard = resource.getrlimit(what)[1]
    try:
        resource.setrlimit(what, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard))
    except (OSError, ValueError):
        return


def _megabytes() -> float:
    """Return the memory that this process keeps; where the system does not say, the most that it had."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    except OSError:  # not Linux, whose ru_maxrss counts the parent's memory too
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024
