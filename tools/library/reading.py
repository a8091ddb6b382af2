"""Read a document: from the bytes of its file to the rows that a library stores of it. It needs no database.

It is read in a thread of the process that asks, or in a process that only reads files.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cache
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from graph.errors import CitewellError, DocumentTooExpensive, InvalidRequest, restored_error
from tools.embeddings.static_embedding import StaticEmbedder, bundled_embedder, count_tokens
from tools.library.new_documents import NewDocument, ReadyDocument, UnreadDocument, documents_in, id_of, make_ready
from tools.parsers import Parsed, Recognition
from tools.parsers.canonical_text import composed, storable
from tools.retrieval.segment_rows import PackedDocument
from tools.retrieval.segmenting import SegmentSize, SegmentSpan, segment

EMBEDDED_AT_ONCE = 64  # segments, between two reports of progress
# Of a file: more than any book has, so that what has more was made to be a burden.
MOST_PAGES, MOST_CHARACTERS = 10_000, 20_000_000
_WIRED = [field.name for field in fields(NewDocument) if field.name not in ("text", "data")]

Progress = Callable[[int, int], None]


def silent(done: int, of: int) -> None:
    """Report no progress."""


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
        document_id, name = id_of(new), composed(new.name)
        values = {each: getattr(new, each) for each in _WIRED} | {"document_id": document_id, "name": name}
        if new.expires_at is not None:
            values["expires_at"] = new.expires_at.isoformat()
        try:
            encoded = json.dumps(values)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidRequest("metadata: must be a JSON object.") from error
        data = storable(new.text).encode() if new.text is not None else new.data or b""
        return cls(encoded, data, new.text is not None, document_id, name)

    @classmethod
    def refused(cls, name: str, error: CitewellError) -> "WiredDocument":
        """Return a document that can't be read, so that it is reported like the others."""
        reason = [error.code, error.message, error.advice]
        return cls(json.dumps({"error": reason}), b"", is_text=False, document_id=str(uuid4()), name=composed(name))

    def with_id(self, document_id: str) -> "WiredDocument":
        """Return the document under another id."""
        fields = {**json.loads(self.fields), "document_id": document_id}
        return replace(self, fields=json.dumps(fields), document_id=document_id)

    def called(self, title: str | None) -> "WiredDocument":
        """Return the document under a title that a person gave it, if there is one, unless it was sent with a title."""
        if title is None or (fields := json.loads(self.fields)).get("title") or "error" in fields:
            return self
        return replace(self, fields=json.dumps({**fields, "given_title": title}))

    @property
    def given_title(self) -> str | None:
        """The title that a person gave it, which that of its file does not replace."""
        title: str | None = json.loads(self.fields).get("given_title")
        return title

    def document(self) -> NewDocument:
        """Return the document. Raises the error of one that can't be read."""
        values = json.loads(self.fields)
        if "error" in values:
            raise restored_error(*values["error"])
        if (expires_at := values.get("expires_at")) is not None:
            values["expires_at"] = datetime.fromisoformat(expires_at)
        values.pop("given_title", None)
        content: dict[str, Any] = {"text": self.data.decode()} if self.is_text else {"data": self.data}
        return NewDocument(**values, **content)


def wired_documents(new: NewDocument, name: str, *, max_bytes: int) -> Iterator[tuple[str, WiredDocument]]:
    """Yield a document, or those of an archive, with their names. Raises InvalidRequest, UnreadableDocument."""
    for path, each in documents_in(new, max_bytes=max_bytes):
        below = "/".join(filter(None, (name, path)))
        yield below, WiredDocument.refused(below, each) if isinstance(each, CitewellError) else WiredDocument.of(each)


