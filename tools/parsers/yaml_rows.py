"""Parser of YAML: a row for each value with its path, below the comments that stand above or beside it.

Only the events of libyaml are read. So nothing is constructed, values stay as they are written, and no alias is
expanded: ``*name`` is kept as it stands.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import Parsed, storable
from tools.parsers.plain import decode
from tools.parsers.value_rows import MOST_DEPTH, Members, Scalar, too_deep, written

_COMMENT = re.compile(r"[ \t]*#+[ \t]?(.*)")
_BESIDE = re.compile(r"[ \t]*,?[ \t]+#+[ \t]?(\S.*)")
_NO_SCALAR = "?"  # the key that is itself a mapping or a list


def read(data: bytes) -> Parsed:
    """Parse YAML of one or several documents.

    Raises UnreadableDocument if it is broken, nested too deeply, or of too many values.
    """
    text = storable(decode(data)).removeprefix("\ufeff")
    builder = _Builder(text)
    try:
        builder.read(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark else ""
        raise UnreadableDocument(f"The YAML is broken{place}.", suggestion="Mend it, or save it as text.") from error
    documents = builder.documents
    parsed = written(documents[0] if len(documents) == 1 else documents, "YAML", closing=builder.comment())
    if not builder.aliases:
        return parsed
    places = "1 place" if builder.aliases == 1 else f"{builder.aliases} places"
    return replace(parsed, left_out=(f"Aliases were not replaced by what they stand for ({places}).",))


@dataclass(slots=True)
class _Open:
    values: list[Any]
    key: str | None = None


@dataclass(slots=True)
class _Builder:
    """A builder of the values of each document, without recursion."""

    text: str
    documents: list[Any] = field(default_factory=list)
    aliases: int = 0
    _open: list[_Open] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _taken: int = 0  # lines whose comments are taken
    _comments: list[str] = field(default_factory=list)

    def read(self, events: Iterable[Any]) -> None:
        self._lines = re.split(r"\r\n|[\r\n\x85\u2028\u2029]", self.text)  # as YAML counts them
        for event in events:
            if isinstance(event, yaml.CollectionStartEvent):
                self._take_comments(_line(event.start_mark))
                if len(self._open) > MOST_DEPTH:
                    raise too_deep("YAML")
                self._open.append(_Open(Members() if isinstance(event, yaml.MappingStartEvent) else []))
            elif isinstance(event, yaml.CollectionEndEvent):
                self._add(self._open.pop().values)
            elif isinstance(event, yaml.AliasEvent):
                self.aliases += 1
                self._add_scalar(f"*{event.anchor}", event)
            elif isinstance(event, yaml.ScalarEvent):
                self._add_scalar(event.value, event)
        self._take_comments(len(self._lines))

    def comment(self) -> str:
        """Return the comments since the last value, and forget them."""
        said, self._comments = "\n".join(self._comments).strip(), []
        return said

    def _add_scalar(self, value: str, event: Any) -> None:
        self._take_comments(_line(event.start_mark))
        self._taken = max(self._taken, _line(event.end_mark))  # a "#" within a text of several lines is no comment
        around = self._open[-1] if self._open else None
        if around is not None and isinstance(around.values, Members) and around.key is None:
            around.key = value
            return
        end = event.end_mark
        if isinstance(event, yaml.AliasEvent) or event.style not in ("|", ">"):
            beside = _BESIDE.match(self._lines[end.line], end.column) if end.line < len(self._lines) else None
            if beside:
                self._comments.append(beside[1].strip())
        is_empty = isinstance(event, yaml.ScalarEvent) and not value and not event.style
        self._add(Scalar("null" if is_empty else value, self.comment()))

    def _add(self, value: Any) -> None:
        if not self._open:
            self.documents.append(value)
            return
        around = self._open[-1]
        if not isinstance(around.values, Members):
            around.values.append(value)
        elif around.key is None:
            around.key = _NO_SCALAR
        else:
            around.values.append((around.key, value))
            around.key = None

    def _take_comments(self, line: int) -> None:
        """Take the lines of comments before a line."""
        for at in range(self._taken, min(line, len(self._lines))):
            found = _COMMENT.fullmatch(self._lines[at])
            if found:
                self._comments.append(found[1].rstrip())
        self._taken = max(self._taken, line)


def _line(mark: Any) -> int:
    return int(mark.line)
