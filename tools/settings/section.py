"""What a part of the settings is, and what several parts check alike."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, HttpUrl, SecretStr, TypeAdapter

VERSIONED = re.compile(r"/v\d+\Z")


class Section(BaseModel, extra="forbid", defer_build=True):
    """A part of the settings, which takes no unknown name; its validator is built within that of ``Settings``."""

    @classmethod
    def unset(cls) -> Self:
        """Return the part with its defaults alone, unchecked: to check them would take a validator of its own."""
        return cls.model_construct()


def _web_address(url: str) -> str:
    TypeAdapter(HttpUrl).validate_python(url)
    return url.rstrip("/")


def _versioned(stem: str) -> str:
    for tail in ("/chat/completions", "/embeddings"):
        stem = stem.removesuffix(tail)
    return stem if VERSIONED.search(stem) else f"{stem}/v1"


def sendable_key(value: SecretStr) -> SecretStr:
    """Return a key without spaces around it. Raises ValueError where a header can't hold it."""
    key = value.get_secret_value().strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("a key may only contain printable ASCII characters")
    return SecretStr(key)


def _networks(value: object) -> object:
    if not isinstance(value, list):
        return value
    return [ip_network(each) if isinstance(each, str) else each for each in value]  # pydantic's error names no fault


Unset = BeforeValidator(lambda value: None if value == "" else value)  # an empty variable is none
WebAddress = Annotated[str, AfterValidator(_web_address)]  # http or https, without a slash at its end
BaseUrl = Annotated[WebAddress, AfterValidator(_versioned)]  # of an endpoint: it ends in a version such as /v1
Key = Annotated[SecretStr, AfterValidator(sendable_key)]
Networks = Annotated[list[IPv4Network | IPv6Network], BeforeValidator(_networks)]
