"""Valid names of workspaces and users, and which hosts are this machine."""

import re
from ipaddress import ip_address

from graph.evidence import Identity
from text.scripts import SURROGATES
from tools.storage.tenants import LONGEST_NAME


def is_loopback(host: str) -> bool:
    """Whether a host name or address refers to this machine only."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


LONGEST_USER = 200
# Control characters break log lines and columns; PostgreSQL can't store NUL or lone surrogates.
_UNFIT = re.compile(f"[\x00-\x1f\x7f-\x9f{SURROGATES}]")


def checked_identity(workspace: object, user: object) -> Identity:
    """Return the identity of a workspace (1 to 100 characters) and a user (1 to 200 characters).

    Raises ValueError, whose message names the invalid one.
    """
    return Identity(
        _checked("workspace", workspace, LONGEST_NAME),
        _checked("user", user, LONGEST_USER),
    )


def _checked(what: str, name: object, longest: int) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > longest or _UNFIT.search(name):
        raise ValueError(f"{what}: it has 1 to {longest} characters, none of them a control character")
    return name
