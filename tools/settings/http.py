"""Requests to ``api``, and the proxies in front of it."""

from ipaddress import IPv4Network, IPv6Network

from pydantic import field_validator

from tools.settings.section import Networks, Section


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
