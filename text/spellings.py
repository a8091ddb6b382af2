"""What is written in several ways, in one form: dates, versions, long numbers, and words joined or apart.

Texts are those that ``fold_spelling`` returns, but where another is named. A form is a key of the lexical index: ``@``
stands before a date, ``!`` before a version, and nothing before what is a word or a number as any other.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from text.dates import dates_of, parts_of_date
from text.late_patterns import late_pattern
from text.normal_forms import fold_case
from text.scripts import INDEXED_BY_BIGRAMS, LATIN_SMALL

_KATAKANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_TATWEEL = "\u0640"  # which only stretches an Arabic word
_SAID_OTHERWISE = late_pattern(rf"[\u3041-\u3096{_TATWEEL}]|(?![0-9])\d")


def has_number(text: str) -> bool:
    """Whether a folded text has a digit."""
    return _DIGIT.search(text) is not None


def fold_kana(text: str) -> str:
    """Write hiragana as katakana."""
    return text.translate(_KATAKANA)


def fold_spelling(text: str) -> str:
    """Fold a text as ``fold_case`` does, and hiragana to katakana, digits of all scripts to ASCII."""
    folded = fold_case(text)
    return folded if folded.isascii() else _SAID_OTHERWISE.sub(_plain, folded)


def _plain(found: re.Match[str]) -> str:
    if found[0] == _TATWEEL:
        return ""
    return str(unicodedata.decimal(found[0])) if found[0].isdecimal() else fold_kana(found[0])


@dataclass(frozen=True, slots=True)
class Spelling:
    """A part of a text from ``start`` to ``end``, the key to look for, and those that a text which has it is under."""

    start: int
    end: int
    key: str
    keys: tuple[str, ...]


_NUMBERS = re.compile(r"(?<![\w.,])v?[0-9]+(?:[.,'’ ][0-9]+)+(?!\w)")
_SEPARATED = re.compile(r"[0-9][.,'’ ][0-9]")
_VERSION = re.compile(r"v?([0-9]+(?:\.[0-9]+)+)")
_GROUPED = re.compile(r"[0-9]{1,3}(?:([.,'’ ])[0-9]{3})(?:\1[0-9]{3})*")
_DIGIT = re.compile("[0-9]")


def spellings_of(text: str) -> list[Spelling]:
    """Return a text's dates, versions and long numbers, none of which overlaps another."""
    if not _DIGIT.search(text):
        return []
    found = [_date(text, *each) for each in dates_of(text)]
    dates = found[:]
    for number in _NUMBERS.finditer(text) if _SEPARATED.search(text) else ():
        if any(number.start() < each.end and each.start < number.end() for each in dates):
            continue
        if _GROUPED.fullmatch(number[0]):
            joined = re.sub(r"\D", "", number[0])
            found.append(Spelling(*number.span(), joined, (joined,)))
        elif version := _VERSION.fullmatch(number[0]):
            keys = _version_keys(version[1].split("."))
            found.append(Spelling(*number.span(), keys[-1], keys))
    return found


def _date(text: str, date: str, start: int, end: int) -> Spelling:
    keys = {f"@{part}" for part in parts_of_date(date) if len(part) > 4}
    year, _, rest = date.partition("-")
    month, _, day = rest.partition("-")
    if text[start:end].find("/") in (1, 2) and day and int(day) <= 12:  # which of them is the month, nobody can tell
        keys.add(f"@{year}-{day}-{month}")
    return Spelling(start, end, f"@{date}", tuple(sorted(keys)))


def _version_keys(parts: list[str]) -> tuple[str, ...]:
    """Return a version without noughts at its end, behind what it is a part of: 3.1.4 is of 3.1, and 3.1.0 is 3.1."""
    while len(parts) > 1 and not parts[-1].strip("0"):
        parts = parts[:-1]
    levels = [".".join(parts[:count]) for count in range(2, len(parts) + 1)]
    return tuple(f"!{level}" for level in levels) or (parts[0],)


