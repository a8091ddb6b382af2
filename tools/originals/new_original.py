"""A file to keep, before it is stored."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewOriginal:
    """The bytes of a file to keep, and their SHA-256 in hexadecimal."""

    sha256: str
    data: bytes

    @classmethod
    def of(cls, data: bytes) -> "NewOriginal":
        """Return a file to keep."""
        return cls(hashlib.sha256(data).hexdigest(), data)
