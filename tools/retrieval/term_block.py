"""A block of segments in memory: their vectors, and for each term the rows that hold it with its weights there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import simsimd
from numpy.typing import NDArray

FULL = 8_000  # rows of a block; sorting the terms of more of them at once would take too much memory


@dataclass(frozen=True, slots=True)
class Block:
    """Vectors, in which a segment without one has zeros, and the postings of ``terms``, which are ascending.

    Those of a term begin at its ``starts``, which has their number at its end: of each the row, and the weight there.
    ``scales`` make each vector one of length 1.
    """

    vectors: NDArray[np.float16]
    scales: NDArray[np.float32]
    terms: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float16]

    @classmethod
    def of(
        cls,
        vectors: NDArray[np.float16],
        rows: NDArray[np.int32],
        terms: NDArray[np.int32],
        weights: NDArray[np.float16],
    ) -> "Block":
        """Sort postings by their terms. Takes CPU time."""
        lengths = np.linalg.norm(vectors.astype(np.float32), axis=1)
        scales = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        order = np.argsort(terms, kind="stable")
        each, starts = np.unique(terms[order], return_index=True)
        return cls(vectors, scales, each, np.append(starts, len(terms)), rows[order], weights[order])

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.vectors)

    @property
    def memory(self) -> int:
        """How many bytes it takes."""
        held = (self.vectors, self.scales, self.terms, self.starts, self.rows, self.weights)
        return sum(each.nbytes for each in held)

    def compare(self, question: NDArray[np.float16], similar: NDArray[np.float32]) -> None:
        """Write each vector's cosine similarity to a question; that of one without a direction is below all."""
        similar[:] = np.asarray(simsimd.cdist(question[None], self.vectors, "dot"))[0] * self.scales
        similar[self.scales == 0] = -np.inf

    def postings(self, terms: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the postings of each term begin and end; nowhere for one that no segment holds."""
        at = np.searchsorted(self.terms, terms)
        is_held = (
            self.terms[np.minimum(at, len(self.terms) - 1)] == terms if len(self.terms) else np.zeros(len(at), bool)
        )
        begin = self.starts[np.where(is_held, at, 0)]
        return begin, np.where(is_held, self.starts[np.where(is_held, at + 1, 0)], begin)

    def add_weights(
        self, begin: NDArray[np.int64], end: NDArray[np.int64], idfs: NDArray[np.float32], scores: NDArray[np.float32]
    ) -> None:
        """Add the weights of postings, each times an IDF, to the scores of their rows."""
        for first, last, idf in zip(begin.tolist(), end.tolist(), idfs, strict=True):
            if first < last:
                np.add.at(scores, self.rows[first:last], idf * self.weights[first:last])

    def taking(self, stays: NDArray[np.bool_]) -> "Block":
        """Return the block of the rows that stay."""
        place = (np.cumsum(stays) - 1).astype(np.int32)
        kept = stays[self.rows]
        return Block.of(self.vectors[stays], place[self.rows[kept]], self._term_of_each()[kept], self.weights[kept])

    def _term_of_each(self) -> NDArray[np.int32]:
        return np.repeat(self.terms, np.diff(self.starts))


def joined(blocks: Sequence[Block]) -> Block:
    """Return blocks as one. Takes CPU time."""
    if len(blocks) == 1:
        return blocks[0]
    starts = np.cumsum([0, *map(len, blocks)])[:-1].astype(np.int32)
    return Block.of(
        np.concatenate([each.vectors for each in blocks]),
        np.concatenate([each.rows + start for each, start in zip(blocks, starts, strict=True)]),
        np.concatenate([each._term_of_each() for each in blocks]),
        np.concatenate([each.weights for each in blocks]),
    )


def grouped(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return blocks with those side by side joined, as far as they make no more than a full one."""
    groups: list[list[Block]] = []
    for block in filter(len, blocks):
        if groups and sum(map(len, groups[-1])) + len(block) <= FULL:
            groups[-1].append(block)
        else:
            groups.append([block])
    return tuple(map(joined, groups))
