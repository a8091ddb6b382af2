"""Places in an answer's Markdown where a citation mark breaks nothing, and text that a mark must not touch."""

import re
from dataclasses import replace
from functools import lru_cache

from text.answer_markdown import Unit, units
from text.inline_spans import begun_mark
from text.markdown_blocks import Span

_MARKUP = re.compile(r"[`|<~\[\\]|^(?:[ ]{4}|[ ]{0,3}(?:\t|#|[=-]+[ \t]*$))", re.MULTILINE)
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<]*\Z", re.IGNORECASE)
_LONGEST_ADDRESS = 2048
_FENCE_AND_MORE = re.compile(r"[ \t>*+\-\d.)]*`{3,}[^`\n]+\Z")
_NO_FENCE = "`" * 61  # no fence has a backtick behind it; a run that closes nothing
_CLOSING_FENCE = re.compile(r"`{3,}|~{3,}")
_UNSURE_LINE = re.compile(r"[ \t>*+\-\d.)]*(?:`{3}|~{3})[^\n]*\Z", re.MULTILINE)


@lru_cache(maxsize=8)
def _is_plain(text: str) -> bool:
    return _MARKUP.search(text) is None


def mark_place(text: str, end: int, start: int = 0) -> int | None:
    """Return where the marks of a claim that ends at an offset may stand, not before ``start``; None if nowhere.

    That is the end itself, unless it is in code, in a link, or behind the last cell of a table's row. A claim that is a
    block of code has its marks behind the fence, if that is in no list or quote. It does not depend on the text behind
    the claim.
    """
    if _is_plain(text):
        return end
    for unit in reversed(_units_up_to(text, end, start)):
        if unit.takes_marks and unit.start < end:
            return max(start, min(end, unit.end))
        if unit.kind == "code" and unit.end == end and follows_fence(text, end):
            return max(start, end)
    return start or None


def _units_up_to(text: str, end: int, start: int) -> list[Unit]:
    """Return the units of the beginning of a text, the same however its last line goes on.

    That line may begin like a fence and turn out to hold code within it; only a claim can end there, so it is prose.
    """
    begun = text[:end]
    if _FENCE_AND_MORE.match(begun, begun.rfind("\n") + 1):
        begun += _NO_FENCE
    return [replace(unit, end=min(end, unit.end)) for unit in units(begun, start) if unit.start < end]


def code_spans(text: str, start: int = 0, *, ends_in_claim: bool = False) -> list[Span]:
    """Return the spans of code in order, of blocks and within lines; those before ``start`` may be left out.

    With ``ends_in_claim`` the last line is prose, whatever it begins like.
    """
    if _is_plain(text):
        return []
    found: list[Span] = []
    for unit in _units_up_to(text, len(text), start) if ends_in_claim else units(text, start):
        if unit.kind == "code":
            found.append((unit.start, unit.end))
        found += [(span.start, span.end) for span in unit.spans if span.kind == "code"]
    return found


def follows_fence(text: str, place: int) -> bool:
    """Whether the line that ends at a place closes a block of code that is in no list and no quote."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return text[place : place + 1] in ("", "\n") and _CLOSING_FENCE.fullmatch(line) is not None


def follows_address(text: str, place: int) -> bool:
    """Whether a bare address, which many readers make a link of, stands right before a place and would take in more."""
    found = _ADDRESS.search(text, max(0, place - _LONGEST_ADDRESS), place)
    return found is not None and text[: found.start()][-2:] != "](" and text[: found.start()][-1:] not in ("<", "`")


def settled_end(text: str) -> int:
    """Return up to which offset a growing text may be shown: behind it, what looks like a mark or code is unsure."""
    unsure = _UNSURE_LINE.search(text, text.rfind("\n") + 1)
    if unsure:
        return unsure.start()
    last = units(text, len(text), is_open=True)[-1:]
    begun = len(text) if any(not unit.takes_marks for unit in last) else begun_mark(text)
    return min([begun, *(unit.unclosed for unit in last if unit.unclosed is not None)])
