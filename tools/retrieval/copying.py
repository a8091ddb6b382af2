"""Rows of segments in PostgreSQL's binary COPY format: several times faster than dumping each value by its type."""

from collections.abc import Sequence
from struct import Struct
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from tools.segmenting import SegmentSpan
from tools.terms import TermVector

SEGMENT_COLUMNS = (
    "workspace, segment_index, document_id, start_offset, end_offset, page_idx, tokens, weights, terms, heading, body"
)
VECTOR_COLUMNS = "workspace, segment_index, document_id, embedding"
HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
SPARSE_DIMENSIONS = 1_000_000_000
INTEGER_OID = 23

_FIXED = Struct(">h iiii i16s iiii")  # field count; workspace, segment_index, document_id, start_offset, end_offset
_VECTOR = Struct(">h ii ii i16s ihh")
_INTEGER = Struct(">ii")
_LENGTH = Struct(">i")
_SPARSE = Struct(">iiii")
_ARRAY = Struct(">iiiiii")
_NULL = _LENGTH.pack(-1)
_SEGMENT_FIELDS = 11
_VECTOR_FIELDS = 4


def segment_row(workspace: int, document_id: UUID, span: SegmentSpan, terms: TermVector, body: str) -> bytes:
    """Lay out a segment in the order of ``SEGMENT_COLUMNS``."""
    count = len(terms.ids)
    ids = terms.ids.astype(">i4")
    elements = np.empty((count, 2), ">i4")
    elements[:, 0] = 4
    elements[:, 1] = ids
    heading, text = span.heading.encode(), body.encode()
    return b"".join((
        _FIXED.pack(
            _SEGMENT_FIELDS, 4, workspace, 4, span.segment_index, 16, document_id.bytes, 4, span.start, 4, span.end
        ),
        _NULL if span.page_idx is None else _INTEGER.pack(4, span.page_idx),
        _INTEGER.pack(4, span.tokens),
        # Indices of a sparse vector count from 0 on the wire and from 1 in text.
        _SPARSE.pack(12 + 8 * count, SPARSE_DIMENSIONS, count, 0), (ids - 1).astype(">i4").tobytes(),
        terms.weights.astype(">f4").tobytes(),
        _ARRAY.pack(20 + 8 * count, 1, 0, INTEGER_OID, count, 1) if count else _EMPTY_ARRAY, elements.tobytes(),
        _LENGTH.pack(len(heading)), heading, _LENGTH.pack(len(text)), text,
    ))  # fmt: skip


def vector_rows(
    workspace: int, document_id: UUID, spans: Sequence[SegmentSpan], embeddings: NDArray[np.float32]
) -> bytes:
    """Lay out vectors, shape (segments, dimension), rounded to halfs, as ``VECTOR_COLUMNS`` orders them."""
    halves = embeddings.astype(">f2")
    dimension = halves.shape[1] if len(halves) else 0
    rows = [
        _VECTOR.pack(
            _VECTOR_FIELDS, 4, workspace, 4, span.segment_index, 16, document_id.bytes, 4 + 2 * dimension, dimension, 0
        )
        + vector.tobytes()
        for span, vector in zip(spans, halves, strict=True)
    ]
    return b"".join(rows)


_EMPTY_ARRAY = Struct(">iiii").pack(12, 0, 0, INTEGER_OID)


def as_text(vector: Sequence[float] | NDArray[np.float32]) -> str:
    """Write a vector as the literal of a halfvec."""
    return "[" + ",".join([f"{value:.5g}" for value in np.asarray(vector).tolist()]) + "]"
