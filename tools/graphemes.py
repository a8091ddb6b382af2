"""Where a text may be cut without tearing what a reader sees as one character.

The rules are those of Unicode's extended grapheme clusters (UAX #29), told from the categories that Python knows:
marks, joiners, emoji modifiers and tags stay with what they follow, flags stay in pairs, Hangul jamo in syllables.
"""

import unicodedata

_JOINER = "\u200d"
_EXTEND = ("Mn", "Mc", "Me")


def cut_near(text: str, offset: int, floor: int = 0) -> int:
    """Give the last grapheme boundary from ``floor`` + 1 to ``offset``, else the first one after; floor is one."""
    for at in range(min(offset, len(text)), floor, -1):
        if is_boundary(text, at, floor):
            return at
    at = offset + 1
    while not is_boundary(text, at, floor):
        at += 1
    return at


def is_boundary(text: str, offset: int, floor: int = 0) -> bool:
    """Tell whether a text may be cut at an offset; its two ends are boundaries, and so is ``floor``."""
    if offset <= 0 or offset >= len(text):
        return True
    before, after = text[offset - 1], text[offset]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if before in "\r\n" or unicodedata.category(before) == "Cc":
        return True
    return not (
        _extends(after) or before == _JOINER or _is_flag_pair(text, offset, floor) or _in_syllable(before, after)
    )


def _extends(letter: str) -> bool:
    if letter == _JOINER or letter == "\u200c" or "\U0001f3fb" <= letter <= "\U0001f3ff":
        return True
    return "\U000e0020" <= letter <= "\U000e007f" or unicodedata.category(letter) in _EXTEND or letter in "\u0e33\u0eb3"


def _is_regional(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def _is_flag_pair(text: str, offset: int, floor: int) -> bool:
    """Tell whether the regional indicators around an offset make one flag; a run is paired from its start."""
    if not (_is_regional(text[offset - 1]) and _is_regional(text[offset])):
        return False
    first = offset - 1
    while first > floor and _is_regional(text[first - 1]):
        first -= 1
    return (offset - first) % 2 == 1


def _in_syllable(before: str, after: str) -> bool:
    if not "\u1100" <= after <= "\u11ff":
        return False
    leads = "\u1100" <= before <= "\u115f"
    if after <= "\u115f":
        return leads
    syllable = "\uac00" <= before <= "\ud7a3"
    open_syllable = syllable and (ord(before) - 0xAC00) % 28 == 0
    if after <= "\u11a7":
        return leads or "\u1160" <= before <= "\u11a7" or open_syllable
    return syllable or "\u1160" <= before <= "\u11ff"
