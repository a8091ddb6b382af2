"""The account that PostgreSQL runs as when we are root, which it refuses to be, and what that account can reach."""

import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from graph.errors import ConfigurationError

ACCOUNT = "citewell-postgres"
WAYS_OUT = "Run Citewell as an ordinary user, or set CITEWELL_DATABASE_URL to a PostgreSQL server with pgvector."


@dataclass(frozen=True, slots=True)
class Unprivileged:
    """A system account without login, home or password."""

    uid: int
    gid: int


def unprivileged_user() -> Unprivileged | None:
    """Find or make the server's account where this process is root; None where it is not.

    Raises ConfigurationError where the system has no ``useradd``, or it refuses.
    """
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(ACCOUNT)
    except KeyError:
        entry = _create_account()
    return Unprivileged(entry.pw_uid, entry.pw_gid)


def reachable(path: Path, account: Unprivileged | None) -> bool:
    """Tell whether the account may pass through every folder above ``path``; folders yet to be made don't count."""
    return account is None or all(_may_pass(folder, account) for folder in path.parents if folder.is_dir())


def _may_pass(folder: Path, account: Unprivileged) -> bool:
    status = folder.stat()
    if status.st_uid == account.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == account.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def _create_account() -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if useradd is None:
        raise ConfigurationError(
            "PostgreSQL refuses to run as root, and this system has no useradd to make an account for it.",
            suggestion=WAYS_OUT,
        )
    arguments = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/false"]
    made = subprocess.run([useradd, *arguments, ACCOUNT], capture_output=True, text=True, check=False)
    try:
        return pwd.getpwnam(ACCOUNT)  # another process may have made it between our look and our useradd
    except KeyError:
        raise ConfigurationError(
            f"PostgreSQL refuses to run as root, and useradd could not make an account for it: {made.stderr.strip()}",
            suggestion=WAYS_OUT,
        ) from None
