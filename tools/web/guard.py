"""What stands between an address that a search result names and a connection to it.

A host is resolved once, and every address of it has to be public. The connection then goes to one of these very
addresses, so a name that resolves to something else a moment later (DNS rebinding) gains nothing.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address

import httpx2

from graph.errors import WebUnavailable
from tools.web.addresses import is_public

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
