"""The shape of a piece of text by its form alone: prose, list item, table row, heading or code."""

import re
from typing import Literal

from text.scripts import GREEK, QUESTION_MARKS

Shape = Literal["prose", "item", "row", "heading", "code"]

_HEADING = re.compile(r"#{1,6}\s|[^\n]{1,80}\n(?:=+|-+)\Z")
_ITEM = re.compile(r"(?:[-*+•‣▪]|\(?\d{1,3}[.)])\s")
_STOPPED = re.compile(r"[.!?…。！？；｡।॥؟۔:：][\"'”’»)\]}」』）】》*_`\s]*(?:\[\^?\d+\])*\Z")
_RULE = re.compile(r"[\s|:=_*~`#>.-]+\Z")
_CODE_LINE = re.compile(r"^(?:\$ |[ \t]{2,}\S)", re.MULTILINE)  # a shell prompt, or an indented line
_SHORT_LINE = 60
_ASKED = re.compile(
    rf"(?:[{QUESTION_MARKS}][{QUESTION_MARKS}!！]*|(?<=[{GREEK}]);)"
    r"(?P<closing>[\s\"'”’»)\]}」』）】》〉*_`]*)(?:\[\^?\d{1,4}\]\s*)*\Z"
)
_LITERAL = re.compile(r"(?:(?:^|\s)(?:[=*<>|~\\]+\s?|/\S*|\w+://\S*)|:\s)\Z")  # before a mark that is itself spoken of
_OPENS = "\"'“”‘’„«»([{「『（【《〈`"
_LABELLED = re.compile(
    r"[\W\d]{0,16}(?P<label>[^\W\d_](?:[\w'’ -]{0,22}[^\W\d_])?)\d{0,3}\s?(?:[:.](?=[\s*_])|[：．])\s*"
)


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


def is_question(sentence: str) -> bool:
    """Whether a sentence asks: it ends in a question mark, neither of an address, a pattern nor something in quotes.

    A sentence that is in quotes or brackets as a whole does ask.
    """
    asked = _ASKED.search(sentence, max(0, len(sentence) - _SHORT_LINE))
    if asked is None or _LITERAL.search(sentence[: asked.start()]):
        return False
    if not asked["closing"].strip("*_ \t\r\n"):
        return True
    label = _LABELLED.match(sentence)
    return sentence[label.end() if label else 0 :].lstrip(" \t>*_#-")[:1] in _OPENS


def label_of(line: str) -> str:
    """Return the short label before a colon or a stop at the beginning of a line, as "q" of "Q2: ..."; "" for none."""
    label = _LABELLED.match(line)
    return label["label"].casefold() if label else ""
