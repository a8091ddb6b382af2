"""A process beside one that reads files: it starts the two programs that parsers run, since the other may start none.

A parser that a file has taken over can have it convert and recognise bytes, and may write where the programs do.
"""

import json
import os
import re
import signal
import struct
from typing import Any, BinaryIO

from tools.confinement.kernel import end_with_parent
from tools.parsers.programs import ProgramFailed, libreoffice, run_program, run_programs_by, tesseract

_PLAIN = re.compile(r"[\w.+-]*")
_MOST_SECONDS = 3600.0  # of a program
_LENGTHS = struct.Struct(">IQ")  # of a header in JSON, and of the bytes of a file after it


def start_programs_elsewhere() -> None:
    """Start such a process, which ends with this one, where the machine has the programs."""
    if not (libreoffice() or tesseract()):
        return
    asked, asks = os.pipe()
    told, tells = os.pipe()
    if os.fork() == 0:
        try:
            end_with_parent(signal.SIGKILL)
            os.dup2(asked, 0)
            os.dup2(tells, 1)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # the pipes to the process that serves are not for programs
            _serve(os.fdopen(0, "rb", closefd=False), os.fdopen(1, "wb", closefd=False))
        finally:
            os._exit(0)  # whatever happened: the rest of the program is the other process's
    os.close(asked)
    os.close(tells)
    asking, answers = os.fdopen(asks, "wb"), os.fdopen(told, "rb")

    def ask(name: str, data: bytes, seconds: float, *arguments: str) -> bytes:
        _send(asking, [name, seconds, *arguments], data)
        is_late, made = _received(answers)
        if is_late is not None:
            raise ProgramFailed(is_late)
        return made

    run_programs_by(ask)


def _serve(asked: BinaryIO, tells: BinaryIO) -> None:
    """Do what is asked until nobody can ask any more."""
    while True:
        try:
            (name, seconds, *arguments), data = _received(asked)
            if not all(_PLAIN.fullmatch(each) for each in arguments):  # a suffix names a file
                raise ProgramFailed(is_late=False)
            _send(tells, None, run_program(name, data, min(seconds, _MOST_SECONDS), *arguments))
        except ProgramFailed as error:
            _send(tells, error.is_late, b"")
        except EOFError:
            return


def _send(outbox: BinaryIO, header: object, data: bytes) -> None:
    encoded = json.dumps(header).encode()
    outbox.write(_LENGTHS.pack(len(encoded), len(data)) + encoded)
    outbox.write(data)
    outbox.flush()


def _received(inbox: BinaryIO) -> tuple[Any, bytes]:
    lengths = inbox.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        raise EOFError
    header, data = _LENGTHS.unpack(lengths)
    return json.loads(inbox.read(header)), inbox.read(data)
