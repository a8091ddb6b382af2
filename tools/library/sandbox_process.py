"""A process that reads files for another one, a file at a time: what a library stores of it, or what a viewer draws.

It has neither a connection to the database nor the keys of the deployment, and before the first file it gives up what
it does not need. Its parent sends a frame for each file and gets frames back: any number of progress and parts, then
the reply or the error. A frame is a JSON object, with the lengths of the bytes that follow it.
"""

import gc
import json
import math
import os
import resource
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO

from graph.errors import CitewellError, DocumentTooExpensive, InvalidRequest, UnreadableDocument
from tools.confinement.priority import give_way
from tools.confinement.process import confine, confinement
from tools.confinement.seccomp import forbid_programs
from tools.embeddings.static_embedding import count_tokens
from tools.library.program_process import start_programs_elsewhere
from tools.library.sandbox_tasks import TASKS, Frame
from tools.parsers.programs import program_folders
from tools.plugins.entry_points import PARSERS, find_plugins

LENGTH = struct.Struct(">I")
NEW_OBJECTS = 10_000  # between two collections of the youngest generation
MOST_FILES = 500  # read by one process, in case a parser leaks


def write_frame(header: dict[str, Any], *blobs: bytes) -> Iterator[bytes]:
    """Yield the parts of a frame."""
    encoded = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    yield LENGTH.pack(len(encoded)) + encoded
    yield from blobs


def main(megabytes: int, scratch: str) -> None:
    """Read files until the parent closes the pipe; at most ``megabytes`` of memory for all of the process.

    What parsers write goes into the folder ``scratch``, which the parent removes.
    """
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # what a parser prints is no frame
    os.dup2(nothing, 2)  # nor a line of the server's log, which it could cut
    os.close(nothing)
    give_way()  # so that questions come first
    gc.set_threshold(NEW_OBJECTS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit(resource.RLIMIT_DATA, megabytes << 20, for_good=True)
    _limit(resource.RLIMIT_FSIZE, megabytes << 20, for_good=True)
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")  # where memory is short, this ends first
    os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = scratch
    _memory_file()  # which can't be opened later
    _confine(Path(scratch))
    count_tokens([""])
    for left in reversed(range(MOST_FILES)):
        opening = inbox.read(LENGTH.size)
        if len(opening) < LENGTH.size:
            return
        header = json.loads(inbox.read(LENGTH.unpack(opening)[0]))
        given = [inbox.read(length) for length in header.pop("blobs")]
        if _answer(header, given, outbox, megabytes, last=not left):
            return


def _confine(scratch: Path) -> None:
    confine(scratch, (each.entry_point.value for each in find_plugins(PARSERS)), program_folders())
    if confinement().system_calls:
        start_programs_elsewhere()
        forbid_programs()


def _answer(header: dict[str, Any], given: list[bytes], outbox: BinaryIO, megabytes: int, *, last: bool) -> bool:
    """Read one file and reply; return whether it was the last: this process may have become too large for another."""

    def send(header: dict[str, Any], *blobs: bytes) -> None:
        for part in write_frame(header, *blobs):
            outbox.write(part)
        outbox.flush()

    def refuse(error: CitewellError) -> Frame:
        return {"error": [error.code, error.message, error.advice]}, []

    task = TASKS[header.pop("task")]
    with _cpu_seconds(header.pop("seconds")):
        try:
            reply, blobs = task(header, given, send)
        except CitewellError as error:
            reply, blobs = refuse(error)
        except MemoryError:
            reply, blobs = refuse(
                DocumentTooExpensive(
                    f"Reading it takes more than {megabytes:,} MB of memory.",
                    suggestion="Split the file.",
                )
            )
        except Exception as error:  # noqa: BLE001 - a parser may fail in any way, and the file is all it may fail
            reply, blobs = refuse(
                UnreadableDocument(
                    f"The file can't be read by a fault of Citewell (version {_release()}), not of the file:"
                    f" its parser failed with {type(error).__name__}.",
                    suggestion="Please report it, with the file if you may; else with its format, the program that"
                    " made it, and this message.",
                )
            )
    last = last or _megabytes() > megabytes / 2
    try:
        send({**reply, "last": last}, *blobs)
    except (ValueError, RecursionError):  # metadata that JSON can't hold, such as an integer of 5,000 digits
        send({**refuse(InvalidRequest("metadata: must be a JSON object."))[0], "last": last})
    return last


def _release() -> str:
    try:
        return version("citewell")
    except PackageNotFoundError:
        return "unknown"


@contextmanager
def _cpu_seconds(seconds: float) -> Iterator[None]:
    """Be ended by the system after some CPU time. The parent looks at the clock, by which others hold up a file too."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + seconds))
    yield
    _limit(resource.RLIMIT_CPU, resource.RLIM_INFINITY)


def _limit(what: int, amount: int, *, for_good: bool = False) -> None:
    """Lower a limit, the soft one alone unless it is for good. Best effort: macOS has some limits only by name."""
    hard = resource.getrlimit(what)[1]
    limit = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
    try:
        resource.setrlimit(what, (limit, limit if for_good else hard))
    except (OSError, ValueError):
        return


@cache
def _memory_file() -> BinaryIO | None:
    """Open what the system says of the memory of this process; None where it says nothing."""
    try:
        return open("/proc/self/statm", "rb", buffering=0)
    except OSError:
        return None


def _megabytes() -> float:
    """Return the memory that this process keeps; where the system does not say, the most that it had."""
    if (memory := _memory_file()) is not None:
        return int(os.pread(memory.fileno(), 100, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # without Linux, whose count has the parent's memory too
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024
