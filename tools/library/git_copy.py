"""A copy of a repository on disk: its objects and the names of its commits, and nothing that leads elsewhere.

git goes where a repository sends it: by a ``.git`` file, ``commondir``, alternates, indexes that name packs, symbolic
links, and what its configuration includes or runs. Whoever may write below a root could send it out of there, also
between a check and git's own look. So git never opens such a repository: the files that hold objects and refs are
copied, each through folders that are opened one by one without following a link, and git reads the copy. What is not
covered are hard links and mounts, which are files of the root.
"""

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

from graph.errors import DependencyFailed, DiskLow, InvalidRequest

CHUNK_BYTES = 8_000_000
_FOLDER = re.compile(r"objects/(?:[0-9a-f]{2}|pack)")
_OBJECTS = re.compile(r"objects/(?:[0-9a-f]{2}/[0-9a-f]{38}|pack/pack-[0-9a-f]{40}\.(?:pack|idx))")
_FOLLOWING_NOTHING = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_ADVICE = "Name a repository that is whole, or use `citewell sync`, which reads whatever its user may."


def copy_repository(repository: Path, root: Path, to: Path, *, reserve: int) -> Iterator[None]:
    """Copy a repository that is below ``root`` to a new folder, a file or 8 MB with each step. Blocks.

    ``reserve`` bytes of the disk stay free. Raises InvalidRequest where a part of it is elsewhere, DependencyFailed
    where there is none or it changes meanwhile, and DiskLow.
    """
    try:
        if not repository.is_relative_to(root):
            raise _elsewhere("the location")
        for folder in ("objects", "refs"):  # without which it is no repository
            (to / folder).mkdir(parents=True)
        with _opened(os.open(root, os.O_RDONLY), repository.relative_to(root)) as place:
            inner = ".git" if ".git" in os.listdir(place) else "."
            with _opened(os.dup(place), inner) as git:
                _refuse_alternates(git)
                if "reftable" in os.listdir(git):
                    raise InvalidRequest(
                        "location: keeps its refs as a reftable, which is not read.", suggestion=_ADVICE
                    )
                for path in _paths(git):
                    if path is None:
                        yield
                    else:
                        yield from _copied(git, path, to / path, reserve)
    except FileNotFoundError as error:
        raise DependencyFailed(
            "There is no repository, or it changed while it was read.",
            suggestion="Check the location, with `.git` at its end where it has that, and sync again.",
        ) from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise _elsewhere(str(error.filename)) from error
        raise DependencyFailed(f"The repository cannot be copied: {error.strerror}.") from error


def _elsewhere(what: str) -> InvalidRequest:
    return InvalidRequest(
        f"location: {what} leads out of the repository, which is read below CITEWELL_SOURCE_ROOTS alone.",
        suggestion=_ADVICE,
    )


def _refuse_alternates(git: int) -> None:
    with suppress(FileNotFoundError), _opened(os.dup(git), "objects/info") as info:
        if os.stat("alternates", dir_fd=info, follow_symlinks=False).st_size:
            raise _elsewhere("objects/info/alternates")


@contextmanager
def _opened(folder: int, path: str | PurePath) -> Iterator[int]:
    """Open a folder below an open one, which is closed; no part of its path may be a link."""
    try:
        for part in PurePath(path).parts:
            below = os.open(part, _FOLLOWING_NOTHING | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _paths(git: int) -> Iterator[str | None]:
    """Yield the files to copy, of two that git moves between the source first, and None for each folder of refs."""
    yield "HEAD"
    folders = ["refs"]
    while folders:
        yield None
        for path, is_folder in _listed(git, folders.pop()):
            if is_folder:
                folders.append(path)
            else:
                yield path
    yield from sorted({"packed-refs", "shallow"}.intersection(os.listdir(git)))
    for folder, _ in _listed(git, "objects"):  # loose objects first: "pack" is the last name
        if _FOLDER.fullmatch(folder):
            yield from (path for path, _ in _listed(git, folder) if _OBJECTS.fullmatch(path))


def _listed(git: int, folder: str) -> list[tuple[str, bool]]:
    """List the paths in a folder in order, and whether each is a folder."""
    with _opened(os.dup(git), folder) as opened, os.scandir(opened) as entries:
        return sorted((f"{folder}/{entry.name}", entry.is_dir(follow_symlinks=False)) for entry in entries)


def _copied(git: int, path: str, to: Path, reserve: int) -> Iterator[None]:
    folder, name = os.path.split(path)
    to.parent.mkdir(parents=True, exist_ok=True)
    with _opened(os.dup(git), folder) as opened:
        descriptor = os.open(name, _FOLLOWING_NOTHING | os.O_NONBLOCK, dir_fd=opened)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _elsewhere(path)
        left = status.st_size
        if left > shutil.disk_usage(to.parent).free - reserve:
            raise DiskLow("The disk of the data folder has no room for a copy of the repository.")
        with to.open("xb") as copy:
            while data := os.read(descriptor, min(left, CHUNK_BYTES)):
                copy.write(data)
                left -= len(data)
                if left:
                    yield
    finally:
        os.close(descriptor)
    yield
