"""Segments and vectors as rows of PostgreSQL's binary COPY format, several times faster than dumping each value.

Nothing here needs a database, so that a process without one can lay the rows out.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from struct import Struct
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from text.near_words import is_listed
from text.terms import TermVector, weigh_segment, with_impacts
from text.words import folded_words
from tools.retrieval.segmenting import SegmentSpan
from tools.retrieval.structure import named_and_around, pack_blocks

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
SPARSE_DIMENSIONS = 1_000_000_000
INTEGER_OID = 23
REAL_OID = 700

_FIXED = Struct(">h iiii i16s iiii")  # field count; workspace, segment_index, document_id, start_offset, end_offset
_VECTOR = Struct(">h ii ii i16s ihh")
_KEY = Struct(">h ii ii i16s")  # of a row of either: field count, workspace, index of the segment, document
_INTEGER = Struct(">ii")
_LENGTH = Struct(">i")
_SPARSE = Struct(">iiii")
_ARRAY = Struct(">iiiiii")
_NULL = _LENGTH.pack(-1)
_JSONB = b"\x01"  # the version of its binary format
_SEGMENT_FIELDS = 12
_VECTOR_FIELDS = 4


def segment_row(
    workspace: int,
    document_id: UUID,
    span: SegmentSpan,
    terms: TermVector,
    indexed: NDArray[np.int32],
    body: str,
    *,
    vectors: bool = True,
) -> bytes:
    """Lay out a segment in the order of ``SEGMENT_COLUMNS``; without ``vectors``, its weights are an array.

    ``indexed`` is what ``with_impacts`` makes of its terms.
    """
    count = len(indexed)
    elements = np.empty((count, 2), ">i4")
    elements[:, 0] = 4
    elements[:, 1] = indexed
    heading, text = span.heading.encode(), body.encode()
    structure = json.dumps(pack_blocks(span.blocks), ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join((
        _FIXED.pack(
            _SEGMENT_FIELDS, 4, workspace, 4, span.segment_index, 16, document_id.bytes, 4, span.start, 4, span.end
        ),
        _NULL if span.page_idx is None else _INTEGER.pack(4, span.page_idx),
        _INTEGER.pack(4, span.tokens),
        _sparse_weights(terms) if vectors else _weights(terms),
        _ARRAY.pack(20 + 8 * count, 1, 0, INTEGER_OID, count, 1) if count else _EMPTY_ARRAY, elements.tobytes(),
        _LENGTH.pack(len(heading)), heading, _LENGTH.pack(len(text)), text,
        _LENGTH.pack(1 + len(structure)), _JSONB, structure,
    ))  # fmt: skip


def _sparse_weights(terms: TermVector) -> bytes:
    # Indices of a sparse vector count from 0 on the wire and from 1 in text.
    count, places = len(terms.ids), (terms.ids - 1).astype(">i4").tobytes()
    head = _SPARSE.pack(12 + 8 * count, SPARSE_DIMENSIONS, count, 0)
    return head + places + terms.weights.astype(">f4").tobytes()


def _weights(terms: TermVector) -> bytes:
    count = len(terms.ids)
    elements = np.empty((count, 2), ">i4")
    elements[:, 0] = 4
    elements[:, 1] = terms.weights.astype(">f4").view(">i4")
    head = _ARRAY.pack(20 + 8 * count, 1, 0, REAL_OID, count, 1) if count else _EMPTY_REALS
    return head + elements.tobytes()


def vector_rows(workspace: int, document_id: UUID, embeddings: NDArray[np.float32]) -> bytes:
    """Lay out the vectors of all segments in order, shape (segments, dimension), rounded to halfs."""
    halves = embeddings.astype(">f2")
    dimension = halves.shape[1] if len(halves) else 0
    rows = [
        _VECTOR.pack(_VECTOR_FIELDS, 4, workspace, 4, index, 16, document_id.bytes, 4 + 2 * dimension, dimension, 0)
        + vector.tobytes()
        for index, vector in enumerate(halves)
    ]
    return b"".join(rows)


@dataclass(frozen=True, slots=True)
class TermCounts:
    """Distinct terms, ascending, and the number of segments that hold each, int32 arrays of the same length."""

    terms: NDArray[np.int32]
    segments: NDArray[np.int32]

    @classmethod
    def of(cls, held: Sequence[NDArray[np.int32]]) -> "TermCounts":
        """Count the terms of segments, of which each has its own once."""
        if not held:
            return cls(np.zeros(0, np.int32), np.zeros(0, np.int32))
        terms, segments = np.unique(np.concatenate(held), return_counts=True)
        return cls(terms, segments.astype(np.int32))

    @classmethod
    def summed(cls, parts: Sequence["TermCounts"]) -> "TermCounts":
        """Add up the counts of documents."""
        if len(parts) == 1:
            return parts[0]
        terms, place = np.unique(np.concatenate([part.terms for part in parts]), return_inverse=True)
        segments = np.bincount(place, np.concatenate([part.segments for part in parts]))
        return cls(terms, segments.astype(np.int32))

    @classmethod
    def unpacked(cls, packed: bytes) -> "TermCounts":
        """Return the counts from their bytes."""
        terms, segments = np.frombuffer(packed, np.int32).reshape(2, -1)
        return cls(terms, segments)

    def packed(self) -> bytes:
        """Return the counts as bytes, for a process on the same machine."""
        return self.terms.astype(np.int32).tobytes() + self.segments.tobytes()


_EMPTY_ARRAY = Struct(">iiii").pack(12, 0, 0, INTEGER_OID)
_EMPTY_REALS = Struct(">iiii").pack(12, 0, 0, REAL_OID)


@dataclass(frozen=True, slots=True)
class PackedDocument:
    """A document whose rows are laid out, with the number of its segments that hold each of its terms.

    ``words`` are those of its vocabulary. ``vectors`` is empty before it is embedded, and for a library without
    pgvector.
    """

    document_id: str
    segments: int
    rows: bytes
    terms: TermCounts
    vectors: bytes = b""
    words: Collection[str] = ()

    @classmethod
    def of(
        cls,
        workspace: int,
        document_id: str,
        title: str,
        spans: Sequence[SegmentSpan],
        text: str,
        *,
        vectors: bool = True,
    ) -> "PackedDocument":
        """Lay out the segments of a document, for a library with ``vectors`` or without. Takes CPU time."""
        number = UUID(document_id)
        rows: list[bytes] = []
        held: list[NDArray[np.int32]] = []
        words = set(folded_words(title)[1])
        for span in spans:
            body = text[span.start : span.end]
            named, around = named_and_around(span.blocks, span.start, span.end, body)
            terms = weigh_segment(body, title=title, heading=span.heading, named=named, around=around)
            held.append(terms.ids)
            words.update(folded_words(body)[1], folded_words(span.heading)[1] if span.heading else ())
            rows.append(segment_row(workspace, number, span, terms, with_impacts(terms), body, vectors=vectors))
        return cls(document_id, len(rows), b"".join(rows), TermCounts.of(held), words=set(filter(is_listed, words)))

    def is_of(self, workspace: int) -> bool:
        """Whether its rows are whole and its own: a file may have taken over the process that laid them out."""
        document, ends = UUID(self.document_id).bytes, 0
        width = len(self.vectors) // self.segments if self.vectors and self.segments else 0
        for index in range(self.segments):
            if not self.rows.startswith(_KEY.pack(_SEGMENT_FIELDS, 4, workspace, 4, index, 16, document), ends):
                return False
            ends += _KEY.size
            for _ in range(_SEGMENT_FIELDS - 3):
                if len(self.rows) < ends + 4:
                    return False
                ends += 4 + max(0, *_LENGTH.unpack_from(self.rows, ends))
            key = _KEY.pack(_VECTOR_FIELDS, 4, workspace, 4, index, 16, document) + _LENGTH.pack(width - _KEY.size - 4)
            if self.vectors and not self.vectors.startswith(key, index * width):
                return False
        return ends == len(self.rows) and width * self.segments == len(self.vectors)

    def with_vectors(self, workspace: int, embeddings: NDArray[np.float32]) -> "PackedDocument":
        """Return it with vectors, shape (segments, dimension). Raises ValueError where they are not as many."""
        if len(embeddings) != self.segments:
            raise ValueError("every segment needs exactly one embedding")
        vectors = vector_rows(workspace, UUID(self.document_id), embeddings)
        return replace(self, vectors=vectors)
