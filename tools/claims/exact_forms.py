"""The exact form of a sentence: the same for two notations of it, and for nothing else.

Notation is the kind of quotes and dashes, white space, the capital of the first word, the last stop, contractions, and
numbers below a thousand in words. A sign, a comma, a unit's case, a separator within a number or a character that can't
be seen is none.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from text.late_patterns import LatePattern
from text.normal_forms import unify_signs
from text.numbers import (
    BEGINS_ENGLISH,
    BEGINS_VIETNAMESE,
    EN_SCALES,
    EN_TENS,
    EN_UNITS,
    VI_SCALES,
    VI_UNITS,
    ends_in_tenths,
    read_chinese,
    read_english,
    read_vietnamese,
    spell,
)
from tools.claims.claim_tokens import COUNTED, LETTER, NO_NUMBER, UNSPACED, may_be_units

ExactForm = tuple[str, ...]

_WIDE: Mapping[int, int] = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_EMPHASIS = re.compile(r"`|(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)")
_HYPHENED = re.compile(rf"\b({'|'.join(EN_TENS)})-(?=(?:{'|'.join(EN_UNITS)})\b)", re.IGNORECASE)
_NUMERAL = "零〇一二三四五六七八九十百千两"
_GROUPED = re.compile(r"\d{1,3}(?:(?:,\d{3}){2,}|(?:\.\d{3}){2,})(?![\d.,]*\d)")
# Behind one of these, and behind another version, dots part the components of a version and group no thousands.
_NAMES_VERSION = LatePattern(
    r"(?:\b(?:versions?|ver|v|releases?|builds?|phiên bản)|版 ?本)(?: 号)?(?: (?:numbers?|no|số|is|was|là|为|是))*"
    r"(?: [\d.,]+(?: (?:and|or|to|và|hoặc|đến|和|或|至|到))?)*\Z",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!\Z)|\Z)){4}")
_SIGN = re.compile(r"(?<![^\s(])-(?=\d)")  # "fell -5" is not "fell - 5"
_FARTHEST = 12  # pieces before a number among which such a word stands
_SIGNS = frozenset(".:#=,;-(\"'、，：（")
_NUMBER = rf"{_GROUPED.pattern}|\d+(?:st|nd|rd|th)\b|\d+(?:[.,]\d+)*"
_PIECE = rf"{_NUMBER}|{LETTER}+(?:'{LETTER}+)*|[{UNSPACED}]|\S"
_PLAIN = re.compile(_PIECE)
_ASCII = re.compile(rf"{_NUMBER}|[A-Za-z]+(?:'[A-Za-z]+)*|\S")  # the same for ASCII, several times as fast
_NUMBERED = LatePattern(rf"百分之(?P<share>[{_NUMERAL}\d.]+)|(?P<numerals>[{_NUMERAL}]+)|{_PIECE}")
_DECIMAL = re.compile(r"\d")
_HAS_NUMERAL = re.compile(f"[{_NUMERAL}]")
_BIG = frozenset(word for word, value in (*EN_SCALES.items(), *VI_SCALES.items()) if value >= 1000)
_HUNDRED = frozenset(("hundred", "trăm", "mươi", "chục"))
_RANGING = frozenset(("or", "to", "and", "hoặc", "hay", "đến", "tới", "và", ",", "-"))
_PERCENT = (("percent",), ("per", "cent"), ("phần", "trăm"))
_BEGINS = BEGINS_ENGLISH | BEGINS_VIETNAMESE | {form[0] for form in _PERCENT}
_OPENED = {"can't": ("cannot",), "won't": ("will", "not"), "shan't": ("shall", "not")}


@lru_cache(maxsize=2048)  # some 1.2 KB each
def exact_form(text: str) -> ExactForm:
    """Return the tokens of a sentence, the same for two notations of it and for nothing else."""
    if not text.isascii():
        text = unify_signs(text).translate(_WIDE)
    if "`" in text or "**" in text:
        text = _EMPHASIS.sub("", text)
    text = text.strip()
    if "-" in text:
        text = _SIGN.sub("\u2212", _HYPHENED.sub(lambda found: f"{found[1]} ", text))
    if _HAS_NUMERAL.search(text):
        matches = list(_NUMBERED.finditer(text))
        pieces = [match[0] for match in matches]
        keys = [key for at, match in enumerate(matches) for key in _keys(match, text, pieces, at)]
    else:
        keys = pieces = (_ASCII if text.isascii() else _PLAIN).findall(text)
        if "'" in text or _DECIMAL.search(text):
            keys = [key for at in range(len(pieces)) for key in _plain_keys(pieces, at)]
    keys = _with_numbers(keys)
    if keys and (len(keys[0]) == 1 or keys[0][1:].islower()):
        keys[0] = keys[0].casefold()
    return tuple(keys[:-1] if len(keys) > 1 and keys[-1] in (".", "。") else keys)


def _keys(match: re.Match[str], text: str, pieces: Sequence[str], at: int) -> tuple[str, ...]:
    if match["share"] is not None:
        return (_chinese(match["share"]) or match["share"], "%")
    if match["numerals"] is not None:
        return _numerals(match, text)
    return _plain_keys(pieces, at)


def _plain_keys(pieces: Sequence[str], at: int) -> tuple[str, ...]:
    piece = pieces[at]
    if piece[0].isdecimal():
        if piece[-1].isalpha():
            return (piece[:-2] + "th",)
        grouped = _GROUPED.fullmatch(piece) and not _ADDRESS.fullmatch(piece) and not _follows_version(pieces, at)
        return (re.sub("[.,]", "", piece) if grouped else piece,)
    return _word(piece) if "'" in piece else (piece,)


def _follows_version(pieces: Sequence[str], at: int) -> bool:
    """Whether a number is that of a version: "version 1.234.567"."""
    before = " ".join(piece for piece in pieces[max(0, at - _FARTHEST) : at] if piece not in _SIGNS)
    return _NAMES_VERSION.search(before) is not None


def _word(word: str) -> tuple[str, ...]:
    lower = word.casefold()
    if lower in _OPENED:
        return (word[0] + _OPENED[lower][0][1:], *_OPENED[lower][1:])
    return (word[:-3], "not") if lower.endswith("n't") and len(word) > 3 else (word,)


def _numerals(match: re.Match[str], text: str) -> tuple[str, ...]:
    """Read Chinese numerals where they count something; others are letters of a word."""
    piece, after = match[0], text[match.end() : match.end() + 2].lstrip()
    before = text[max(0, match.start() - 4) : match.start()]
    counts = len(piece) > 1 or after[:1] in (*COUNTED, "万", "亿") or before[-1:] == "第"
    counts = counts and not (ends_in_tenths(piece) and (after[:1] in ("万", "亿") or may_be_units(before, after, text)))
    value = _chinese(piece) if counts and not (piece + after).startswith(NO_NUMBER) else None
    return tuple(piece) if value is None else (value,)


def _chinese(piece: str) -> str | None:
    """Read a number; digits without a scale only where four make a year, since 七八 is seven or eight."""
    bare = not set(piece) & set("十百千")
    if any(sign not in _NUMERAL for sign in piece) or (bare and 1 < len(piece) < 4) or _approximate(piece):
        return None
    value = read_chinese(piece)
    return None if value is None else spell(value)


def _approximate(piece: str) -> bool:
    """Whether two digits precede a scale, which means an approximate number: 三五百."""
    digits = [sign in "一二三四五六七八九两" for sign in piece]
    return not set(piece).isdisjoint("十百千") and any(a and b for a, b in pairwise(digits))


def _with_numbers(keys: list[str]) -> list[str]:
    if not keys or (_BEGINS.isdisjoint(keys) and keys[0].casefold() not in _BEGINS):
        return keys
    words = [key.casefold() if at == 0 or key.islower() else "" for at, key in enumerate(keys)]
    words = ["" if word in _BIG else word for word in words]
    found: list[str] = []
    at = 0
    while at < len(keys):
        number, length = _number(words, at) if words[at] in _BEGINS else (None, 1)
        if number != "%" and words[at + length - 1] in _HUNDRED and _shares(words, at):
            number = None
        found.extend(keys[at : at + length] if number is None else (number,))
        at += length
    return found


def _shares(words: Sequence[str], at: int) -> bool:
    """Whether a number ends a range whose other end shares its scale: "two or three hundred"."""
    low = at - 2 if at > 1 and words[at - 1] in _RANGING else at - 1
    return low >= 0 and words[low] not in ("năm", "không") and (words[low] in EN_UNITS or words[low] in VI_UNITS)


def _number(words: Sequence[str], at: int) -> tuple[str | None, int]:
    """Read the number or percent sign in words that begins at a word: its digits, if any, and how many words."""
    if length := next((len(form) for form in _PERCENT if tuple(words[at : at + len(form)]) == form), 0):
        return "%", length
    if found := read_vietnamese(words, at):
        return None if found[0] is None else spell(found[0]), found[1]
    if words[at] != "one" and (read := read_english(words, at)) is not None:
        return spell(read[0]) + ("th" if read[2] else ""), read[1]
    return None, 1
