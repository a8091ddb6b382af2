"""A workspace's segments in memory: their vectors, compared exactly with a question's, and by term those that hold it.

It is an image of ``segments`` and ``segment_vectors`` at one version of the library, without those of documents that
were deleted. What changed since is read into a new image, which shares the blocks that stayed, so that searches go on
with the old one meanwhile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from text.terms import UNSPACED_TERM, QueryTerms
from tools.retrieval.candidates import CandidateList
from tools.retrieval.scope import as_array
from tools.retrieval.search_sql import IDF_POWER
from tools.retrieval.term_block import FULL, Block, grouped

MOST_BLOCKS = 8  # beside one for each full one
LEAST_ALIVE = 0.8  # of the rows; below, what stayed is copied together

Row = tuple[bytes, bytes]  # of a document: its id, and its segments as ``SEGMENTS_PACKED`` has them
# Of one segment after another the index, its weights and its vector as pgvector sends them; without one a zero.
SEGMENTS_PACKED = (
    "string_agg(int4send(s.segment_index) || sparsevec_send(s.weights)"
    " || coalesce(halfvec_send(v.embedding), int4send(0)), ''::bytea)"
)
_SEGMENT = Struct(">iiii")  # its index; of its weights the dimension, how many there are, and nothing
_VECTOR = Struct(">hh")  # its dimension, and nothing


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells of a document's rows whether they changed: how many, and the transactions that wrote them.

    Whoever changes a document's segments writes them anew or takes some away.
    """

    rows: int
    oldest: int
    newest: int


@dataclass(frozen=True, slots=True)
class _Held:
    """The rows of a document, which lie side by side."""

    stamp: Stamp
    start: int
    stop: int


class FlatIndex:
    """The segments of a workspace at one ``version`` of its library; see the module. Nothing of it is changed."""

    def __init__(
        self,
        version: str,
        dimension: int,
        *,
        blocks: tuple[Block, ...] = (),
        ids: NDArray[np.uint8] | None = None,
        indexes: NDArray[np.int32] | None = None,
        gone: NDArray[np.bool_] | None = None,
        held: Mapping[bytes, _Held] | None = None,
    ) -> None:
        self.version = version
        self.dimension = dimension
        self._blocks = blocks  # the rows of all blocks are numbered through
        self._starts = list(accumulate(map(len, blocks), initial=0))
        self._ids = np.zeros((0, 16), np.uint8) if ids is None else ids
        self._indexes = np.zeros(0, np.int32) if indexes is None else indexes
        self._gone = np.zeros(0, np.bool_) if gone is None else gone  # rows of documents that changed or went
        self._left = len(self._gone) - int(self._gone.sum())
        self._held: Mapping[bytes, _Held] = {} if held is None else held

    def __len__(self) -> int:
        """Return the number of segments that can be found."""
        return self._left

    @property
    def size(self) -> int:
        """The values of vectors that are compared in a search."""
        return len(self._gone) * self.dimension

    @property
    def memory(self) -> int:
        """About how many bytes it takes."""
        return sum(each.memory for each in self._blocks) + 21 * len(self._gone) + DOCUMENT_MEMORY * len(self._held)

    def nearest(self, question: NDArray[np.float32], count: int) -> CandidateList:
        """Find the ``count`` vectors of the greatest cosine similarity; of equal ones the order is always the same."""
        similar, half = np.empty(len(self._gone), np.float32), question.astype(np.float16)
        for start, block in zip(self._starts, self._blocks, strict=False):
            block.compare(half, similar[start : start + len(block)])
        similar[self._gone] = -np.inf
        return self._best(similar, count, above=-np.inf)

    def heaviest(self, asked: QueryTerms, count: int) -> CandidateList:
        """Find the ``count`` segments in which a question's terms weigh most, all terms in all segments."""
        scores = np.zeros(len(self._gone), np.float32)
        terms = np.append(asked.ids, UNSPACED_TERM)
        postings = [block.postings(terms) for block in self._blocks]
        holding = sum((end - begin for begin, end in postings), np.zeros(len(terms), np.int64))
        of_all = np.maximum(np.where(asked.unspaced, holding[-1], len(scores)), holding[:-1])
        idfs = (
            asked.weights
            * np.log1p((of_all - holding[:-1] + 0.5) / (holding[:-1] + 0.5)).astype(np.float32) ** IDF_POWER
        )
        for start, block, (begin, end) in zip(self._starts, self._blocks, postings, strict=False):
            block.add_weights(begin[:-1], end[:-1], idfs, scores[start : start + len(block)])
        scores[self._gone] = 0
        return self._best(scores, count, above=0)

    def _best(self, scores: NDArray[np.float32], count: int, *, above: float) -> CandidateList:
        is_complete = count >= np.count_nonzero(scores > above)
        rows = np.flatnonzero(scores > above if is_complete else scores >= np.partition(scores, -count)[-count])
        rows = rows[np.argsort(-scores[rows], kind="stable")][:count]
        ids, indexes = (each.tobytes().hex() for each in self._ids[rows]), map(str, self._indexes[rows].tolist())
        return CandidateList(as_array(ids), as_array(indexes), bool(is_complete))

    def outdated(self, stamps: Mapping[bytes, Stamp]) -> list[bytes]:
        """Return the ids of the documents that have to be read for an image of what has these stamps, in order."""
        held = self._held
        return sorted(each for each, stamp in stamps.items() if each not in held or held[each].stamp != stamp)

    def renewed(self, version: str, stamps: Mapping[bytes, Stamp], read: "ReadSegments") -> "FlatIndex":
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
        blocks = (*self._blocks, *read.blocks)
        most = MOST_BLOCKS + sum(map(len, blocks)) // FULL
        merged = FlatIndex(
            version,
            self.dimension,
            blocks=blocks if len(blocks) <= most else grouped(blocks),
            ids=np.concatenate([self._ids, *read.ids]),
            indexes=np.concatenate([self._indexes, *read.indexes]),
            gone=np.concatenate([gone, np.zeros(sum(map(len, read.blocks)), np.bool_)]),
            held=kept,
        )
        return merged._compacted() if len(merged) < LEAST_ALIVE * len(merged._gone) else merged

    def _compacted(self) -> "FlatIndex":
        stays = ~self._gone
        kept = [
            block.taking(stays[start : start + len(block)])
            for start, block in zip(self._starts, self._blocks, strict=False)
        ]
        place = np.concatenate([[0], np.cumsum(stays)])
        held = {
            document_id: _Held(each.stamp, int(place[each.start]), int(place[each.stop]))
            for document_id, each in self._held.items()
        }
        return FlatIndex(
            self.version,
            self.dimension,
            blocks=grouped(kept),
            ids=self._ids[stays],
            indexes=self._indexes[stays],
            gone=np.zeros(self._left, np.bool_),
            held=held,
        )


