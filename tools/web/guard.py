"""Guard against requests to private networks: resolve a host once, and connect only to public addresses.

Every address of a host must be public. The connection then goes to one of the checked addresses, so DNS rebinding (a
name that resolves to something else a moment later) gains nothing. The tables follow the IANA special-purpose
registries but are our own: what ``ipaddress`` calls global differs between Python releases. An IPv6 address that embeds
an IPv4 address is judged by the embedded one.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx2

from graph.errors import WebUnavailable

_NOT_PUBLIC = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this host
            "10.0.0.0/8",
            "100.64.0.0/10",  # carrier-grade NAT; one cloud serves its metadata at 100.100.100.200
            "127.0.0.0/8",
            "168.63.129.16/32",  # internal services of a cloud; the registry lists the address as public
            "169.254.0.0/16",  # link-local; most clouds serve their metadata here
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",  # documentation, as are 198.51.100.0/24 and 203.0.113.0/24
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_EMBEDS_IPV4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))  # mapped, and NAT64
# Everything outside is unspecified, loopback, IPv4-compatible, unique local, link-local, site-local or multicast.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NOT_GLOBAL = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments, including Teredo, whose addresses embed two IPv4 addresses
            "2001:db8::/32",  # documentation, as is 3fff::/20
            "2002::/16",  # 6to4, whose addresses embed one IPv4 address
            "3fff::/20",
        ),
    )
)


def is_public(address: str) -> bool:
    """Whether an IP address is on the public internet. Invalid addresses and those with a zone are not."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    return _is_public_ipv4(ip) if isinstance(ip, IPv4Address) else _is_public_ipv6(ip)


def _is_public_ipv4(ip: IPv4Address) -> bool:
    return not any(ip in network for network in _NOT_PUBLIC)


def _is_public_ipv6(ip: IPv6Address) -> bool:
    if ip.scope_id is not None:
        return False
    if any(ip in network for network in _EMBEDS_IPV4):
        return _is_public_ipv4(IPv4Address(int(ip) & 0xFFFFFFFF))
    return ip in _GLOBAL_UNICAST and not any(ip in network for network in _NOT_GLOBAL)


PORTS = {"http": 80, "https": 443}
LONGEST_URL = 2000
# At least two labels: a single label names a machine in the network that Citewell runs in.
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{1,63}\.?", re.ASCII)
# Programs disagree on whether 2130706433, 0x7f.1 and 0177.0.0.1 are addresses; no domain ends like that.
_NUMERIC = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)\.?", re.ASCII)

# A hanging lookup can't be cancelled; in a separate thread pool it delays only other lookups.
_RESOLVING = ThreadPoolExecutor(max_workers=8, thread_name_prefix="resolve")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Target:
    """A checked request target: its URL and the IP addresses of its host."""

    url: httpx2.URL
    addresses: tuple[str, ...]


async def resolve(host: str, port: int) -> list[str]:
    """Resolve the IP addresses of a host with the system's resolver. Raises OSError."""
    lookup = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_RESOLVING, lookup)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Guard:
    """A check of URLs before they are requested. No setting weakens it; only its constructor does, for tests."""

    def __init__(
        self,
        *,
        resolve: Resolve = resolve,
        is_allowed: Callable[[str], bool] = is_public,
        ports: frozenset[int] = frozenset(PORTS.values()),
    ) -> None:
        self._resolve = resolve
        self._is_allowed = is_allowed
        self._ports = ports

    async def check(self, url: str) -> Target:
        """Resolve a URL and return the target that may be connected to.

        Raises WebUnavailable if the URL is not http or https on their default ports, if it names a user, a machine
        without a domain or an obfuscated IP address, or if any IP address of its host is not public.
        """
        parsed = _parse(url)
        port = parsed.port if parsed.port is not None else PORTS[parsed.scheme]
        if port not in self._ports:
            raise WebUnavailable(f"port {port} is not one of the web")
        addresses = await self._addresses(parsed.raw_host.decode("ascii").lower(), port)
        if not addresses or not all(map(self._is_allowed, addresses)):
            raise WebUnavailable("its address is not a public one")
        return Target(parsed, tuple(addresses))

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        try:
            return [str(ip_address(host))]
        except ValueError:
            pass
        if _NUMERIC.fullmatch(host) or len(host) > 253 or not _NAME.fullmatch(host):
            raise WebUnavailable("its host is not a domain name")
        try:
            return await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise WebUnavailable("its host is not known") from error


def _parse(url: str) -> httpx2.URL:
    if len(url) > LONGEST_URL or re.search(r"[\x00-\x20\x7f\\]", url):
        raise WebUnavailable("its address cannot be read")
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise WebUnavailable("its address cannot be read") from error
    if parsed.scheme not in PORTS:
        raise WebUnavailable("its address is neither http nor https")
    if parsed.userinfo:
        raise WebUnavailable("its address names a user")
    return parsed
