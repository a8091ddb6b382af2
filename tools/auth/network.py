"""Whether a host is this machine."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return whether a host name or address means this machine alone."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
