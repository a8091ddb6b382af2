"""Letters of a PDF page in the order in which they are read: accents set on their letters, right-to-left lines turned.

pdfium gives letters as the file draws them. An accent may be a sign of its own, a ligature a number in a font without
names, a line of Hebrew in the order of the eye. What no reader can name is counted.
"""

import re
import unicodedata
from collections.abc import Sequence
from ctypes import byref, c_double, c_ushort, c_void_p, sizeof
from statistics import median
from typing import NamedTuple

import pypdfium2.raw as raw

from tools.parsers import pdf_calls as calls

NOTHING = "\ufdd0"  # stands for a sign that is left out, so that each letter keeps its place
_UNREADABLE = "\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufff9-\ufffd\uffff\U000f0000-\U0010ffff"
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
_ACCENTS = dict(
    zip("`´ˆ˜¯˘˙¨˚˝ˇ¸˛", "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328", strict=True)
)
_UNUSUAL = re.compile(f"[{_UNREADABLE}{_RIGHT_TO_LEFT}{''.join(_ACCENTS)}]|\r(?!\n)")
_SIGN = re.compile(f"[{_UNREADABLE}]|\r(?!\n)")
_ACCENT = re.compile(f"[{''.join(_ACCENTS)}]")
_DOTLESS = {"ı": "i", "ȷ": "j"}
_TEX_LIGATURES = dict(zip("\x0b\x0c\r\x0e\x0f\x1b\x1c\x1d\x1e\x1f", "ﬀﬁﬂﬃﬄ" * 2, strict=True))
_TEX_LIGATURES |= dict(zip("\x10\x11\x12\x13\x14\x15\x16", "“”„«»–—", strict=True))  # of its fonts without names
_BULLETS = dict(zip("\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf0e0", "•▪➢✓❖→", strict=True))  # Wingdings, Symbol
_HYPHEN = "\x02"  # pdfium's mark for a hyphen that it took out
_SPELLED = str.maketrans({NOTHING: None, "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})
_LINE = re.compile(r"[^\r\n]+")
_TURNED = re.compile(f"[{_RIGHT_TO_LEFT}]")
_STRONG = re.compile(rf"[^\W\d_{_RIGHT_TO_LEFT}]")
_NUMBER = r"[%$€£₪°]?\d(?:[\d.,:/+-]*\d)?[%$€£₪°]?"
_LATIN = rf"[^\W_{_RIGHT_TO_LEFT}][^{_RIGHT_TO_LEFT}]*[^\W\d_{_RIGHT_TO_LEFT}]|[^\W\d_{_RIGHT_TO_LEFT}]"
_LEFT_TO_RIGHT = re.compile(rf"{_LATIN}|{_NUMBER}")
_LETTERS_TO_RIGHT = re.compile(rf"[{_RIGHT_TO_LEFT}](?:[^\w]*[{_RIGHT_TO_LEFT}])*")
_MIRRORED = str.maketrans("()[]{}«»<>", ")(][}{»«><")
_REACH, _FURTHEST = 9, 250  # letters that may stand between an accent and its letter: it may come behind the whole line
_CLOSE = 0.5  # points: no space is so narrow
_MOST_FAR = 1_000  # accents of a page
_GAP = 0.4  # of a letter's width: a space, where the file has no sign for it
_GAP_BESIDE_SPACES = 1.5


class Letters(NamedTuple):
    """The text of a page.

    ``at`` is the index in pdfium's page of each letter (-1 for a space that we put in), ``two_ways`` are the rows that
    have letters from right to left, ``unreadable`` is how many signs no reader can name.
    """

    text: str
    at: Sequence[int]
    two_ways: tuple[range, ...] = ()
    unreadable: int = 0
    is_changed: bool = False


def read_letters(textpage: c_void_p) -> Letters:
    """Return the letters of a page."""
    count = max(0, calls.count_letters(textpage))
    text = _text(textpage, count)
    if not _UNUSUAL.search(text):
        return Letters(text, range(count))
    signs = list(text)
    unreadable = _name_signs(textpage, text, signs)
    for number, found in enumerate(_ACCENT.finditer(text)):
        _set_accent(textpage, signs, found.start(), _FURTHEST if number < _MOST_FAR else _REACH)
    text = "".join(signs)
    if not _TURNED.search(text):
        return Letters(text, range(count), (), unreadable, is_changed=True)
    return _turned(textpage, text)._replace(unreadable=unreadable, is_changed=True)


def _text(textpage: c_void_p, count: int) -> str:
    buffer = (c_ushort * (count + 1))()
    if calls.letters_between(textpage, 0, count, buffer) == count + 1:
        text = bytes(buffer)[: sizeof(c_ushort) * count].decode("utf-16-le", "surrogatepass")
        return text if len(text) == count else "".join(map(chr, buffer[:count]))  # each half keeps its place
    letter = calls.letter_at  # signs without any number are missing in the text as a whole
    return "".join([chr(min(letter(textpage, index), 0x10FFFF)) for index in range(count)])


def spelled(text: str) -> str:
    """Return a word without the places of what was left out, and its ligatures as letters."""
    return text.translate(_SPELLED)


def _name_signs(textpage: c_void_p, text: str, signs: list[str]) -> int:
    """Give a letter to signs without one, where it is known; return how many nobody can read.

    Between other letters such a sign is told as U+FFFD, since what is apart must not be joined.
    """
    unreadable = 0
    for found in _SIGN.finditer(text):
        at, sign = found.start(), found[0]
        if sign == _HYPHEN and calls.is_hyphen(textpage, at) == 1:
            continue
        beside = text[at - 1 : at] + text[at + 1 : at + 2]
        if sign in _BULLETS:
            signs[at] = _BULLETS[sign]
        elif sign in _TEX_LIGATURES and _is_in_word(textpage, text, at):
            signs[at] = _TEX_LIGATURES[sign]
        else:
            signs[at] = "\ufffd" if any(letter.isalnum() for letter in beside) else NOTHING
            unreadable += 1
    return unreadable


def _is_in_word(textpage: c_void_p, text: str, at: int) -> bool:
    own, beside = calls.object_of_letter(textpage, at), [place for place in (at - 1, at + 1) if 0 <= place < len(text)]
    return any("A" <= text[place] <= "z" and calls.object_of_letter(textpage, place) == own for place in beside)


def _set_accent(textpage: c_void_p, signs: list[str], at: int, reach: int) -> None:
    """Join an accent that stands above or below a letter with it; ``reach`` is how far that may be in the text."""
    if signs[at] not in _ACCENTS:  # joined already
        return
    left, right, base = _box(textpage, at)
    middle = (left + right) / 2
    for beside in (at + step * way for step in range(1, reach) for way in (1, -1)):
        if not 0 <= beside < len(signs) or not signs[beside].isalpha():
            continue
        x0, x1, y = _box(textpage, beside)
        if not x0 <= middle <= x1 or abs(y - base) > x1 - x0:
            continue
        letter = unicodedata.normalize("NFC", _DOTLESS.get(signs[beside], signs[beside]) + _ACCENTS[signs[at]])
        first, last = min(at, beside), max(at, beside)
        beside_it = not "".join(signs[first + 1 : last]).strip()  # but for a space that pdfium saw
        if len(letter) > 1 and not beside_it:
            return
        if beside_it:
            signs[first : last + 1] = [NOTHING] * (last + 1 - first)
        if len(letter) == 1:
            signs[beside], signs[at] = letter, NOTHING
        else:
            signs[first], signs[last] = letter[0], letter[1:]
        for place in (beside - 1, beside + 1, at):
            _close_up(textpage, signs, place)
        return


def _close_up(textpage: c_void_p, signs: list[str], at: int) -> None:
    """Leave out a space that is there only since an accent was drawn out of turn."""
    before, after = at, at
    while before > 0 and at - before < _REACH and signs[before] in (" ", NOTHING):
        before -= 1
    while after + 1 < len(signs) and after - at < _REACH and signs[after] in (" ", NOTHING):
        after += 1
    if not (0 <= before < after < len(signs) and signs[before].isalpha() and signs[after].isalpha()):
        return
    if abs(_box(textpage, after)[0] - _box(textpage, before)[1]) < _CLOSE:
        signs[before + 1 : after] = [NOTHING] * (after - before - 1)


def _box(textpage: c_void_p, at: int) -> tuple[float, float, float]:
    box, x, y = raw.FS_RECTF(), c_double(), c_double()
    calls.letter_box(textpage, at, byref(box))
    calls.letter_origin(textpage, at, byref(x), byref(y))
    return min(box.left, box.right), max(box.left, box.right), y.value


def _turned(textpage: c_void_p, text: str) -> Letters:
    """Bring the rows with right-to-left letters from the order of the eye into that of reading."""
    page_turns = len(_TURNED.findall(text)) > len(_STRONG.findall(text))
    parts: list[str] = []
    at: list[int] = []
    rows: list[range] = []
    end = 0
    for row in _LINE.finditer(text):
        parts.append(text[end : row.start()])
        at += range(end, row.start())
        end = row.end()
        letters, places = row[0], list(range(row.start(), end))
        if _TURNED.search(letters):
            letters, places = _read_row(textpage, text, places, page_turns)
            rows.append(range(len(at), len(at) + len(places)))
        parts.append(letters)
        at += places
    parts.append(text[end:])
    at += range(end, len(text))
    return Letters("".join(parts), at, tuple(rows))


def _read_row(textpage: c_void_p, text: str, places: list[int], page_turns: bool) -> tuple[str, list[int]]:
    """Return a row in the order of reading, and the place of each of its letters."""
    seen = _as_seen(textpage, text, places)
    row = "".join(text[at] if at >= 0 else " " for at in seen)
    strong = [bool(_TURNED.match(letter)) for letter in row if letter.isalpha()]
    ends = strong[0] + strong[-1]
    is_turned = (2 * sum(strong) > len(strong), page_turns, True)[ends]
    order = list(range(len(row)))
    if is_turned:
        order.reverse()
        row = row[::-1]
    for run in (_LEFT_TO_RIGHT if is_turned else _LETTERS_TO_RIGHT).finditer(row):
        order[run.start() : run.end()] = reversed(order[run.start() : run.end()])
    places = [seen[index] for index in order]
    row = "".join(text[at] if at >= 0 else " " for at in places)
    brackets = re.findall(r"[()\[\]]", row)
    if is_turned and brackets and brackets[0] in ")]" and brackets[-1] in "([":
        row = row.translate(_MIRRORED)
    return row, places


def _as_seen(textpage: c_void_p, text: str, places: list[int]) -> list[int]:
    """Return letters from left to right; marks behind the letter that they stand on, -1 where there is a gap."""
    boxes = [
        (*_box(textpage, at)[:2], at)
        for at in places
        if not text[at].isspace() or calls.is_generated(textpage, at) != 1
    ]
    marks = [each for each in boxes if unicodedata.combining(text[each[2]])]
    # letters of one sign, such as lam and alef, have one box: pdfium has turned them
    letters = sorted(each for each in boxes if not unicodedata.combining(text[each[2]]))
    spaced = any(text[at].isspace() for _, _, at in letters)
    widths = [right - left for left, right, _ in letters]
    gap = (_GAP_BESIDE_SPACES if spaced else _GAP) * median(widths or [0.0])
    seen: list[int] = []
    edge, was_space = 0.0, True
    for left, right, at in letters:
        is_space = text[at].isspace()
        if not is_space and not was_space and left - edge > gap:
            seen.append(-1)
        edge, was_space = max(edge, right), is_space
        seen += [*(mark for x0, x1, mark in marks if left <= (x0 + x1) / 2 < right), at]
    return seen