_LETTERS = rf"[^\W\d_{INDEXED_BY_BIGRAMS}]"
_UNSPACED = late_pattern(f"[{INDEXED_BY_BIGRAMS}]")
_LETTERS_OR_NUMBER = re.compile(r"[0-9]+|[^\W\d_]+")
_SIGNED = re.compile(r"[-\u2010.:>_][\w-]")
_SPACE = re.compile(r"\s")
_SIGN = r"(?:[-\u2010]\n?|[._])"
_HYPHENS = frozenset("-\u2010")
_SIGNS = _HYPHENS | {".", "_"}
_BEFORE_LETTER = re.compile(r"[-\u2010._](?:(?<=[-\u2010])\n)?[^\W\d_]")
_JOINED_BY_SIGN = late_pattern(rf"(?<![\w./@-]){_LETTERS}+(?:{_SIGN}{_LETTERS}+){{1,3}}(?![\w/@])")
_CAPITAL = "A-ZÀ-ÖØ-Þ"
_HAS_HUMP = re.compile(f"[{LATIN_SMALL}][{_CAPITAL}]")
_HUMPS = late_pattern(rf"(?<![^\W_])[{_CAPITAL}]?[{LATIN_SMALL}]+(?:[{_CAPITAL}][{LATIN_SMALL}]+)+")
_HUMP = late_pattern(rf"[{_CAPITAL}]?[{LATIN_SMALL}]+")
_LONGEST = 32
_LONGEST_BESIDE = 12  # a number
_LONGEST_UNIT = 3
_DIGITS = 5


def signed_pieces(text: str) -> Iterator[str]:
    """Yield what stands between spaces in a text and has a sign before a letter or a number in it, or is an option."""
    past = 0
    for sign in _SIGNED.finditer(text):
        if sign.start() < past:
            continue
        start = sign.start()
        while start > past and not text[start - 1].isspace():
            start -= 1
        space = _SPACE.search(text, sign.end())
        past = space.start() if space else len(text)
        yield text[start:past]


def joined_by_sign(text: str) -> Iterator[str]:
    """Yield as one word what a text joins by a sign: Node.js, e-mail, also at the end of a line."""
    past = 0
    for sign in _BEFORE_LETTER.finditer(text):
        start = sign.start()
        while start > past and (text[start - 1].isalpha() or text[start - 1] in _SIGNS or _ends_line(text, start)):
            start -= 1
        if sign.start() < past or start == sign.start():
            continue
        past = sign.end() - 1
        if found := _JOINED_BY_SIGN.match(text, start):
            past = found.end()
            joined = "".join(filter(str.isalpha, found[0]))
            if len(joined) <= _LONGEST:
                yield joined


def _ends_line(text: str, end: int) -> bool:
    return text[end - 1] == "\n" and text[end - 2 : end - 1] in _HYPHENS


def _is_spaced(word: str) -> bool:
    return word.isalpha() and (word.isascii() or not _UNSPACED.match(word))


def beside_numbers(words: Sequence[str]) -> Iterator[str]:
    """Yield joined what stands apart, and apart what is joined, of letters and a number: ROS 2, ROS2."""
    for at in [at for at, is_plain in enumerate(map(str.isalpha, words)) if not is_plain]:
        word = words[at]
        if word.isdigit():
            yield from _joined_with(words, at)
        elif len(parts := _LETTERS_OR_NUMBER.findall(word)) == 2:
            yield from parts


def _joined_with(words: Sequence[str], at: int) -> Iterator[str]:
    before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
    if len(words[at]) > _DIGITS:
        return
    if len(before) <= _LONGEST_BESIDE and _is_spaced(before):
        yield before + words[at]
    if len(after) <= _LONGEST_UNIT and _is_spaced(after):
        yield words[at] + after


def humps(written: str) -> Iterator[str]:
    """Yield the parts of words with capitals within, in a text as it is ``written``: AnnualReport."""
    past = 0
    for hump in _HAS_HUMP.finditer(written):
        start = hump.start()
        while start > past and written[start - 1].isalnum():
            start -= 1
        if hump.start() >= past and (found := _HUMPS.match(written, start)):
            past = found.end()
            yield from map(fold_case, _HUMP.findall(found[0]))
