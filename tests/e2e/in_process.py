"""Commands in the process of the tests: what ``citewell`` runs, without a start.

The command has its own arguments, folder, environment and streams, and what it changes of the process is put back.
Its files are read in a thread: ``tests/contract/test_sandbox.py`` shows the processes that read files, each of which
takes 0.3 s of CPU to start, and so do the tests whose command is a process.
"""

import gc
import io
import logging
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

import typer.main

from cli.main import main
from tools.process import library  # noqa: F401 - so that it has the sandbox itself, whatever takes its place below
from tools.settings import JobSettings

# The description of some fifty commands is the same for each of them, and takes half of a short one.
typer.main.get_command = cache(typer.main.get_command)


def run_command(
    arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], piped: str
) -> tuple[int, str, str]:
    """Run ``citewell`` to its end; return its exit code and its stdout and stderr."""
    given, out, err = (io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (piped.encode(), b"", b""))
    with ExitStack() as stack:
        for changed in (
            patch.multiple(sys, argv=["citewell", *arguments], stdin=given, stdout=out, stderr=err),
            patch.dict(os.environ, environment, clear=True),
            patch("tools.library.sandbox.opened_sandbox", _no_sandbox),
            _within(folder),
            _own_logging(),
            _own_thresholds(),
        ):
            stack.enter_context(changed)
        try:
            main()
        except SystemExit as end:
            code = end.code
    return _number(code), _text(out), _text(err)


@asynccontextmanager
async def _no_sandbox(settings: JobSettings, size: int, **_: int) -> AsyncIterator[None]:
    yield None


def _number(code: object) -> int:
    assert code is None or isinstance(code, int)
    return int(code or 0)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode().replace("\r\n", "\n")  # as pipes are read


@contextmanager
def _within(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _own_logging() -> Iterator[None]:
    """Let the command configure logging as a process does that has not logged yet."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    root.handlers = []
    try:
        yield
    finally:
        root.handlers = handlers
        root.setLevel(level)


@contextmanager
def _own_thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    try:
        yield
    finally:
        gc.set_threshold(*before)
