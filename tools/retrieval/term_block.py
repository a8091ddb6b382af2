"""A block of segments in memory: their vectors, and for each term the rows that hold it with its weights there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FULL = 16_000  # rows of a block; sorting the terms of more of them at once would take too much memory


@dataclass(frozen=True, slots=True)
class Block:
    """Unit ``vectors``, zero where a segment has none, and the postings of ``terms``, which are ascending.

    Those of a term begin at its ``starts``, which has their number at its end: of each the row, and the weight there.
    """

    vectors: NDArray[np.float32]
    terms: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float16]

    @classmethod
    def of(
        cls,
        vectors: NDArray[np.float32],
        rows: NDArray[np.int32],
        terms: NDArray[np.int32],
        weights: NDArray[np.float16],
    ) -> "Block":
        """Sort postings by their terms, and give vectors the length 1. Takes CPU time."""
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        np.divide(vectors, lengths[:, None], out=vectors, where=lengths[:, None] > 0)
        order = np.argsort(terms, kind="stable")
        each, starts = np.unique(terms[order], return_index=True)
        return cls(vectors, each, np.append(starts, len(terms)), rows[order], weights[order])

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.vectors)

    @property
    def memory(self) -> int:
        """How many bytes it takes."""
        return sum(each.nbytes for each in (self.vectors, self.terms, self.starts, self.rows, self.weights))

    def compare(self, question: NDArray[np.float32], similar: NDArray[np.float32]) -> None:
        """Write each vector's cosine similarity to a question; that of one without a direction is below all."""
        # Row by row, on this thread: as one product, BLAS would take every core, and wait for those that are busy.
        np.vecdot(self.vectors, question, out=similar)
        similar[similar == 0] = -np.inf

    def holding(self, term: int) -> int:
        """Return how many segments hold a term."""
        postings = self._postings(term)
        return int(postings.stop - postings.start)

    def add_weights(self, term: int, idf: float, scores: NDArray[np.float32]) -> None:
        """Add a term's weights to the scores of its rows."""
        postings = self._postings(term)
        scores[self.rows[postings]] += np.float32(idf) * self.weights[postings]

    def _postings(self, term: int) -> slice:
        at = int(np.searchsorted(self.terms, np.int32(term)))
        if at == len(self.terms) or self.terms[at] != term:
            return slice(0, 0)
        return slice(int(self.starts[at]), int(self.starts[at + 1]))

    def taking(self, stays: NDArray[np.bool_]) -> "Block":
        """Return the block of the rows that stay."""
        place = (np.cumsum(stays) - 1).astype(np.int32)
        kept = stays[self.rows]
        return Block.of(
            self.vectors[stays], place[self.rows[kept]], self._term_of_each()[kept], self.weights[kept]
        )

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
