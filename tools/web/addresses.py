"""Which IP addresses belong to the public internet.

The tables are our own, after the IANA special-purpose registries: what ``ipaddress`` calls global differs from one
Python release to the next. An IPv6 address that stands for an IPv4 one is judged by that one.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

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
    """Tell whether an address is one of the public internet. What is no address, or has a zone, is not."""
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
