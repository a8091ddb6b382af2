"""Guard against requests to private networks: resolve a host once, and connect only to public addresses.

Every address of a host has to be public. The connection then goes to one of these very addresses, so a name that
resolves to something else a moment later (DNS rebinding) gains nothing. The tables are our own, after the IANA
special-purpose registries: what ``ipaddress`` calls global differs from one Python release to the next. An IPv6 address
that embeds an IPv4 one is judged by that one.
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
            "100.64.0.0/10",  # behind a carrier's NAT; a cloud keeps its metadata at 100.100.100.200
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud's own services, at an address that is public by the registry
            "169.254.0.0/16",  # link-local, and the metadata of most clouds
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",  # documentation, as are 198.51.100.0/24 and 203.0.113.0/24
            "192.88.99.0/24",  # relays of 6to4
            "192.168.0.0/16",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_STANDS_FOR_IPV4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))  # mapped, and NAT64
# Everything outside is unspecified, loopback, compatible with IPv4, unique local, link-local, site-local or multicast.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NOT_GLOBAL = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocols, Teredo among them, whose address holds two of IPv4
            "2001:db8::/32",  # documentation, as is 3fff::/20
            "2002::/16",  # 6to4, whose address holds one of IPv4
            "3fff::/20",
        ),
    )
)


def is_public(address: str) -> bool:
    """Return whether an address is one of the public internet. What is no address, or has a zone, is not."""
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
    if any(ip in network for network in _STANDS_FOR_IPV4):
        return _is_public_ipv4(IPv4Address(int(ip) & 0xFFFFFFFF))
    return ip in _GLOBAL_UNICAST and not any(ip in network for network in _NOT_GLOBAL)


PORTS = {"http": 80, "https": 443}
LONGEST_URL = 2000
# Two labels at least: a single one names a machine of the network that Citewell stands in.
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{1,63}\.?", re.ASCII)
# Programs differ in whether 2130706433, 0x7f.1 and 0177.0.0.1 are addresses; no domain ends like that.
_NUMERIC = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)\.?", re.ASCII)

# A lookup that hangs can't be stopped; in threads of its own it holds up nothing but other lookups.
_RESOLVING = ThreadPoolExecutor(max_workers=8, thread_name_prefix="resolve")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Target:
    """An address that may be asked for: its URL, and the IP addresses of its host, all of them checked."""

    url: httpx2.URL
    addresses: tuple[str, ...]


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of a host. Raises OSError."""
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_RESOLVING, ask)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Guard:
    """Checks addresses. No setting weakens it: what it allows is changed by whoever constructs it, as tests do."""

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
        """Resolve an address and give what may be connected to.

        Raises WebUnavailable where the address is not plain http or https at their ports, names a user, a machine
        without a domain or a number in disguise, or where any address of its host is not public.
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
            raise WebUnavailable("its host is no domain name")
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