def wired_sources(
    sources: Sequence[UnreadDocument], *, max_bytes: int, unpack: bool = True
) -> Iterator[tuple[str, int, WiredDocument]]:
    """Yield the documents of sources as ``wired_documents`` does, each also with the number of its source from 0.

    Without ``unpack`` an archive is one document, which can't be read.
    """
    for number, source in enumerate(sources):
        try:
            new = source.load(max_bytes)
            if unpack:
                for name, wired in wired_documents(new, source.name, max_bytes=max_bytes):
                    yield name, number, wired
            else:
                yield source.name, number, WiredDocument.of(new)
        except CitewellError as error:
            yield source.name, number, WiredDocument.refused(source.name, error)


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read a file: limits, segment sizes, and the width of static vectors, None where an endpoint embeds.

    Without ``vectors`` the segments are laid out for a database without pgvector, and nothing is embedded. A document
    whose content hash is ``known_hash`` is not segmented again.
    """

    workspace: int
    sizes: dict[str, str]  # by the dialect of a document, "*" of all others
    dimension: int | None
    known_hash: str | None
    max_bytes: int
    recognition: dict[str, Any] | None  # fields of Recognition
    max_pages: int = MOST_PAGES
    max_characters: int = MOST_CHARACTERS
    vectors: bool = True
    user: str = ""  # who sends it: no process reads the files of two


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A document that was read. ``packed`` is None where its segments are those of the known content hash.

    ``texts`` are the segments that are still to be embedded; empty where the static model has embedded them.
    """

    ready: ReadyDocument
    packed: PackedDocument | None
    texts: Sequence[str] = ()

    @property
    def size(self) -> int:
        """The bytes of its rows and of its original."""
        original = self.ready.original
        return (len(self.packed.rows) if self.packed else 0) + (len(original.data) if original else 0)

    def with_vectors(self, workspace: int, vectors: Sequence[NDArray[np.float32]]) -> "ReadFile":
        """Return it with the vectors of its texts."""
        assert self.packed is not None
        return ReadFile(self.ready, self.packed.with_vectors(workspace, np.asarray(vectors)))


def read_document(document: WiredDocument, how: Reading, on_progress: Progress = silent) -> ReadFile:
    """Read a document; takes CPU time. Raises InvalidRequest, UnreadableDocument, and whatever a parser does."""
    recognition = None if how.recognition is None else Recognition(**how.recognition)
    new = document.document()
    size = SegmentSize.parse(how.sizes.get(new.dialect or "*", how.sizes["*"]))
    ready, parsed = make_ready(new, size, max_bytes=how.max_bytes, recognition=recognition)
    _check_extent(ready, parsed, how)
    if document.given_title is not None:
        ready = ready.called(document.given_title)
    if ready.content_hash == how.known_hash:
        return ReadFile(ready, None)
    spans = segment(parsed, size, count_tokens)
    file = cut_file(how.workspace, ready, spans, parsed.text, vectors=how.vectors)
    if how.dimension is None or not file.texts:
        return file
    model = _static(how.dimension)
    vectors: list[NDArray[np.float32]] = []
    for start in range(0, len(file.texts), EMBEDDED_AT_ONCE):
        on_progress(start, len(file.texts))
        vectors += list(model.pooled(file.texts[start : start + EMBEDDED_AT_ONCE]))
    return file.with_vectors(how.workspace, vectors)


def cut_file(
    workspace: int, ready: ReadyDocument, spans: Sequence[SegmentSpan], text: str, *, vectors: bool
) -> ReadFile:
    """Lay out the segments of a document, which are still to be embedded if the library has ``vectors``."""
    packed = PackedDocument.of(workspace, ready.document_id, ready.fields.title, spans, text, vectors=vectors)
    return ReadFile(ready, packed, [text[span.start : span.end] for span in spans] if vectors else ())


def _check_extent(ready: ReadyDocument, parsed: Parsed, how: Reading) -> None:
    characters, pages = len(parsed.text), ready.fields.page_count or 0
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


@cache
def _static(dimension: int) -> StaticEmbedder:
    return bundled_embedder().truncated(dimension)
