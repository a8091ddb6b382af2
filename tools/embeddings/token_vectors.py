"""The bundled model's vector of each token, widened from its file when a text first has it."""

import json
import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph.errors import ConfigurationError

TENSOR = "embedding.weight"
HEADER_LENGTH_BYTES = 8


class TokenVectors:
    """A matrix of token vectors in half precision, whose rows are float32 from their first use on.

    The file is mapped, and memory for the wide rows is taken as they are written: a process that has read no text holds
    none of them, and one that has read much holds those of its vocabulary. Widening is exact. Safe to use in threads.
    """

    def __init__(self, narrow: NDArray[np.float16]) -> None:
        self._narrow = narrow
        # Not numpy's own memory, which comes in pages of two megabytes where the system has them.
        self._wide = np.frombuffer(mmap.mmap(-1, 4 * narrow.size), np.float32).reshape(narrow.shape)
        self._is_wide = np.zeros(len(narrow), np.bool_)
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
        self._widen(tokens)
        found: NDArray[np.float32] = self._wide.take(tokens, axis=0, mode="clip")
        return found

    def summed(self, texts: Sequence[NDArray[np.integer]]) -> NDArray[np.float32]:
        """Return the sum of each text's vectors, shape (texts, dimension)."""
        summed = np.zeros((len(texts), self.dimension), np.float32)
        if texts:
            self._widen(np.concatenate(texts))  # of all together: looking costs more than adding up a sentence
        ones = np.ones(max(map(len, texts), default=0), np.float32)
        taken = np.empty((len(ones), self.dimension), np.float32)  # for one text after the other
        for row, tokens in enumerate(texts):
            vectors = taken[: len(tokens)]
            self._wide.take(tokens, axis=0, out=vectors, mode="clip")
            np.dot(ones[: len(tokens)], vectors, out=summed[row])
        return summed

    def truncated(self, dimension: int) -> "TokenVectors":
        """Return the first ``dimension`` values of each vector."""
        return self if dimension == self.dimension else TokenVectors(self._narrow[:, :dimension])

    def _widen(self, tokens: NDArray[np.integer]) -> None:
        if self._is_wide.take(tokens, mode="clip").all():
            return
        used = np.unique(np.clip(tokens, 0, len(self._narrow) - 1))
        missing = used[~self._is_wide[used]]
        self._wide[missing] = self._narrow[missing]
        self._is_wide[missing] = True  # last, so that another thread that sees it finds the row
