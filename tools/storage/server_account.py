"""As whom the embedded PostgreSQL runs where Citewell is started by root, and who may connect to it.

PostgreSQL refuses to run as root. This module never creates accounts: without one of its own the server runs under a
number that no account has, so that no other program is its user.
"""

import os
import pwd
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from graph.errors import ConfigurationError
from tools.confinement.users import DATABASE_USER, exists_here

OWN_ACCOUNT = "citewell-postgres"  # which older releases created
SHARED_ACCOUNT = (
    "nobody"  # which others run as too: for making a database, which needs a name, and where nothing else is
)
ALTERNATIVES = (
    "Run Citewell as an ordinary user, set CITEWELL_POSTGRES_USER to an existing account, "
    "or set CITEWELL_DATABASE_URL to a PostgreSQL server with pgvector."
)
# Rewritten at each start: the system says which user is at the other end of the socket.
_RULES = {
    "pg_hba.conf": "# By Citewell: its own user may connect, as any role.\n"
    "local all all peer map=citewell\nlocal replication all peer map=citewell\n"
}


@dataclass(frozen=True, slots=True)
class Unprivileged:
    """A user of the system that is not root; without a name where no account has the number."""

    uid: int
    gid: int
    name: str | None = None

    @property
    def is_shared(self) -> bool:
        """Whether other programs may run as this user."""
        return self.name == SHARED_ACCOUNT


def unprivileged_user(name: str | None = None) -> Unprivileged | None:
    """Return the user to run the server as if this process is root, else None.

    Without a name it is the account of older releases, else one of our own, else the shared one. Raises
    ConfigurationError if there is none.
    """
    if os.geteuid() != 0:
        return None
    found = account_named(OWN_ACCOUNT if name is None else name)
    if found is None and name is None:
        found = shared = account_named(SHARED_ACCOUNT)
        if shared is not None and exists_here(DATABASE_USER):
            found = Unprivileged(DATABASE_USER, DATABASE_USER)
    if found is None:
        names = f"{OWN_ACCOUNT} or {SHARED_ACCOUNT}" if name is None else name
        raise ConfigurationError(
            f"PostgreSQL refuses to run as root, and this system has no unprivileged account {names}.",
            suggestion=ALTERNATIVES,
        )
    return found


def account_named(name: str) -> Unprivileged | None:
    """Return an account that is not root; None where there is none of that name."""
    with suppress(KeyError):
        entry = pwd.getpwnam(name)
        if entry.pw_uid != 0:
            return Unprivileged(entry.pw_uid, entry.pw_gid, name)
    return None


def hand_over(folder: Path, before: int, account: Unprivileged) -> None:
    """Give a folder, with what is in it, to an account; only what was the user's ``before``."""
    for place, folders, files in os.walk(folder):  # from above: the user before can't reach what is not done yet
        for path in (place, *(os.path.join(place, name) for name in (*folders, *files))):
            if os.lstat(path).st_uid == before:
                os.chown(path, account.uid, account.gid, follow_symlinks=False)


def write_rules(folder: Path, account: Unprivileged | None) -> bool:
    """Let the user of this process connect to the server of a folder, and nobody else; whether that was not so.

    An account of the server's own may connect too: its files are open to it anyway.
    """
    try:
        names = {pwd.getpwuid(os.geteuid()).pw_name}
    except KeyError as error:  # by it the server knows who connects
        raise ConfigurationError(
            f"This system has no account for the user {os.geteuid()} that Citewell runs as.", suggestion=ALTERNATIVES
        ) from error
    if account is not None and account.name is not None and not account.is_shared:
        names.add(account.name)
    mapped = "".join(f'citewell "{name}" all\n' for name in sorted(names))
    changed = False
    for name, text in {**_RULES, "pg_ident.conf": mapped}.items():
        with suppress(FileNotFoundError):
            if (folder / name).read_text(encoding="utf-8") == text:
                continue
        changed = True
        descriptor, written = tempfile.mkstemp(dir=folder)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            if account is not None:
                os.fchown(file.fileno(), account.uid, account.gid)
        os.replace(written, folder / name)
    return changed


def reachable(path: Path, account: Unprivileged | None) -> bool:
    """Whether the account may traverse every folder above ``path``; folders that don't exist yet don't count."""
    return account is None or all(_may_traverse(folder, account) for folder in path.parents if folder.is_dir())


def _may_traverse(folder: Path, account: Unprivileged) -> bool:
    status = folder.stat()
    if status.st_uid == account.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == account.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)
