"""What a part of the settings is, and what several parts check alike."""

import re
from ipaddress import ip_network
from typing import Self

from pydantic import BaseModel, HttpUrl, SecretStr, TypeAdapter

VERSIONED = re.compile(r"/v\d+\Z")


class Section(BaseModel, extra="forbid", defer_build=True):
    """A part of the settings, which takes no unknown name; its validator is built within that of ``Settings``."""

    @classmethod
    def unset(cls) -> Self:
        """Return the part with its defaults alone, unchecked: to check them would take a validator of its own."""
        return cls.model_construct()


def normal_base_url(url: str) -> str:
    """Normalize an endpoint's base URL: it ends in a version such as ``/v1``, without a trailing slash.

    Raises ValueError if it is not an http or https URL.
    """
    TypeAdapter(HttpUrl).validate_python(url)
    stem = url.rstrip("/")
    for tail in ("/chat/completions", "/embeddings"):
        stem = stem.removesuffix(tail)
    return stem if VERSIONED.search(stem) else f"{stem}/v1"


def sendable_key(value: SecretStr) -> SecretStr:
    """Return a key without spaces around it. Raises ValueError where it can't be sent in a header."""
    key = value.get_secret_value().strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("a key may only contain printable ASCII characters")
    return SecretStr(key)


def networks(value: object) -> object:
    """Return a list of addresses and networks as networks; pydantic's own error names neither one nor its fault."""
    if not isinstance(value, list):
        return value
    return [ip_network(each) if isinstance(each, str) else each for each in value]
