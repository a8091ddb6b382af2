"""A workspace's vectors in memory, compared exactly and one by one with a question's: a flat index.

It is an image of ``segment_vectors`` at one version of the library, without those of documents that were deleted. What
changed since is read into a new image, which shares the vectors that stayed, so that searches go on with the old one
meanwhile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import Struct

import numpy as np
from numpy.typing import NDArray
from psycopg import adapters
from psycopg.adapt import Dumper
from psycopg.pq import Format

MOST_BLOCKS = 8
LEAST_ALIVE = 0.8  # of the rows; below, the vectors that stayed are copied together

_ARRAY = Struct(">iiiii")  # dimensions, flags, type, length, lower bound
_UUID_OID, _UUIDS_OID = 2950, 2951
_INTEGER_OID, _INTEGERS_OID = 23, 1007

Row = tuple[bytes, bytes]  # of a document: its id, and its segments as ``SEGMENTS_PACKED`` has them
# One fixed width after another: the index of a segment, and its vector as pgvector sends it.
SEGMENTS_PACKED = "string_agg(int4send(segment_index) || halfvec_send(embedding), ''::bytea)"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells of a document's vectors whether they changed: how many, and the transactions that wrote them.

    Whoever changes a document's segments writes them anew or takes some away.
    """

    segments: int
    oldest: int
    newest: int


class UuidArray(bytes):
    """UUIDs as PostgreSQL reads an array of them, in binary."""


class IntegerArray(bytes):
    """Integers as PostgreSQL reads an array of them, in binary."""


class _UuidArrayDumper(Dumper):
    oid = _UUIDS_OID
    format = Format.BINARY

    def dump(self, obj: UuidArray) -> bytes:
        return obj


class _IntegerArrayDumper(Dumper):
    oid = _INTEGERS_OID
    format = Format.BINARY

    def dump(self, obj: IntegerArray) -> bytes:
        return obj


