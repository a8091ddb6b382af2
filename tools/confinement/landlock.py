"""Landlock: which files a process may open from now on, and that it reaches no other process."""

import ctypes
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from tools.confinement.kernel import system_call

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # on every architecture
_RIGHTS = (0, 13, 14, 15, 15, 16)  # to files that each version knows, as bits; later versions know no more of ours
_PORTS, _PORTS_SINCE = 0b11, 4
_SCOPES, _SCOPES_SINCE = 0b11, 6  # abstract sockets, signals
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1, 2, 4, 8
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("ports", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has, 0 without."""
    try:
        return system_call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def restrict_files(readable: Iterable[Path], listed: Iterable[Path], writable: Iterable[Path]) -> int:
    """Let this thread open what is below ``readable``, names below ``listed``, and change ``writable`` alone.

    No privileges must be new (``refuse_new_privileges``). Paths that are not there are left out. Returns the version of
    Landlock, 0 where nothing is restricted.
    """
    version = landlock_version()
    if not version:
        return 0
    handled = (1 << _RIGHTS[min(version, len(_RIGHTS) - 1)]) - 1
    rules = _Ruleset(handled, _PORTS if version >= _PORTS_SINCE else 0, _SCOPES if version >= _SCOPES_SINCE else 0)
    size = ctypes.sizeof(rules) if version >= _SCOPES_SINCE else 16 if version >= _PORTS_SINCE else 8
    ruleset = system_call(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for paths, rights in (
            (readable, _READ_FILE | _READ_FOLDER | _EXECUTE),
            (listed, _READ_FOLDER),
            (writable, handled),
        ):
            for path in paths:
                _allow(ruleset, path, rights & handled)
        system_call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return version


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _OF_FILES
        if rights:
            rule = _Beneath(rights, opened)
            system_call(_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(opened)
