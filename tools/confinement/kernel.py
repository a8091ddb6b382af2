"""The calls of Linux that confine a process, by number: Python has no function for them."""

import ctypes
import os
import platform
import sys

MACHINE = platform.machine()
_PARENT_DEATH, _DUMPABLE, _KEEP_CAPABILITIES, _NO_NEW_PRIVILEGES = 1, 4, 8, 38  # prctl
_CAPABILITY_VERSION = 0x20080522
READ_ANYTHING = 1 << 2  # the capability CAP_DAC_READ_SEARCH


def libc() -> ctypes.CDLL:
    """Return the C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def system_call(number: int, *arguments: object) -> int:
    """Make a system call and return its result. Raises OSError."""
    result = int(libc().syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _set(option: int, value: int) -> bool:
    return sys.platform == "linux" and bool(libc().prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))) == 0)


def hide_memory() -> bool:
    """Keep memory and environment of this process from others of the same user; root may look all the same.

    A debugger of that user is refused too, and a crash leaves no core. Returns whether it could be done.
    """
    return _set(_DUMPABLE, 0)


def refuse_new_privileges() -> bool:
    """Let no program that this process starts gain rights, by setuid or otherwise; whether it could be done."""
    return _set(_NO_NEW_PRIVILEGES, 1)


def end_with_parent(signal: int) -> None:
    """Have this process get a signal when its parent has ended."""
    _set(_PARENT_DEATH, signal)


def keep_capabilities() -> None:
    """Let the capabilities of root outlast its becoming another user."""
    _set(_KEEP_CAPABILITIES, 1)


def limit_capabilities(kept: int) -> None:
    """Give up every capability of root for good but those of a bit mask, of the first 32."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    libc().capset(header, (ctypes.c_uint32 * 6)(kept, kept))
