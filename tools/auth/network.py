"""Detection of loopback hosts."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Whether a host name or address refers to this machine only."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
