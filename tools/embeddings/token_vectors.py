"""The bundled model's vectors of tokens: those that texts have are widened from its file, the latest some thousands."""

import json
import mmap
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from graph.errors import ConfigurationError

TENSOR = "embedding.weight"
HEADER_LENGTH_BYTES = 8
MOST_ROWS = 8_192  # that are kept wide: 8 MB in full width, and about as many as the words of a language need


class TokenVectors:
    """A matrix of token vectors in half precision, whose rows are float32 from their first use on.

    The file is mapped, and memory for the wide rows is taken as they are written, one behind the other: a process that
    has read no text holds none of them, and no process more than ``most``. Once there are so many, all are let go, and
    those that are still used come again. Widening is exact. Safe to use in threads.
    """

    def __init__(self, narrow: NDArray[np.float16], most: int = MOST_ROWS) -> None:
        self._narrow = narrow
        self._most = min(most, len(narrow))
        self._rows = _WideRows(narrow, self._most)
        self._writing = Lock()
        self.dimension = int(narrow.shape[1])

    @classmethod
    def mapped(cls, file: Path) -> "TokenVectors":
        """Map a safetensors file (https://github.com/huggingface/safetensors#format), shape (tokens, dimension).

        Raises ConfigurationError if it does not hold such a matrix of float16.
        """
        try:
            with file.open("rb") as opened:
                mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
            start = HEADER_LENGTH_BYTES + int.from_bytes(mapped[:HEADER_LENGTH_BYTES], "little")
            tensor = json.loads(mapped[HEADER_LENGTH_BYTES:start])[TENSOR]
            rows, columns = tensor["shape"]
            if tensor["dtype"] != "F16":
                raise ValueError
            offset = start + tensor["data_offsets"][0]
            narrow = np.frombuffer(mapped, np.dtype("<f2"), rows * columns, offset).reshape(rows, columns)
        except (OSError, ValueError, KeyError) as error:
            raise ConfigurationError(
                f"The static embeddings in {file.name} can't be read.", suggestion="Install wordllama again."
            ) from error
        return cls(narrow)

    def take(self, tokens: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the vectors of tokens, shape (n, dimension); an id beyond the last counts as the last."""
        wide, places = self._places(tokens)
        found: NDArray[np.float32] = wide.take(places, axis=0)
        return found

    def summed(self, texts: Sequence[NDArray[np.integer]]) -> NDArray[np.float32]:
        """Return the sum of each text's vectors, shape (texts, dimension)."""
        summed = np.zeros((len(texts), self.dimension), np.float32)
        if not texts:
            return summed
        wide, places = self._places(np.concatenate(texts))  # of all: looking costs more than adding up a sentence
        ones = np.ones(max(map(len, texts)), np.float32)
        taken = np.empty((len(ones), self.dimension), np.float32)  # for one text after the other
        start = 0
        for row, tokens in enumerate(texts):
            end = start + len(tokens)
            vectors = taken[: len(tokens)]
            wide.take(places[start:end], axis=0, out=vectors, mode="clip")  # which writes them at once
            np.dot(ones[: len(tokens)], vectors, out=summed[row])
            start = end
        return summed

    def truncated(self, dimension: int) -> "TokenVectors":
        """Return the first ``dimension`` values of each vector."""
        return self if dimension == self.dimension else TokenVectors(self._narrow[:, :dimension], self._most)

    def _places(self, tokens: NDArray[np.integer]) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """Return wide rows, and where among them each token's vector is."""
        rows = self._rows
        places = rows.place_of.take(tokens, mode="clip")
        if places.min(initial=0) >= 0:
            return rows.wide, places
        tokens = np.minimum(tokens, len(self._narrow) - 1)
        with self._writing:
            if not self._rows.add(self._narrow, tokens):
                used, places = np.unique(tokens, return_inverse=True)
                if len(used) > self._most:
                    return self._narrow[used].astype(np.float32), places
                self._rows = _WideRows(self._narrow, self._most)  # others may still read the former ones
                self._rows.add(self._narrow, used)
            return self._rows.wide, self._rows.place_of.take(tokens)


class _WideRows:
    """Rows of a matrix in single precision, in the order in which they were added, at most ``most``."""

    def __init__(self, narrow: NDArray[np.float16], most: int) -> None:
        columns = narrow.shape[1]
        # Private, or processes that are forked from this one would write into each other's rows; and not in pages of
        # two megabytes, which the system may take for it as for numpy's own memory.
        memory = mmap.mmap(-1, 4 * most * columns, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with suppress(AttributeError, OSError):  # of a system that has no such pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        self.wide = np.frombuffer(memory, np.float32).reshape(most, columns)
        self.place_of = np.full(len(narrow), -1, np.intp)
        self._count = 0

    def add(self, narrow: NDArray[np.float16], tokens: NDArray[np.integer]) -> bool:
        """Add the vectors of tokens that are missing; return whether there was room for them."""
        wanted = np.zeros(len(narrow), bool)  # numpy's own `unique` imports all of numpy.ma
        wanted[tokens] = True
        missing = np.flatnonzero(wanted & (self.place_of < 0))
        start, end = self._count, self._count + len(missing)
        if end > len(self.wide):
            return False
        self.wide[start:end] = narrow[missing]
        self.place_of[missing] = np.arange(start, end)  # last, so that another thread that sees it finds the row
        self._count = end
        return True
