"""Regular expressions that are compiled when they are first used.

Python compiles them in Python: one with the ranges of several scripts takes milliseconds, all of ours half a second. A
command tries few of them, and a server needs none until it is asked something.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Protocol


class _Finds(Protocol):
    def __call__(self, string: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None: ...


class _FindsAll(Protocol):
    def __call__(self, string: str, pos: int = 0, endpos: int = sys.maxsize) -> Iterator[re.Match[str]]: ...


class _ListsAll(Protocol):
    def __call__(self, string: str, pos: int = 0, endpos: int = sys.maxsize) -> list[Any]: ...


class _Replaces(Protocol):
    def __call__(self, repl: str | Callable[[re.Match[str]], str], string: str, count: int = 0) -> str: ...


class _Counts(Protocol):
    def __call__(self, repl: str | Callable[[re.Match[str]], str], string: str, count: int = 0) -> tuple[str, int]: ...


class LatePattern:
    """A pattern with the methods of ``re.Pattern``, which cost what its own do from their first use on."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern as ``re`` has it."""
        return re.compile(self.pattern, self.flags)

    @cached_property
    def search(self) -> _Finds:
        return self.compiled.search

    @cached_property
    def match(self) -> _Finds:
        return self.compiled.match

    @cached_property
    def fullmatch(self) -> _Finds:
        return self.compiled.fullmatch

    @cached_property
    def finditer(self) -> _FindsAll:
        return self.compiled.finditer

    @cached_property
    def findall(self) -> _ListsAll:
        return self.compiled.findall

    @cached_property
    def sub(self) -> _Replaces:
        return self.compiled.sub

    @cached_property
    def subn(self) -> _Counts:
        return self.compiled.subn
