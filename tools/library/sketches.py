"""A sketch of a text: 256 bits that differ little from those of a text which shares most of it.

The sketch is a one-bit minwise hash of the text's pairs of neighbouring words, a bit for each of 256 parts of the hash
space (Li and König 2010; Li, Owen and Zhang 2012; empty parts are filled as Shrivastava 2017 does). Of two sketches
with ``d`` differing bits, about ``1 - d / 128`` of all pairs are in both texts.
"""

import re
from itertools import islice
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from text.late_patterns import late_pattern
from text.scripts import UNSPACED

BITS = 256
FEWEST_PAIRS = 30  # below, two texts may share most of them by chance
MOST_WORDS = 200_000  # of a text that are looked at

_WORD = late_pattern(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_TIMES = np.uint64(0x9E3779B97F4A7C15)


def sketch(text: str) -> str | None:
    """Return the sketch of a text as 256 binary digits, or None where it is too short. Takes linear time."""
    hashes: dict[str, int] = {}
    words = [
        hashes.setdefault(word, crc32(word.encode("utf-8", "surrogatepass")))
        for word in islice(map(re.Match.group, _WORD.finditer(text.casefold())), MOST_WORDS)
    ]
    numbers = np.array(words, np.uint64)
    pairs = np.unique(_mixed((numbers[:-1] << np.uint64(32)) | numbers[1:])) if len(numbers) else numbers
    if len(pairs) < FEWEST_PAIRS:
        return None
    least = np.full(BITS, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, (pairs >> np.uint64(56)).astype(np.intp), pairs)
    least = _filled(least, least != np.iinfo(np.uint64).max)
    bits = _mixed(least + np.arange(BITS, dtype=np.uint64) * _TIMES) & np.uint64(1)
    return "".join("1" if bit else "0" for bit in bits.tolist())


def _filled(least: NDArray[np.uint64], has: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Give each empty part the value of another one, the same one in every text that has it."""
    filled = least.copy()
    empty = np.flatnonzero(~has)
    attempt = 0
    while len(empty):
        attempt += 1
        donors = (_mixed(empty.astype(np.uint64) * np.uint64(100_003) + np.uint64(attempt)) % np.uint64(BITS)).astype(
            np.intp
        )
        filled[empty] = least[donors]
        empty = empty[~has[donors]]
    return filled


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each value (splitmix64)."""
    values = values + _TIMES
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
