"""Values of structured files as rows that name their path, such as ``server.port: 8080``.

Values of the top level come first, then a section for each other member of it. A row hangs on the value that names what
it belongs to, such as ``users[0].name: Ada``. A long value is a term, its path, with paragraphs below it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CanonicalText, Parsed, paragraphs, storable

MOST_DEPTH = 100
_MOST_VALUES = 200_000
_MOST_CHARACTERS = 20_000_000
_LONG = 300  # characters
_NAMES = ("name", "title", "id", "key", "label", "slug", "code")
_PLAIN_KEY = re.compile(r"[^\s.\[\]\"':]+")

Path = tuple[str | int, ...]


class Members(list[tuple[str, Any]]):
    """The members of an object, in order; a name may stand twice."""

    __slots__ = ()

    def get(self, name: str) -> Any:
        """Return the last value of a name, as most readers do, or None."""
        return next((value for member, value in reversed(self) if member == name), None)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value that holds no others, as it is written, with the ``comment`` of the file above or beside it."""

    text: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value at a path of names and positions."""

    path: Path
    value: str
    comment: str


def too_deep(format_name: str) -> UnreadableDocument:
    """Return the error of values that nest too deeply."""
    return UnreadableDocument(f"The {format_name} is nested too deeply: more than {MOST_DEPTH} levels.")


def written(root: Any, format_name: str, *, closing: str = "") -> Parsed:
    """Write the values within ``Members`` and lists, each a ``Scalar``, text, bool or None.

    ``closing`` is a comment after all of them.
    Raises UnreadableDocument if they nest too deeply, are too many, or too long with their paths.
    """
    top: list[Leaf] = []
    sections: dict[str | int, list[Leaf]] = {}
    for count, leaf in enumerate(_leaves(root, format_name), start=1):
        if count > _MOST_VALUES:
            raise _too_large(f"it holds more than {_MOST_VALUES:,} values")
        if len(leaf.path) > 1 and isinstance(leaf.path[0], str):
            sections.setdefault(leaf.path[0], []).append(leaf)
        else:
            top.append(leaf)
    writer = _Writer()
    writer.write(top)
    writer.text.add("paragraph", closing)  # before the sections, as it belongs to none
    for name, inside in sections.items():
        writer.text.add_heading(1, str(name))
        writer.write(inside)
    title = next((leaf.value for wanted in ("title", "name") for leaf in top if leaf.path == (wanted,)), "")
    title = " ".join(storable(title).split())[:_LONG]
    parsed = writer.text.parsed(title=title or None)
    return parsed if title else replace(parsed, title=None)  # the name of a section is none


def _leaves(root: Any, format_name: str) -> Iterator[Leaf]:
    """Yield the values that hold no others, in order, without recursion."""
    path: list[str | int] = []
    open_values: list[Iterator[tuple[str | int, Any]]] = [iter([("", root)])]
    while open_values:
        name, value = next(open_values[-1], (None, None))
        if name is None:
            open_values.pop()
            if path:
                path.pop()
            continue
        here: Path = (*path, name) if len(open_values) > 1 else ()
        if isinstance(value, list) and value:
            if len(open_values) > MOST_DEPTH:
                raise too_deep(format_name)
            if here:
                path.append(name)
            open_values.append(iter(value) if isinstance(value, Members) else enumerate(value))
        elif isinstance(value, list):
            yield Leaf(here, "{}" if isinstance(value, Members) else "[]", "")
        else:
            scalar = (
                value if isinstance(value, Scalar) else Scalar(value if isinstance(value, str) else json.dumps(value))
            )
            yield Leaf(here, scalar.text, scalar.comment)


def path_text(path: Path) -> str:
    """Return a path as it is written: names after dots, positions in brackets, and so are names of other signs."""
    parts: list[str] = []
    for part in path:
        if isinstance(part, int):
            parts.append(f"[{part}]")
        elif _PLAIN_KEY.fullmatch(part):
            parts.append(f".{part}" if parts else part)
        else:
            parts.append('["' + part.replace("\\", "\\\\").replace('"', '\\"') + '"]')
    return "".join(parts)


class _Writer:
    """A writer of rows that knows what names the objects around the next one."""

    def __init__(self) -> None:
        self.text = CanonicalText()
        self._named: list[tuple[Path, int | None]] = []  # an open object, and the row that names it
        self._characters = 0

    def write(self, leaves: Iterable[Leaf]) -> None:
        self._named = []
        tight = False
        for leaf in leaves:
            tight = self._write(leaf, tight)

    def _write(self, leaf: Leaf, tight: bool) -> bool:
        """Write a leaf; return whether the next row may follow on the next line."""
        around = leaf.path[:-1]
        while self._named and around[: len(self._named[-1][0])] != self._named[-1][0]:
            self._named.pop()
        above = [index for _, index in self._named]
        path = path_text(leaf.path)
        self._characters += len(path) + len(leaf.value)
        if self._characters > _MOST_CHARACTERS:
            raise _too_large("with the paths of its values it is longer than 20 million characters")
        if leaf.comment:
            above.append(self.text.add("paragraph", leaf.comment))
            tight = False
        if len(leaf.value) > _LONG or "\n" in leaf.value.strip():
            term = self.text.add("term", path, hangs_on=above)
            value = storable(leaf.value)
            for at, block in enumerate(paragraphs(value, 0, len(value), None)):
                self.text.add("paragraph", value[block.start : block.end], tight=not at, hangs_on=(*above, term))
            return False
        row = ": ".join(filter(None, (path, " ".join(leaf.value.split()) or '""')))
        index = self.text.add("table_row", row, tight=tight, hangs_on=above)
        if self._names(leaf):
            self._named.append((around, index))
        return True

    def _names(self, leaf: Leaf) -> bool:
        """Whether a leaf names the object that it belongs to."""
        if len(leaf.path) < 2 or (self._named and self._named[-1][0] == leaf.path[:-1]):
            return False
        in_list = isinstance(leaf.path[-2], int)
        return leaf.path[-1] in _NAMES or (in_list and isinstance(leaf.path[-1], str))


def _too_large(why: str) -> UnreadableDocument:
    return UnreadableDocument(f"The file is too large to be read value by value: {why}.", suggestion="Split it.")
