"""Valid names of workspaces and users, what credentials allow, and which hosts are this machine."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address

from graph.evidence import Identity
from text.scripts import SURROGATES
from tools.storage.tenants import LONGEST_NAME


@dataclass(frozen=True, slots=True)
class Grant:
    """What credentials allow: to act as a user in some workspaces, the first one unless another is chosen.

    ``workspaces`` is None where every workspace of the deployment is allowed; the identity's is the first then.
    ``may_create``: a workspace that is named is created at its first use, since whoever names it is trusted to.
    """

    identity: Identity
    workspaces: tuple[str, ...] | None
    may_create: bool = False

    def allows(self, workspace: str) -> bool:
        """Whether the credentials may choose a workspace, if there is one of that name."""
        return self.workspaces is None or workspace in self.workspaces


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
LONGEST_GROUP = 200
MOST_WORKSPACES = 100  # that one token may name
MOST_GROUPS = 1000
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


def checked_groups(groups: object) -> tuple[str, ...]:
    """Return the groups of a user, each once and in order: a name, or a list of at most 1000; None is no group.

    Raises ValueError.
    """
    named = [] if groups is None else [groups] if isinstance(groups, str) else groups
    if not isinstance(named, Sequence) or len(named) > MOST_GROUPS:
        raise ValueError(f"groups: a list has at most {MOST_GROUPS} groups")
    return tuple(sorted({_checked("groups", group, LONGEST_GROUP) for group in named}))


def checked_grant(workspaces: object, user: object, groups: object = None) -> Grant:
    """Return the grant of a trusted issuer or proxy, for a user with groups and one workspace or a list of 1 to 100.

    Raises ValueError, whose message names the invalid one.
    """
    named = workspaces if isinstance(workspaces, Sequence) and not isinstance(workspaces, str) else [workspaces]
    if not 1 <= len(named) <= MOST_WORKSPACES:
        raise ValueError(f"workspace: a list has 1 to {MOST_WORKSPACES} workspaces")
    member_of = checked_groups(groups)
    identities = [replace(checked_identity(workspace, user), groups=member_of) for workspace in named]
    return Grant(identities[0], tuple(dict.fromkeys(each.workspace for each in identities)), may_create=True)


def _checked(what: str, name: object, longest: int) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > longest or _UNFIT.search(name):
        raise ValueError(f"{what}: it has 1 to {longest} characters, none of them a control character")
    return name
