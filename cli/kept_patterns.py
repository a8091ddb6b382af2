"""Regular expressions of modules, kept compiled beside the byte code as Python keeps the modules themselves.

Python compiles a regular expression anew in every process, in Python: six hundred of them are a tenth of the CPU of a
question on the command line. What they compile to is numbers, which ``_sre`` checks before it takes them. They are kept
in ``__pycache__``, and where that can't be written, or byte code is not to be, they are compiled as ever.

Only what is known before any input is kept: the expressions that a module compiles as it is imported, and those that
``OF_DATA`` make of their data files. Those made of a question or a document are not, for they hold its words.
"""

import _sre  # type: ignore[import-not-found]
import marshal
import os
import re
import re._compiler as compiler  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import sys
from array import array
from collections.abc import Callable
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from types import FrameType
from typing import Any

OF_DATA = frozenset(
    {
        "text.denials",
        "tools.extractive.asked_kinds",
        "tools.rules.library_questions",
        "tools.rules.small_talk_rules",
    }
)
MOST = 5_000  # a store that several releases have filled is begun anew
_RELEASE = f"{sys.version} {_sre.MAGIC} {_sre.CODESIZE}"

Key = tuple[str, int]
Compiled = tuple[int, bytes, int, dict[str, int]]  # flags, code, groups, numbers of the named groups


class KeptPatterns:
    """What patterns compile to, read from a file and written to it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._compile: Callable[[Any, int], re.Pattern[Any]] = compiler.compile
        self._new = False
        self._kept: dict[Key, Compiled] = {}
        with suppress(OSError, ValueError, EOFError, TypeError):
            release, kept = marshal.loads(file.read_bytes())
            if release == _RELEASE and isinstance(kept, dict) and len(kept) <= MOST:
                self._kept = kept

    def use(self) -> None:
        """Compile by what is kept, in this process, from now on."""
        compiler.compile = self.compile

    def compile(self, pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        """Do as ``re._compiler.compile`` does, which ``re`` calls for what its own cache does not hold."""
        if not isinstance(pattern, str) or flags & compiler.SRE_FLAG_DEBUG:
            return self._compile(pattern, flags)
        key = (pattern, int(flags))
        if (found := self._kept.get(key)) is not None:
            with suppress(RuntimeError, TypeError, ValueError, OverflowError):  # a file that is not what was written
                return _restored(pattern, found)
        if not _is_known_before_input(sys._getframe(1)):
            return self._compile(pattern, flags)
        parsed = parser.parse(pattern, flags)
        code = array("I", compiler._code(parsed, flags)).tobytes()
        state = parsed.state
        self._kept[key] = (int(flags | state.flags), code, state.groups - 1, dict(state.groupdict))
        self._new = True
        return _restored(pattern, self._kept[key])

    def save(self) -> None:
        """Write what was compiled, if anything was; a folder that can't be written to is left as it is."""
        if not self._new or sys.dont_write_bytecode:
            return
        written = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        with suppress(OSError):
            self._file.parent.mkdir(exist_ok=True)
            written.write_bytes(marshal.dumps((_RELEASE, self._kept)))
            written.replace(self._file)


def _restored(pattern: str, compiled: Compiled) -> re.Pattern[str]:
    flags, code, groups, named = compiled
    names = {number: name for name, number in named.items()}
    indices = tuple(names.get(number) for number in range(groups + 1))
    restored: re.Pattern[str] = _sre.compile(pattern, flags, array("I", code).tolist(), groups, named, indices)
    return restored


def _is_known_before_input(frame: FrameType | None) -> bool:
    """Whether a module's own code compiles a pattern, or a function of ``OF_DATA``."""
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if module in OF_DATA:
            return True
        if module != "re" and frame.f_code.co_name not in ("<listcomp>", "<dictcomp>", "<genexpr>"):
            return frame.f_code.co_name == "<module>"
        frame = frame.f_back
    return False


def keep_patterns() -> Callable[[], None]:
    """Use the patterns that are kept beside this module's byte code; return what saves the new ones."""
    kept = KeptPatterns(Path(cache_from_source(__file__)).with_suffix(".patterns"))
    kept.use()
    return kept.save
