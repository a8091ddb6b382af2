"""Word counts, word boundaries and grapheme boundaries: where a text may be cut without harm to a word or character."""

import re
import unicodedata
from collections.abc import Sequence

_SINGLE = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTERS = rf"[^\W{_SINGLE}{_UNSPACED}]+"
_WORD = re.compile(rf"[{_SINGLE}]|[{_UNSPACED}]{{1,4}}|{_LETTERS}(?:['’\-]{_LETTERS})*")


def count_words(texts: Sequence[str]) -> list[int]:
    """Count the words of each text.

    A run of letters and digits is a word. Where a script writes no spaces, each Han letter or kana is one, and so are
    four letters of Thai, Lao, Khmer or Burmese.
    """
    return [sum(1 for _ in _WORD.finditer(text)) for text in texts]


# Scripts that write no spaces: every offset may be the edge of a word.
_UNSPACED_LETTER = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def cuts_word(text: str, offset: int) -> bool:
    """Tell whether an offset lies within a word or a number: "25" is no passage of "250", nor of "2.25"."""
    if not 0 < offset < len(text):
        return False
    before, after = text[offset - 1], text[offset]
    if unicodedata.combining(after):
        return True
    if before.isalnum() and after.isalnum():
        return not (_UNSPACED_LETTER.match(before) or _UNSPACED_LETTER.match(after))
    if after.isdigit() and before in ".,":
        return offset > 1 and text[offset - 2].isdigit()
    return before.isdigit() and after in ".," and text[offset + 1 : offset + 2].isdigit()


def is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether a passage begins and ends between words."""
    return not cuts_word(text, start) and not cuts_word(text, end)


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
