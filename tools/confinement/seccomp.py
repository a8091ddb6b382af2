"""seccomp: the system calls that a process may make no more, on x86-64 and ARM of 64 bits.

A filter is a program of the kernel's packet filter (BPF) that runs before each call. What it refuses fails as if it
were not permitted; whatever is newer than this file does not exist.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Iterator

from tools.confinement.kernel import MACHINE, system_call

_ARCHITECTURES = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}  # column below, audit's, seccomp's
_NEWEST = 462  # of the calls that are known here
_LOAD, _RETURN, _IF_EQUAL, _IF_ABOVE, _IF_BIT = 0x20, 0x06, 0x15, 0x25, 0x45
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16  # offsets into what a filter is told of a call
_CLONE_THREAD = 0x10000

# Each with its numbers on x86-64 and on ARM, "-" where it has none.
_NEVER = """
connect 42 203, accept 43 202, accept4 288 242, sendto 44 206, sendmsg 46 211, sendmmsg 307 269, socketpair 53 199,
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, process_madvise 440 440,
process_mrelease 448 448, pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424, rt_sigqueueinfo 129 138,
tkill 200 130, rt_tgsigqueueinfo 297 240, setpgid 109 154, setsid 112 157, setpriority 141 140, ioprio_set 251 30,
sched_setparam 142 118, sched_setscheduler 144 119, sched_setattr 314 274, sched_setaffinity 203 122,
migrate_pages 256 238, move_pages 279 239,
shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, semctl 66 191, semop 65 193, semtimedop 220 192,
msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, mq_open 240 180, mq_unlink 241 181,
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54,
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, truncate 76 45, mknod 133 -, mknodat 259 33,
io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, bpf 321 280, perf_event_open 298 241,
userfaultfd 323 282, keyctl 250 219, add_key 248 217, request_key 249 218, fanotify_init 300 262,
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, unshare 272 97, setns 308 268, open_tree 428 428,
move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442,
open_by_handle_at 304 265, name_to_handle_at 303 264, init_module 175 105, finit_module 313 273, delete_module 176 106,
kexec_load 246 104, kexec_file_load 320 294, reboot 169 142, swapon 167 224, swapoff 168 225, acct 163 89,
quotactl 179 60, settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266,
sethostname 170 161, setdomainname 171 162, iopl 172 -, ioperm 173 -, modify_ldt 154 -, syslog 103 116
"""
_PROGRAMS = "execve 59 221, execveat 322 281, fork 57 -, vfork 58 -"
_CLONE, _CLONE3 = "clone 56 220", "clone3 435 435"
_SOCKET, _LISTEN, _LOCAL = "socket 41 198", "bind 49 200, listen 50 201", 1
_KILLS, _LIMITS = "kill 62 129, tgkill 234 131", "prlimit64 302 261"

_Step = tuple[int, int, int, int]  # operation, steps to skip if true, if false, value


def forbid_calls() -> bool:
    """Forbid this process and whatever it starts sockets, tracing, changes of rights, and what only root may do.

    LibreOffice reads no file unless it listens on a local socket, so it is made to believe that it does. No privileges
    must be new (``refuse_new_privileges``). Returns whether it could be done.
    """
    return _install(
        _refuse(_NEVER),
        _refuse(_SOCKET, unless=(_IF_EQUAL, _LOCAL)),
        _refuse(_LISTEN, error=0),
        _refuse(_LIMITS, unless=(_IF_EQUAL, 0)),  # those of itself
    )


def forbid_programs() -> bool:
    """Forbid this process also to start another one or to signal one, and any socket; whether it could be done."""
    return _install(
        _refuse(f"{_PROGRAMS}, {_SOCKET}, {_LISTEN}"),
        _refuse(_KILLS, unless=(_IF_EQUAL, os.getpid())),
        _refuse(_CLONE, unless=(_IF_BIT, _CLONE_THREAD)),
        _refuse(_CLONE3, errno.ENOSYS),  # whose flags a filter can't see; the C library falls back on ``clone``
    )


def _refuse(
    calls: str, error: int = errno.EPERM, unless: tuple[int, int] | None = None
) -> Iterator[tuple[str, list[_Step]]]:
    """Yield each call with the steps that refuse it, unless a test of its first argument holds."""
    steps = [(_RETURN, 0, 0, _ERROR | error)]
    if unless is not None:
        steps = [(_LOAD, 0, 0, _ARGUMENT), (unless[0], 1, 0, unless[1]), *steps, (_RETURN, 0, 0, _ALLOW)]
    yield from ((each, steps) for each in calls.split(","))


def _install(*rules: Iterable[tuple[str, list[_Step]]]) -> bool:
    if MACHINE not in _ARCHITECTURES:
        return False
    column, architecture, seccomp = _ARCHITECTURES[MACHINE]
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE), (_IF_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER), (_IF_ABOVE, 0, 1, _NEWEST), (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
    ]  # fmt: skip
    for call, refusal in (each for rule in rules for each in rule):
        number = call.split()[1 + column]
        if number != "-":
            steps += [(_IF_EQUAL, 0, len(refusal), int(number)), *refusal]
    program = b"".join(struct.pack("HBBI", *step) for step in [*steps, (_RETURN, 0, 0, _ALLOW)])
    code = ctypes.create_string_buffer(program)
    packed = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    try:
        # Flag 1: for every thread of the process.
        system_call(seccomp, ctypes.c_uint(1), ctypes.c_uint(1), ctypes.create_string_buffer(packed))
    except OSError:
        return False
    return True
