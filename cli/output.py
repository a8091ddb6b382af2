"""Where a command's words go: results on stdout, progress on stderr, each in a form that fits who reads it."""

import json
import sys
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 100


def result_console() -> "Console":
    """Make the console for results: stdout, in colour only on a terminal."""
    return _console(stderr=False)


def progress_console() -> "Console":
    """Make the console for progress and errors: stderr."""
    return _console(stderr=True)


def print_json(document: Any) -> None:
    """Print one JSON document on stdout, readable and in UTF-8."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2, default=plain) + "\n")
    sys.stdout.flush()


def plain(value: Any) -> Any:
    """Lay out what JSON has no form for: dataclasses as objects, times in ISO 8601, ids as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def _console(*, stderr: bool) -> "Console":
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False, emoji=False, markup=False)
    if console.width > WIDEST:
        console.width = WIDEST
    return console
