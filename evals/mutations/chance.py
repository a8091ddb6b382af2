"""Draw by a hash of the text at hand, so that a set comes out the same wherever and whenever it is made."""

import hashlib
from random import Random


def chance(*key: str) -> Random:
    """Give a source of random numbers that depends on nothing but the words given."""
    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    return Random(int.from_bytes(digest[:8], "big"))
