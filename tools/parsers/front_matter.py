"""Front matter of Markdown as JSON values: YAML between two lines of dashes, or TOML between two of plus signs.

People write ``title: Care: of boats`` and ``created: {{date}}``, which is no YAML: such a value is taken as it stands.
"""

import math
import re
import tomllib
from collections.abc import Callable
from datetime import date
from typing import Any

import yaml

_MOST_CHARACTERS = 100_000
_MOST_VALUES = 10_000
_FRONT = re.compile(r"\s*^(-{3,}|\+\+\+)[ \t]*\r?\n(.*?)^\1[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"^[\"']?(\w[\w .@/-]{0,99}?)[\"']?[ \t]*[:=](?=\s|$)", re.MULTILINE)
_TOO_LARGE = "The front matter is too large to be read."
_NOT_VALID = "The front matter is not valid {}: what could not be read of it is kept as it is written."


def front_matter(text: str) -> tuple[dict[str, Any], str, tuple[str, ...]]:
    """Return the front matter of a text, empty if it has none, the rest, and warnings of what could not be read."""
    found = _FRONT.match(text)
    if found is None:  # none, or never closed: the text begins with a thematic break
        return {}, text, ()
    raw, body = found[2].replace("\r\n", "\n"), text[found.end() :]
    load, notation = (tomllib.loads, "TOML") if found[1] == "+++" else (yaml.safe_load, "YAML")
    if len(raw) > _MOST_CHARACTERS:
        return ({}, body, (_TOO_LARGE,)) if _KEY.search(raw) else ({}, text, ())
    plain = _Plain()
    try:
        front = load(raw)
        return (plain.mapping(front), body, ()) if isinstance(front, dict) else ({}, text, ())
    except (yaml.YAMLError, ValueError, RecursionError):  # a value may be no date, or a number of too many digits
        read = _key_by_key(raw, load, plain)
        return (read, body, (_NOT_VALID.format(notation),)) if read else ({}, text, ())


def _key_by_key(raw: str, load: Callable[[str], Any], plain: "_Plain") -> dict[str, Any]:
    """Return each value that can be read alone, and the others as they are written."""
    keys = list(_KEY.finditer(raw))
    front: dict[str, Any] = {}
    for key, end in zip(keys, [*(later.start() for later in keys[1:]), len(raw)], strict=False):  # no key has no end
        try:
            front |= plain.mapping(load(raw[key.start() : end].expandtabs(2)))
        except (yaml.YAMLError, ValueError, RecursionError, AttributeError):
            front[key[1]] = raw[key.end() : end].strip().strip("\"'")
    return front


class _Plain:
    """A converter of YAML to JSON values with a size limit: anchors can expand a few lines without bound."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def mapping(self, value: dict[Any, Any]) -> dict[str, Any]:
        return {str(key): self.value(inner) for key, inner in value.items()}

    def value(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ValueError("too many values")
        if isinstance(value, dict):
            return self.mapping(value)
        if isinstance(value, (list, tuple, set)):
            return [self.value(inner) for inner in value]
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
