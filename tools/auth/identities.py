"""Valid names of workspaces and users, what credentials allow, and which hosts are this machine."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Literal, get_args

from graph.evidence import Identity
from text.scripts import SURROGATES
from tools.storage.tenants import LONGEST_NAME

Scope = Literal["ask", "read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
EVERYTHING: frozenset[Scope] = frozenset(SCOPES)
ORDINARY: frozenset[Scope] = EVERYTHING - {"admin"}


@dataclass(frozen=True, slots=True)
class Rights:
    """What credentials allow in a workspace: some scopes, in some spaces (by id or slug) or, where None, in all."""

    scopes: frozenset[Scope] = ORDINARY
    spaces: tuple[str, ...] | None = None


ORDINARY_RIGHTS = Rights()


@dataclass(frozen=True, slots=True)
class Limits:
    """How often a credential may be used: requests a minute, in all and from one address, and runs a day; None: any."""

    a_minute: int | None = None
    a_minute_by_address: int | None = None
    runs_a_day: int | None = None


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Grant:
    """What credentials allow: to act as a user in some workspaces, the first one unless another is chosen.

    ``workspaces`` is None where every workspace of the deployment is allowed; the identity's is the first then.
    ``may_create``: a workspace that is named is created at its first use, since whoever names it is trusted to.
    ``rights`` hold in every workspace but for those of ``rights_by_workspace``, which allows nothing in others where it
    is not None. ``credential`` identifies the credentials in the audit log and in limits, and reveals nothing of them.
    With ``origins`` requests are accepted from web pages of these origins alone. ``is_public``: the credentials are for
    anybody, so that only the id of a session opens it, and nothing is listed.
    """

    identity: Identity
    workspaces: tuple[str, ...] | None
    may_create: bool = False
    rights: Rights = ORDINARY_RIGHTS
    rights_by_workspace: Mapping[str, Rights] | None = None
    credential: str = ""
    origins: tuple[str, ...] = ()
    is_public: bool = False
    limits: Limits = NO_LIMITS

    def allows(self, workspace: str) -> bool:
        """Whether the credentials may choose a workspace, if there is one of that name."""
        return self.workspaces is None or workspace in self.workspaces

    def rights_in(self, workspace: str) -> Rights:
        if self.rights_by_workspace is None:
            return self.rights
        return self.rights_by_workspace.get(workspace, Rights(frozenset()))

    def restricted(self, identity: Identity) -> Identity:
        """Return an identity of these credentials with what they allow in its workspace."""
        rights = self.rights_in(identity.workspace)
        return replace(
            identity,
            spaces=rights.spaces,
            is_shared=self.is_public,
            assigns_owners="admin" in rights.scopes,
            reads_files="read" in rights.scopes,
        )


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
LONGEST_SPACE = 200
MOST_WORKSPACES = 100  # that one token may name
MOST_SPACES = 100
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


def checked_scopes(named: object) -> frozenset[Scope]:
    """Return the scopes among the words of a text or a list; ``citewell:ask`` is ``ask``, other words are not ours."""
    words = named.replace(",", " ").split() if isinstance(named, str) else named
    if not isinstance(words, Sequence):
        return frozenset()
    known = {word.removeprefix("citewell:") for word in words if isinstance(word, str)}
    return frozenset(scope for scope in SCOPES if scope in known)


def checked_spaces(named: object) -> tuple[str, ...]:
    """Return ids or slugs of spaces, 1 to 100 of 1 to 200 characters; a text is one. Raises ValueError."""
    spaces = [named] if isinstance(named, str) else named
    if not isinstance(spaces, Sequence) or not 1 <= len(spaces) <= MOST_SPACES:
        raise ValueError(f"spaces: there are 1 to {MOST_SPACES} spaces")
    return tuple(dict.fromkeys(_checked("spaces", space, LONGEST_SPACE) for space in spaces))


def _checked(what: str, name: object, longest: int) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > longest or _UNFIT.search(name):
        raise ValueError(f"{what}: it has 1 to {longest} characters, none of them a control character")
    return name
