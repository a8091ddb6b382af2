"""A disk of its own for the database, small enough to be filled."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import which

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SmallDisk:
    """A folder, and what it is: ``kind`` is "ext4", "tmpfs" or "folder"; a plain folder is never filled."""

    folder: Path
    kind: str

    @property
    def can_be_filled(self) -> bool:
        """Whether filling it harms nobody else."""
        return self.kind != "folder"

    def fill(self) -> None:
        """Take every free byte."""
        with (self.folder / "filler").open("wb") as filler:
            free = os.statvfs(self.folder)
            size, place = free.f_bfree * free.f_frsize, 0
            step = max(MEGABYTE, size // 64)
            while step >= 4096:
                try:
                    os.posix_fallocate(filler.fileno(), place, step)
                    place += step
                except OSError:
                    step //= 2

    def free(self) -> None:
        """Give the bytes back."""
        (self.folder / "filler").unlink(missing_ok=True)

    def used_megabytes(self) -> float:
        """Return how much of it is in use."""
        state = os.statvfs(self.folder)
        return (state.f_blocks - state.f_bfree) * state.f_frsize / MEGABYTE if self.can_be_filled else 0.0


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Mount an ext4 file system in a file, or else a tmpfs; a plain folder where neither may be mounted."""
    mount = folder / "disk"
    mount.mkdir()
    kind = _mount(folder / "disk.image", mount, megabytes) if os.geteuid() == 0 else "folder"
    try:
        mount.chmod(0o711)
        yield SmallDisk(mount, kind)
    finally:
        if kind != "folder":
            subprocess.run(["umount", "--lazy", str(mount)], check=True)


def _mount(image: Path, mount: Path, megabytes: int) -> str:
    with image.open("wb") as file:
        file.truncate(megabytes * MEGABYTE)
    made = which("mkfs.ext4") and _succeeds("mkfs.ext4", "-q", "-m", "0", "-F", str(image))
    if made and _succeeds("mount", "-o", "loop", str(image), str(mount)):
        return "ext4"
    if _succeeds("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(mount)):
        return "tmpfs"
    return "folder"


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0
