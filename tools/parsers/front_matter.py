"""Front matter of Markdown: YAML between two lines of dashes, as JSON values."""

import math
from datetime import date
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from graph.errors import UnreadableDocument

_MOST_CHARACTERS = 100_000
_MOST_VALUES = 10_000


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter of a text, empty if it has none, and the rest.

    Raises UnreadableDocument if it is not YAML, too large or nested too deeply.
    """
    handler = YAMLHandler()
    if not handler.detect(text):
        return {}, text
    try:
        raw, body = handler.split(text)
    except ValueError:  # never closed: the text begins with a thematic break
        return {}, text
    if len(raw) > _MOST_CHARACTERS:
        raise UnreadableDocument("The front matter is too large.")
    try:
        # In Python: what libyaml's binding reads too deep ends the process.
        front = handler.load(raw, Loader=yaml.SafeLoader)
        return (_Plain().mapping(front), body) if isinstance(front, dict) else ({}, text)
    except RecursionError as error:
        raise UnreadableDocument("The front matter is nested too deeply.") from error
    except (yaml.YAMLError, ValueError) as error:  # a value may be no date, or a number of too many digits
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        raise UnreadableDocument(f"The front matter is not valid YAML{place}.") from error


class _Plain:
    """A converter of YAML to JSON values with a size limit: anchors can expand a few lines without bound."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def mapping(self, value: dict[Any, Any]) -> dict[str, Any]:
        return {str(key): self.value(inner) for key, inner in value.items()}

    def value(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise UnreadableDocument("The front matter is too large.")
        if isinstance(value, dict):
            return self.mapping(value)
        if isinstance(value, (list, tuple, set)):
            return [self.value(inner) for inner in value]
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
