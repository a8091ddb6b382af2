"""The numbers of a text in digits, each with every value that its notation may have."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from text.han_numerals import han_number

_GAP = " \u00a0\u202f'’"
_NUMBER = re.compile(
    r"(?<![\d.,])(?P<date>(?P<year>\d{4})(?P<sep>[-/.])(?P<a>\d\d?)(?P=sep)(?P<b>\d\d?)(?![\d.]\d)"
    r"|(?P<c>\d\d?)(?P<with>[-/.])(?P<d>\d\d?)(?P=with)(?P<in>\d{4})(?!\d))"
    rf"|(?<![\d.,])[1-9]\d{{0,2}}(?:(?P<gap>[{_GAP}])\d{{3}})(?:(?P=gap)\d{{3}})*(?:[.,]\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)*"
)
_NUMERALS = re.compile("[〇零一二两兩三四五六七八九十百千万萬亿億]{1,40}")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:(?:,\d{3})+|(?:\.\d{3})+)")
_SEPARATORS = str.maketrans({"٫": ".", "٬": ",", "．": "."})


class Number(NamedTuple):
    """A number as it is written, with the values that it may have, one of which a text that says the same holds."""

    written: str
    values: frozenset[str]


def numbers_of(text: str) -> list[Number]:
    """Return the numbers of a text: "1.500" is 1500 or 1.5, and a date its year and one of its other two numbers."""
    found: list[Number] = []
    for number in _NUMBER.finditer(text if text.isascii() else text.translate(_SEPARATORS)):
        if number["date"] is None:
            found.append(Number(number[0], frozenset(_values(number[0]))))
        else:
            year, short = number["year"] or number["in"], (number["a"] or number["c"], number["b"] or number["d"])
            found += [Number(number[0], frozenset({_plain(year)})), Number(number[0], frozenset(map(_plain, short)))]
    return found


def values_of(text: str) -> frozenset[str]:
    """Return all values that the numbers of a text may have, those in Han numerals too."""
    digits = chain.from_iterable(number.values for number in numbers_of(text))
    numerals = _NUMERALS.findall(text) if not text.isascii() else ()
    return frozenset((*digits, *map(str, map(han_number, numerals))))


def _values(written: str) -> Iterator[str]:
    """Yield the values of a number; groups that a space parts may also be numbers of their own."""
    pieces = re.split(f"[{_GAP}]", written)
    if len(pieces) > 1:
        yield from chain.from_iterable(map(_values, pieces))
    digits = "".join(pieces)
    parts = re.split("[.,]", digits)
    if _GROUPED.fullmatch(digits):
        yield _plain("".join(parts))
    if len(parts) < 3:
        yield _plain(*parts)
    elif "." in digits and "," in digits:
        yield _plain("".join(parts[:-1]), parts[-1])
    else:
        yield ".".join(map(_plain, parts))


def _plain(whole: str, decimals: str = "") -> str:
    """Return digits of any script as ASCII, without zeros that change no value."""
    digits = "".join(str(int(digit)) for digit in whole).lstrip("0") or "0"
    rest = "".join(str(int(digit)) for digit in decimals).rstrip("0")
    return f"{digits}.{rest}" if rest else digits