adapters.register_dumper(UuidArray, _UuidArrayDumper)
adapters.register_dumper(IntegerArray, _IntegerArrayDumper)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The segments nearest to a question, in order, as parameters. ``complete`` says that there are no others."""

    document_ids: UuidArray
    indexes: IntegerArray
    complete: bool


@dataclass(frozen=True, slots=True)
class _Held:
    """The rows of a document, which lie side by side."""

    stamp: Stamp
    start: int
    stop: int


class FlatIndex:
    """The vectors of a workspace at one ``version`` of its library; see the module. Nothing of it is changed."""

    def __init__(
        self,
        version: str,
        dimension: int,
        *,
        blocks: tuple[NDArray[np.float32], ...] = (),
        ids: NDArray[np.uint8] | None = None,
        indexes: NDArray[np.int32] | None = None,
        gone: NDArray[np.bool_] | None = None,
        held: Mapping[bytes, _Held] | None = None,
    ) -> None:
        self.version = version
        self.dimension = dimension
        self._blocks = blocks  # unit vectors, shape (rows, dimension); those of all blocks are numbered through
        self._ids = np.zeros((0, 16), np.uint8) if ids is None else ids
        self._indexes = np.zeros(0, np.int32) if indexes is None else indexes
        self._gone = np.zeros(0, np.bool_) if gone is None else gone  # rows of documents that changed or went
        self._left = len(self._gone) - int(self._gone.sum())
        self._held: Mapping[bytes, _Held] = {} if held is None else held

    def __len__(self) -> int:
        """Return the number of vectors that can be found."""
        return self._left

    @property
    def size(self) -> int:
        """The values that are compared in a search."""
        return len(self._gone) * self.dimension

    @property
    def memory(self) -> int:
        """About how many bytes it takes."""
        return len(self._gone) * row_memory(self.dimension) + DOCUMENT_MEMORY * len(self._held)

    def nearest(self, question: NDArray[np.float32], count: int) -> Nearest:
        """Find the ``count`` vectors of the greatest cosine similarity; of equal ones the order is always the same."""
        similar = np.empty(len(self._gone), np.float32)
        start = 0
        for block in self._blocks:
            # Row by row, on this thread: as one product, BLAS would take every core, and wait for those that are busy.
            np.vecdot(block, question, out=similar[start : start + len(block)])
            start += len(block)
        if self._left < len(similar):
            similar[self._gone] = -np.inf
        count = min(count, self._left)
        if count == 0:
            best = np.zeros(0, np.intp)
        elif count < len(similar):
            best = np.sort(np.argpartition(similar, len(similar) - count)[len(similar) - count :])
        else:
            best = np.arange(len(similar))
        best = best[np.argsort(-similar[best], kind="stable")]
        return Nearest(_uuids(self._ids[best]), _integers(self._indexes[best]), count == self._left)

    def outdated(self, stamps: Mapping[bytes, Stamp]) -> list[bytes]:
        """Return the ids of the documents that have to be read for an image of what has these stamps, in order."""
        held = self._held
        return sorted(each for each, stamp in stamps.items() if each not in held or held[each].stamp != stamp)

    def renewed(self, version: str, stamps: Mapping[bytes, Stamp], read: "ReadVectors") -> "FlatIndex":
        """Return the image of what has these stamps, ``read`` being its outdated documents. Takes CPU time."""
        gone, kept = self._gone.copy(), {}
        for document_id, held in self._held.items():
            if stamps.get(document_id) == held.stamp:
                kept[document_id] = held
            else:
                gone[held.start : held.stop] = True
        rows = len(gone)
        for document_id, (start, stop) in read.places.items():
            kept[document_id] = _Held(stamps[document_id], rows + start, rows + stop)
        vectors, ids, indexes = read.rows()
        merged = FlatIndex(
            version,
            self.dimension,
            blocks=_merged((*self._blocks, vectors)),
            ids=np.concatenate([self._ids, ids]),
            indexes=np.concatenate([self._indexes, indexes]),
            gone=np.concatenate([gone, np.zeros(len(ids), np.bool_)]),
            held=kept,
        )
        return merged._compacted() if len(merged) < LEAST_ALIVE * len(merged._gone) else merged

    def _compacted(self) -> "FlatIndex":
        stays = ~self._gone
        vectors = np.empty((self._left, self.dimension), np.float32)
        start = filled = 0
        for block in self._blocks:
            part = block[stays[start : start + len(block)]]
            vectors[filled : filled + len(part)] = part
            start, filled = start + len(block), filled + len(part)
        place = np.concatenate([[0], np.cumsum(stays)])
        held = {
            document_id: _Held(each.stamp, int(place[each.start]), int(place[each.stop]))
            for document_id, each in self._held.items()
        }
        return FlatIndex(
            self.version,
            self.dimension,
            blocks=(vectors,),
            ids=self._ids[stays],
            indexes=self._indexes[stays],
            gone=np.zeros(self._left, np.bool_),
            held=held,
        )


DOCUMENT_MEMORY = 400


def row_memory(dimension: int) -> int:
    """Return how many bytes a segment takes."""
    return 4 * dimension + 16 + 4 + 1


class ReadVectors:
    """The vectors of documents as they are read, up to ``most`` of them."""

    def __init__(self, dimension: int, most: int) -> None:
        self.places: dict[bytes, tuple[int, int]] = {}  # of each document, its first row and the one after its last
        self._row = np.dtype([
            ("index", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("vector", ">f2", (dimension,))
        ])  # fmt: skip
        self._dimension = dimension
        self._vectors = np.empty((most, dimension), np.float32)
        self._ids = np.empty((most, 16), np.uint8)
        self._indexes = np.empty(most, np.int32)
        self._filled = 0

    def add(self, documents: Sequence[Row]) -> None:
        """Unpack the vectors of documents, and leave out those without a direction, which are near to nothing.

        Takes CPU time. Raises ValueError where there are vectors of another dimension, or more than were told.
        """
        packed = b"".join(segments for _, segments in documents)
        counts = [len(segments) // self._row.itemsize for _, segments in documents]
        if sum(counts) * self._row.itemsize != len(packed):
            raise ValueError("vectors of another dimension")
        rows = np.frombuffer(packed, self._row)
        if (rows["dimension"] != self._dimension).any():
            raise ValueError("vectors of another dimension")
        vectors = rows["vector"].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        directed = lengths > 0
        vectors = vectors[directed] / lengths[directed, None]
        ids = np.frombuffer(b"".join(document_id for document_id, _ in documents), np.uint8).reshape(-1, 16)
        start, stop = self._filled, self._filled + len(vectors)
        if stop > len(self._vectors):
            raise ValueError("more vectors than there were")
        self._vectors[start:stop] = vectors
        self._ids[start:stop] = np.repeat(ids, counts, axis=0)[directed]
        self._indexes[start:stop] = rows["index"][directed]
        ends = start + np.concatenate([[0], np.cumsum(directed)])[np.cumsum([0, *counts])]
        for (document_id, _), first, last in zip(documents, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            self.places[document_id] = (first, last)
        self._filled = stop

    def rows(self) -> tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.int32]]:
        """Return the vectors that were read, and the document and index of each."""
        return self._vectors[: self._filled], self._ids[: self._filled], self._indexes[: self._filled]


def _merged(blocks: tuple[NDArray[np.float32], ...]) -> tuple[NDArray[np.float32], ...]:
    """Leave out empty blocks; of many, put all but the first and largest together."""
    blocks = tuple(block for block in blocks if len(block))
    return (blocks[0], np.concatenate(blocks[1:])) if len(blocks) > MOST_BLOCKS else blocks


def _uuids(ids: NDArray[np.uint8]) -> UuidArray:
    elements = np.empty((len(ids), 20), np.uint8)
    elements[:, :4] = (0, 0, 0, 16)
    elements[:, 4:] = ids
    return UuidArray(_ARRAY.pack(1, 0, _UUID_OID, len(ids), 1) + elements.tobytes())


def _integers(values: NDArray[np.int32]) -> IntegerArray:
    elements = np.empty((len(values), 2), ">i4")
    elements[:, 0] = 4
    elements[:, 1] = values
    return IntegerArray(_ARRAY.pack(1, 0, _INTEGER_OID, len(values), 1) + elements.tobytes())