DOCUMENT_MEMORY = 400
TERMS_MEMORY = 700  # of a segment of usual length, about


def row_memory(dimension: int) -> int:
    """Return about how many bytes a segment takes."""
    return 2 * dimension + 4 + 16 + 4 + 1 + TERMS_MEMORY


class ReadSegments:
    """The segments of documents as they are read, in blocks, with the documents and indexes of their rows."""

    def __init__(self, dimension: int) -> None:
        self.places: dict[bytes, tuple[int, int]] = {}  # of each document, its first row and the one after its last
        self.blocks: list[Block] = []
        self.ids: list[NDArray[np.uint8]] = []
        self.indexes: list[NDArray[np.int32]] = []
        self._dimension = dimension
        self._rows = 0

    def add(self, documents: Sequence[Row]) -> None:
        """Unpack the segments of documents. Takes CPU time. Raises ValueError for vectors of another dimension."""
        indexes: list[int] = []
        counts: list[int] = []
        terms, weights, vectors = [], [], []
        of_documents: list[int] = []
        for _, packed in documents:
            first, at = len(indexes), 0
            while at < len(packed):
                index, _, count, _ = _SEGMENT.unpack_from(packed, at)
                middle = at + _SEGMENT.size + 4 * count
                end = middle + 4 * count
                terms.append(packed[middle - 4 * count : middle])
                weights.append(packed[middle:end])
                (dimension, _), at = _VECTOR.unpack_from(packed, end), end + _VECTOR.size
                if dimension not in (0, self._dimension):
                    raise ValueError("vectors of another dimension")
                vectors.append(packed[at : at + 2 * dimension] or bytes(2 * self._dimension))
                at += 2 * dimension
                indexes.append(index)
                counts.append(count)
            of_documents.append(len(indexes) - first)
        for (document_id, _), size in zip(documents, of_documents, strict=True):
            self.places[document_id] = (self._rows, self._rows + size)
            self._rows += size
        ids = np.frombuffer(b"".join(document_id for document_id, _ in documents), np.uint8).reshape(-1, 16)
        self.ids.append(np.repeat(ids, of_documents, axis=0))
        self.indexes.append(np.array(indexes, np.int32))
        block = Block.of(
            np.frombuffer(b"".join(vectors), ">f2").reshape(-1, self._dimension).astype(np.float16),
            np.repeat(np.arange(len(indexes), dtype=np.int32), counts),
            np.frombuffer(b"".join(terms), ">i4").astype(np.int32) + 1,  # pgvector counts them from 0
            np.frombuffer(b"".join(weights), ">f4").astype(np.float16),
        )
        self.blocks[-1:] = grouped((*self.blocks[-1:], block))
