"""Bounds on requests to ``api``."""

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated

from pydantic import Field, field_validator

from tools.settings.section import Section, networks


class HttpSettings(Section):
    """Bounds on requests to the server of ``citewell serve``: how large their head may be, and how slow they may come.

    The head of a request must arrive within ``head_seconds``. Its body may take ``body_seconds`` and, on top, the time
    that its bytes take at ``body_bytes_per_second``. ``trusted_proxies`` are the addresses or networks whose
    X-Forwarded-For says where a request comes from; without any, those of FORWARDED_ALLOW_IPS, else this machine's.
    """

    head_bytes: Annotated[int, Field(ge=1024, le=1_000_000)] = 131_072
    headers: Annotated[int, Field(ge=10, le=10_000)] = 100
    head_seconds: Annotated[float, Field(gt=0, le=3600)] = 20.0
    body_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    body_bytes_per_second: Annotated[int, Field(ge=1)] = 500
    trusted_proxies: list[IPv4Network | IPv6Network] = []

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _networks(cls, value: object) -> object:
        return networks(value)

    @field_validator("trusted_proxies")
    @classmethod
    def _not_everybody(cls, value: list[IPv4Network | IPv6Network]) -> list[IPv4Network | IPv6Network]:
        if any(network.prefixlen == 0 for network in value):
            raise ValueError("a network of all addresses lets everybody say where they come from; list your proxies")
        return value
