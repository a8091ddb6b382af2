"""Where the code of this process is: what it may still have to read to import."""

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.machinery import all_suffixes
from importlib.util import find_spec
from pathlib import Path

# Shared libraries, fonts, and what the C library and Python look up. Folders of links need no right of their own.
SYSTEM = tuple(
    map(
        Path,
        (
            *("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/usr/share", "/usr/local/share/fonts"),
            *("/lib", "/lib64", "/nix/store", "/etc/fonts", "/var/cache/fontconfig", "/etc/ld.so.cache"),
            *("/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types"),
            *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"),
        ),
    )
)
_OF_CODE = ("site-packages", "dist-packages", "lib-dynload")
_OF_MODULES = (*all_suffixes(), ".dist-info", ".egg-info", ".pth")


def code_folders(plugins: Iterable[str]) -> Iterator[Path]:
    """Yield what holds code and nothing else, among it the top packages of the named modules.

    A folder of packages is yielded whole; of any other on the path, such as a clone with its ``.env``, what can be
    imported from it.
    """
    standard = {Path(path) for path in sysconfig.get_paths().values()}
    yield Path(sysconfig.get_config_var("LIBDIR") or sys.base_prefix)
    yield from map(Path, filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")))
    for folder in map(Path, sys.path):
        if folder in standard or folder.name in _OF_CODE or not os.path.isdir(folder):
            yield folder
            if os.path.isdir(folder):
                yield from _linked(folder)
            continue
        with suppress(PermissionError):
            yield from (each for each in folder.iterdir() if _is_importable(each))
    for name in plugins:  # which an editable installation may find elsewhere
        spec = find_spec(name.partition(".")[0])
        if spec is not None:
            yield from map(Path, spec.submodule_search_locations or filter(None, (spec.origin,)))


def _linked(folder: Path) -> Iterator[Path]:
    """Yield where the packages of a folder really are, as far as an installer has linked their files."""
    for each in folder.iterdir():
        if each.is_symlink():
            yield each.resolve()
        elif each.is_dir():
            link = next((file for file in each.iterdir() if file.is_symlink()), None)
            if link is not None:
                yield link.resolve().parent


def _is_importable(path: Path) -> bool:
    return path.name.endswith(_OF_MODULES) or os.path.exists(path / "__init__.py")  # False too where it is private
