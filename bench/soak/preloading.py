"""A slow disk and a stepped clock, injected into single processes by a preloaded library.

The machine's own clock and disk stay as they are. The library is compiled from ``injected.c`` when the soak begins.
"""

import mmap
import shutil
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).with_name("injected.c")
_LAYOUT = struct.Struct("@qq")  # nanoseconds of the clock, microseconds before a file is synced


def compile_library(folder: Path) -> Path | None:
    """Compile the library into a folder; None where this machine has no C compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "injected.so"
    command = [compiler, "-O2", "-fPIC", "-shared", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    library.chmod(0o755)
    return library


@dataclass(slots=True)
class Injection:
    """What one process is made to believe of its clock, and to wait for its disk. Without a library it does nothing."""

    library: Path | None
    control: Path
    _shared: mmap.mmap | None = field(default=None, init=False)
    _clock_seconds: float = field(default=0.0, init=False)
    _sync_seconds: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        """Create the file that the process maps."""
        if self.library is None:
            return
        self.control.write_bytes(bytes(_LAYOUT.size))
        self.control.chmod(0o644)
        with self.control.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _LAYOUT.size)

    def environment(self) -> dict[str, str]:
        """Return what the process needs in its environment."""
        return {} if self.library is None else {"LD_PRELOAD": str(self.library), "SOAK_INJECTED": str(self.control)}

    def step_clock(self, seconds: float) -> None:
        """Set the process's wall clock so far off the machine's, at once."""
        self._clock_seconds = seconds
        self._write()

    def slow_disk(self, seconds: float) -> None:
        """Let each sync of a file take this much longer."""
        self._sync_seconds = seconds
        self._write()

    def _write(self) -> None:
        if self._shared is not None:
            self._shared[:] = _LAYOUT.pack(int(self._clock_seconds * 1e9), int(self._sync_seconds * 1e6))
