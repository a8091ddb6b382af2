"""Where a server takes questions of this machine's command line: a Unix socket in a private folder of the data folder.

No network reaches it, so no browser, proxy or other machine does; nor does another user, whom the folder's mode keeps
out. Whoever may open it may open the embedded database beside it, with all rights. What a crashed server leaves behind
answers nothing, so nothing has to tell a living server from a dead one.
"""

import fcntl
import logging
import os
import re
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

FOLDER = "server"
SOCKET_NAME, LOCK_NAME = "questions.socket", "lock"
PENDING = 16  # questions that may knock at once
LONGEST_PATH = 100  # sun_path holds 104 bytes on macOS, 108 on Linux
OPEN_FILES = Path("/proc/self/fd")  # names a folder in a few bytes, where there is one

PREFIXES = ("CITEWELL_", "OPENAI_COMPATIBLE_")
# What else a run depends on: another stack's key, the ways to a model, and what is installed beside Citewell.
NAMES = frozenset(
    {
        "SERPER_API_KEY",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "PYTHONPATH",
    }
)
# Settings that change no answer: who asks and where is said with each question, and the rest is about serving.
APART = frozenset(
    {
        "audit",
        "auth",
        "auth_proxy",
        "cors_origins",
        "data_dir",
        "host",
        "http",
        "jobs",
        "log_format",
        "log_level",
        "metrics",
        "oidc",
        "port",
        "public_url",
        "user",
        "workspace",
    }
)
REFERENCE = re.compile(r"\$\{(\w+)\}")  # a setting may take its value from a variable of any name


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``citewell ask`` was called with; ``options`` are those of a run's Context, all of it JSON-able."""

    question: str
    selected_text: str
    session: str | None
    pages: list[str]
    options: dict[str, object]
    workspace: str | None
    user: str | None
    as_json: bool


def settings_read() -> dict[str, str]:
    """Return what the environment and ``.env`` set of Citewell's settings, by name in capitals; nothing is checked.

    Reading it so takes a millisecond, and checking settings more than all else that a question beside a server does.
    """
    found: dict[str, str | None] = {}
    if os.path.isfile(".env"):
        from dotenv import dotenv_values  # for who has such a file

        found.update(dotenv_values(".env", encoding="utf-8"))
    found.update(os.environ)
    named = {name.upper(): value for name, value in found.items() if value is not None}
    return {name: value for name, value in named.items() if name.startswith(PREFIXES) or name in NAMES}


def deciding(settings: Mapping[str, str]) -> dict[str, str]:
    """Return those of some settings, as they are written, by which answers may differ."""
    kept = {name: value for name, value in settings.items() if _section(name) not in APART}
    referred = {name for value in kept.values() for name in REFERENCE.findall(value)}
    return kept | {f"${name}": os.environ.get(name, "") for name in referred}


def release() -> list[str]:
    """Return what tells one installation of Citewell from another, and from itself after an upgrade."""
    here = str(Path(__file__).resolve().parent)
    for folder in sys.path:
        with suppress(OSError), os.scandir(folder or ".") as entries:
            for entry in entries:
                if entry.name.startswith("citewell-") and entry.name.endswith(".dist-info"):
                    return [here, entry.name, str(entry.stat().st_mtime_ns)]
    return [here]


def connect(data_dir: Path) -> socket.socket | None:
    """Return a connection to the server of a data folder; None without one that is this user's own."""
    with suppress(OSError), _private_folder(data_dir / FOLDER) as path:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            return None
        return connection
    return None


@contextmanager
def listening(data_dir: Path) -> Iterator[socket.socket | None]:
    """Listen in a data folder; None where another server does, or the folder can't be this user's own."""
    with ExitStack() as opened:
        try:
            listener = _listen(data_dir / FOLDER, opened)
        except BlockingIOError:
            listener = None
        except OSError as error:
            log.warning("Questions of the command line are not answered here: %s", error)
            listener = None
        yield listener


def _listen(folder: Path, opened: ExitStack) -> socket.socket:
    """Return a listening socket. Raises BlockingIOError where another process holds the folder, OSError."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    path = opened.enter_context(_private_folder(folder))
    lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    opened.callback(os.close, lock)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kernel lets it go, however the process ends
    place = folder / SOCKET_NAME
    place.unlink(missing_ok=True)  # of a server that was killed
    listener = opened.enter_context(socket.socket(socket.AF_UNIX))
    listener.bind(path)
    opened.callback(place.unlink, missing_ok=True)
    place.chmod(0o600)
    listener.listen(PENDING)
    return listener


@contextmanager
def _private_folder(folder: Path) -> Iterator[str]:
    """Yield the socket's path in a folder. Raises OSError where the folder is not private, or its path is too long."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(opened)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise PermissionError(f"{folder} is open to others.")
        path = str(folder / SOCKET_NAME)
        if len(os.fsencode(path)) > LONGEST_PATH:
            path = str(OPEN_FILES / str(opened) / SOCKET_NAME)
        yield path
    finally:
        os.close(opened)


def _section(name: str) -> str:
    """Return the setting that a variable is part of: ``auth`` of ``CITEWELL_AUTH__MODE``."""
    return name.removeprefix("CITEWELL_").partition("__")[0].lower()
