"""What a process does: requests, runs, jobs, kept versions, web search and metrics."""

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated

from pydantic import Field, SecretStr, field_validator

from tools.settings.section import Key, Networks, Section, WebAddress


class HttpSettings(Section):
    """The addresses or networks of the proxies in front, as the socket shows them.

    Their X-Forwarded-For is believed; without any, that of FORWARDED_ALLOW_IPS, else this machine's. In the mode
    ``proxy`` they say who a request is from, and have to be listed.
    """

    trusted_proxies: Networks = []

    @field_validator("trusted_proxies")
    @classmethod
    def _not_everybody(cls, value: list[IPv4Network | IPv6Network]) -> list[IPv4Network | IPv6Network]:
        if any(network.prefixlen == 0 for network in value):
            raise ValueError("a network of all addresses lets everybody say where they come from; list your proxies")
        return value


class RunSettings(Section):
    """Limits on the runs of a process, and how processes hear of each other's.

    On shutdown a process waits ``drain_seconds`` for its runs to finish before it leaves them to others. Processes
    notify each other of events by PostgreSQL, or by the NATS server at ``nats_url``.
    """

    max_active: Annotated[int, Field(ge=1, le=1000)] = 16
    drain_seconds: Annotated[float, Field(ge=0, le=300)] = 5.0
    nats_url: SecretStr | None = None

    @field_validator("nats_url")
    @classmethod
    def _nats_address(cls, value: SecretStr | None) -> SecretStr | None:
        address = "" if value is None else value.get_secret_value()
        if address and not address.startswith(("nats://", "tls://")):
            raise ValueError("the address of a NATS server begins with nats:// or tls://")
        return value if address else None


class JobSettings(Section):
    """How files are read: by how many processes, and within which limits.

    A server reads ``workers`` files at once, each in a process of its own; with 0 it leaves them to `citewell worker`.
    A file is refused if reading takes longer than ``file_seconds``.
    """

    workers: Annotated[int, Field(ge=0, le=64)] = 2
    file_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0


class VersionSettings(Section):
    """How many replaced texts of a document are kept; with 0, none."""

    keep: Annotated[int, Field(ge=0, le=1000)] = 10


class WebSettings(Section):
    """The web search endpoint, which is off without a key, and what is stored of its results.

    Result pages are fetched only with ``fetch_pages``; otherwise only the search snippets are stored.
    """

    api_key: Key = SecretStr("")
    base_url: WebAddress = "https://google.serper.dev"
    fetch_pages: bool = False


class MetricsSettings(Section):
    """Where `/metrics` is served: by the ``app`` to valid credentials, at ``host:port`` to anybody, or ``off``.

    `citewell worker` has no app; it serves them only at an address.
    """

    listen: str = "app"

    @field_validator("listen")
    @classmethod
    def _place(cls, value: str) -> str:
        host, _, port = value.rpartition(":")
        if value not in ("app", "off") and not (host and port.isdecimal() and int(port) <= 65535):
            raise ValueError("must be app, off, or host:port such as 127.0.0.1:9464")
        return value

    @property
    def address(self) -> tuple[str, int] | None:
        """The host and port of their own, if they have one."""
        host, _, port = self.listen.rpartition(":")
        return (host, int(port)) if port.isdecimal() else None
