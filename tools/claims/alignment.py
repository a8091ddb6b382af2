"""Align two sequences of tokens in order."""

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

LARGEST = 90_000  # cells of the table that an alignment may need at worst; beyond it nothing is aligned

Edit = tuple[int, int, int, int]


def edits(one: Sequence[str], other: Sequence[str]) -> list[Edit] | None:
    """Give the runs in which two sequences differ, as bounds in both; None where they are too long to align."""
    head = 0
    while head < min(len(one), len(other)) and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(other)) - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    a, b = one[head : len(one) - tail], other[head : len(other) - tail]
    if not a and not b:
        return []
    if len(a) * len(b) > LARGEST:
        return None
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(i + head, j + head, k + head, m + head) for tag, i, j, k, m in blocks if tag != "equal"]


def common_in_order(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Count the longest common subsequence, bit-parallel (Hyyrö, "Bit-parallel LCS-length computation", 2004)."""
    places: dict[Hashable, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for item in other:
        match = places.get(item)
        if match:
            shared = row & match
            row = ((row + shared) | (row - shared)) & full
    return len(one) - row.bit_count()
