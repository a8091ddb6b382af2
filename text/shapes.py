"""The shape of a piece of text by its form alone: prose, list item, table row, heading or code."""

import re
from typing import Literal

Shape = Literal["prose", "item", "row", "heading", "code"]

_HEADING = re.compile(r"#{1,6}\s|[^\n]{1,80}\n(?:=+|-+)\Z")
_ITEM = re.compile(r"(?:[-*+•‣▪]|\(?\d{1,3}[.)])\s")
_NUMBERED = re.compile(r"\(?\d{1,3}[.)、]")
_STOPPED = re.compile(r"[.!?…。！？；｡।॥؟۔:：][\"'”’»)\]}」』）】》*_`\s]*(?:\[\^?\d+\])*\Z")
_RULE = re.compile(r"[\s|:=_*~`#>.-]+\Z")
_CODE_LINE = re.compile(r"^(?:\$ |[ \t]{2,}\S)", re.MULTILINE)  # a shell prompt, or an indented line
_SHORT_LINE = 60


def shape_of(sentence: str) -> Shape:
    """Classify a sentence as prose, list item, table row, heading or code, by its form alone."""
    if sentence.startswith(("```", "~~~")) or _CODE_LINE.search(sentence):
        return "code"
    if sentence.startswith("|") or " | " in sentence:
        return "row"
    if _HEADING.match(sentence):
        return "heading"
    if _ITEM.match(sentence):
        return "item"
    bare = "\n" not in sentence and len(sentence) < _SHORT_LINE and not _STOPPED.search(sentence)
    return "heading" if bare and len(sentence.split()) <= 8 else "prose"


def is_rule(text: str) -> bool:
    """Whether a piece is a horizontal rule, a fence or blank, and says nothing."""
    return _RULE.match(text) is not None


def is_numbered(item: str) -> bool:
    """Whether a list item begins with its number."""
    return _NUMBERED.match(item) is not None
