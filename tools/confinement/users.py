"""Users of our own that no account has: what they run can touch nothing of another user, nor of each other."""

import os
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.confinement.kernel import READ_ANYTHING, keep_capabilities, limit_capabilities

# Neither systemd nor a distribution gives these numbers to anybody.
DATABASE_USER = 60_706
_READERS = range(60_707, 61_184)


def exists_here(user: int) -> bool:
    """Whether a container maps the number of a user; everywhere else each number is one."""
    try:
        lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    except OSError:
        return sys.platform == "linux"
    return any(int(first) <= user < int(first) + int(many) for first, _, many in map(str.split, lines))


def leave_root(folder: Path, needed: Iterable[Path], *, files_are_restricted: bool) -> int:
    """Go on as a user of this process alone, who owns ``folder`` then; returns who this process runs as now.

    Where that user can't read what is ``needed``, such as an installation in root's home, it may read anything if that
    is restricted otherwise; else root goes on without capabilities. Who is not root stays who they are.
    Raises OSError where every such user is taken.
    """
    if os.geteuid() != 0 or sys.platform != "linux":
        return os.geteuid()
    user = _free_reader()
    kept = 0 if _can_read(user, needed) else READ_ANYTHING
    try:
        if exists_here(user) and (files_are_restricted or not kept):
            os.chown(folder, user, user)
            keep_capabilities()
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            limit_capabilities(kept)
            return user
    except OSError:  # a container without these capabilities
        os.chown(folder, 0, 0)
    limit_capabilities(0)
    return 0


def _free_reader() -> int:
    """Return a user that no other process of the machine is, and hold it until this process has ended."""
    for number in range(len(_READERS)):
        user = _READERS[(os.getpid() + number) % len(_READERS)]
        holder = socket.socket(socket.AF_UNIX)
        try:
            holder.bind(f"\0citewell-reader-{user}")  # a name without a file, which goes with its last holder
        except OSError:
            holder.close()
            continue
        holder.detach()
        return user
    return _READERS[os.getpid() % len(_READERS)]  # whoever holds every name must not keep files from being read


def _can_read(user: int, needed: Iterable[Path]) -> bool:
    try:
        os.setegid(user)
        os.seteuid(user)
    except OSError:
        return False
    try:
        return all(os.access(path, os.R_OK, effective_ids=True) for path in needed)
    finally:
        os.seteuid(0)
        os.setegid(0)
