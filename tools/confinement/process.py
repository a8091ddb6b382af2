"""Confine a process that reads foreign files: it reaches neither files nor other processes any more."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.confinement.code_folders import SYSTEM, code_folders
from tools.confinement.kernel import hide_memory, refuse_new_privileges
from tools.confinement.landlock import landlock_version, restrict_files
from tools.confinement.seccomp import forbid_calls
from tools.confinement.users import leave_root


@dataclass(frozen=True, slots=True)
class Confinement:
    """What holds in a process: the version of Landlock (0 without), and the user that it runs as."""

    landlock: int
    system_calls: bool
    privileges: bool
    memory: bool
    user: int


_holding = Confinement(landlock=0, system_calls=False, privileges=False, memory=False, user=os.geteuid())


def confinement() -> Confinement:
    """Return what holds in this process."""
    return _holding


def confine(scratch: Path, plugins: Iterable[str], programs: Iterable[Path]) -> None:
    """Confine this process for good: it reads code and fonts, and writes below ``scratch`` alone.

    ``plugins`` are modules that it may still import, ``programs`` what the programs that it may start read. It must not
    have started a thread: Landlock would not hold there.
    """
    global _holding
    code = list(code_folders(plugins))
    loaded = [Path(path) for module in list(sys.modules.values()) if (path := getattr(module, "__file__", None))]
    needed = filter(os.path.exists, [*code, *loaded])
    user = leave_root(scratch, list(needed), files_are_restricted=landlock_version() > 0)
    privileges, memory = refuse_new_privileges(), hide_memory()
    landlock = restrict_files([*SYSTEM, *code, *programs], map(Path, sys.path), [scratch, Path("/dev/null")])
    _holding = Confinement(landlock, privileges and forbid_calls(), privileges, memory, user)
