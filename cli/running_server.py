"""Ask the server that runs on the same library, where there is one: it answers as this process would, and sooner.

The server writes what this process would write, as this process's terminal shows it; so the output is the same, byte
for byte. What the server can't answer as this process would, it declines before anything is shown.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cli.command import DEFAULT_LEVEL, Exit, Failed, announce_library_in_place
from cli.local_socket import Asked, connect, deciding, release, settings_read
from graph.errors import ServerStopping
from tools.folders.data_folder import default_data_dir

LONGEST_LINE = 64_000_000  # bytes: a document of JSON is one line
ACCEPT_SECONDS = 5.0
CANCEL_SECONDS = 5.0  # that the server may take to record a cancelled run
LOGGED = ("debug", "info")  # levels at which this process would log what its run does
TERMINAL_VARIABLES = (
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "LINES",
    "NO_COLOR",
    "TERM",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)


async def ask_running_server(asked: Asked, *, verbose: bool) -> Failed | Exit | None:
    """Let a running server answer; return None where there is none that would answer as this process does.

    If the task is cancelled, the server cancels the run and records it as such. Raises ServerStopping where the server
    ends before its answer does.
    """
    settings = settings_read()
    data_dir = _data_dir(settings)
    if data_dir is None or _shows_more(settings):
        return None
    connection = connect(data_dir)
    if connection is None:
        return None
    connection.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=connection, limit=LONGEST_LINE)
    try:
        with suppress(OSError):
            writer.write(json.dumps(_request(asked, settings)).encode() + b"\n")
            await writer.drain()

        def announce() -> None:
            if "CITEWELL_DATA_DIR" not in settings:
                announce_library_in_place(data_dir)
            if verbose:
                _write(sys.stderr, f"A running server on {data_dir} answers.\n")

        try:
            return await _relay(reader, announce)
        except asyncio.CancelledError:
            with suppress(OSError, TimeoutError, ServerStopping):
                writer.write_eof()
                async with asyncio.timeout(CANCEL_SECONDS):
                    await _relay(reader, announce, accepted=True)
            raise
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _relay(
    reader: asyncio.StreamReader, announce: Callable[[], None], *, accepted: bool = False
) -> Failed | Exit | None:
    """Write what a server sends where it belongs; return None where it declined. Raises ServerStopping at its end."""
    while line := await _next_line(reader, None if accepted else ACCEPT_SECONDS):
        match json.loads(line):
            case {"accepted": _}:
                accepted = True
                announce()
            case {"declined": _}:
                return None
            case {"out": text}:
                _write(sys.stdout, text)
            case {"err": text}:
                _write(sys.stderr, text)
            case {"failed": failed}:
                return Failed(**failed)
            case {"exit": code}:
                return Exit(code)
    if not accepted:
        return None
    raise ServerStopping("The server that was answering has ended.", suggestion="Ask again, or read the session later.")


async def _next_line(reader: asyncio.StreamReader, seconds: float | None) -> bytes:
    try:
        async with asyncio.timeout(seconds):  # it may be stopped, or stuck
            return await reader.readline()
    except (ConnectionError, TimeoutError):
        return b""


def _data_dir(settings: dict[str, str]) -> Path | None:
    """Return the data folder that these settings name; None where the library is in a database elsewhere."""
    if settings.get("CITEWELL_DATABASE_URL"):
        return None
    named = settings.get("CITEWELL_DATA_DIR")
    try:
        return (default_data_dir() if named is None else Path(named)).expanduser().resolve()
    except RuntimeError:  # this user has no home folder
        return None


def _shows_more(settings: dict[str, str]) -> bool:
    """Whether this process would show what no server knows: its own log, or that it sends LangSmith nothing."""
    traced = any(name.startswith(("LANGSMITH_", "LANGCHAIN_")) for name in os.environ)
    return traced or settings.get("CITEWELL_LOG_LEVEL", "").lower() in LOGGED


def _request(asked: Asked, settings: dict[str, str]) -> dict[str, Any]:
    size = None
    for stream in (0, 1, 2):  # as rich looks for it
        with suppress(OSError):
            size = list(os.get_terminal_size(stream))
            break
    return {
        "release": release(),
        "settings": deciding(settings),
        "workspace": settings.get("CITEWELL_WORKSPACE") if asked.workspace is None else asked.workspace,
        "user": settings.get("CITEWELL_USER") if asked.user is None else asked.user,
        "log_level": settings.get("CITEWELL_LOG_LEVEL") or DEFAULT_LEVEL,
        "log_format": settings.get("CITEWELL_LOG_FORMAT", "text"),
        "asked": asdict(asked),
        "terminal": {
            "environment": {name: os.environ[name] for name in TERMINAL_VARIABLES if name in os.environ},
            "size": size,
            "out": sys.stdout.isatty(),
            "err": sys.stderr.isatty(),
        },
    }


def _write(stream: Any, text: str) -> None:
    stream.write(text)
    stream.flush()
