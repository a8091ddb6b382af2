"""Dates that a text writes, in one form: "6 May 2026", "May 6, 2026", 2026-05-06, 6.5.2026, 2026年5月6日.

The months' names are those of the Unicode CLDR in the languages that have them in ``month_names.txt``, a line a month.
A name is looked up only next to the number of a day or a year, so no word is a month by itself.
"""

import re
from calendar import month_name
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

from text.language import language
from text.late_patterns import late_pattern
from text.normal_forms import fold_case
from text.scripts import THAI

_BUDDHIST = range(2400, 2700)  # years of the Thai calendar, which is 543 ahead
_LEAST_LETTERS = 3  # of an abbreviated name
_AGREED = 0.75  # share of the names that begin with it which are one month's
_COMMON = 4  # names
_ENGLISH = tuple(map(fold_case, month_name[1:]))
_BY_NUMBER = frozenset(("ja", "ko", "vi", "zh"))  # languages whose months have numbers for names
_BY_NAME = ("de", "es", "fr", "it", "nl", "pt")  # others in Latin letters

_NAME = r"(?P<name>[^\s\d!-/:-@\[-`{-~]{2,})\.?"  # vowel signs are no \w
_YEAR = r"(?P<year>(?:19|20|2[45])\d\d)(?!\d)"
_SMALL = 3  # letters of a word such as "of" and "de"
_SMALL_WORD = rf"(?:[^\W\d_]{{1,{_SMALL}}}\s|d['’])?"
_DAY = r"(?<![\d.,:/-])(?P<day>\d{1,2})"
# Each is tried where a number begins that has at its end what is named, so that a text is walked through once.
_BEFORE_SIGN = (
    r"(?<![\d.,/-])(?P<year>(?:19|20)\d\d)(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?!\d)",
    rf"{_DAY}[./-]\s?(?P<month>\d{{1,2}})[./-]\s?{_YEAR}",
    r"(?<![\d.,/-])(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?![\d-])",
    rf"(?<![\d.,/-])(?P<month>0?[1-9]|1[0-2])/{_YEAR}",
    r"(?<=\bngày )(?P<day>\d{1,2})/(?P<month>\d{1,2})(?!\d)",
)
_BEFORE_UNIT = (
    r"(?<!\d)(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월](?:\s?(?P<day>\d{1,2})(?!\d))?",
    r"(?<![\d.,])(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日号일]",
)
_BEFORE_WORD = (
    rf"{_DAY}\stháng\s(?P<month>\d{{1,2}})\snăm\s{_YEAR}",
    r"(?<=\bngày )(?P<day>\d{1,2})\stháng\s(?P<month>\d{1,2})(?!\d)",
    rf"(?P<month>[1-9]|1[0-2])\snăm\s{_YEAR}",
    rf"{_DAY}(?:st|nd|rd|th|er|[.ºª])?\s{_SMALL_WORD}{_NAME}(?:,?\s{_SMALL_WORD}{_YEAR})?(?!\w)",
    rf"{_YEAR}\.?,?\s{_NAME}\s(?P<day>\d{{1,2}})(?![\w:])",
)
_WITHOUT_SIGN = late_pattern(r"(?<![\d.,/])(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])")


def _late(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(late_pattern, patterns))


_AT_END = {
    **dict.fromkeys("-/", _late(*_BEFORE_SIGN)),
    ".": _late(*_BEFORE_SIGN, *_BEFORE_WORD),
    **dict.fromkeys("年년月월", _late(*_BEFORE_UNIT)),
    **dict.fromkeys("snrteºª", _late(*_BEFORE_WORD)),
    " ": _late(*_BEFORE_WORD, *_BEFORE_UNIT),
}
_BEHIND_NAME = late_pattern(
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])(?:,?\s{_YEAR})?|(?P<alone>(?:19|20|2[45])\d\d)(?!\d)"
)
_LONGEST_NAME = 24  # characters, with a small word behind it
_NUMBER = re.compile("[0-9]+")
_THAI = re.compile(f"[{THAI}]")


def dates_of(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each date of a text as 2026-05-06, 05-06 or 2026-05, as far as it is told, with its span."""
    past = 0
    for number in _NUMBER.finditer(text):
        start, end = number.span()
        if start < past or end - start not in _LENGTHS:
            continue
        for date, begin, stop in chain(_from_number(text, start, end), _behind_name(text, start, past)):
            yield date, begin, stop
            past = stop
            break


def without_dates(text: str) -> str:
    """Return a text with a space in the place of each date."""
    for _, start, end in sorted(dates_of(text), key=lambda date: -date[1]):
        text = f"{text[:start]} {text[end:]}"
    return text


_LENGTHS = (1, 2, 4, 8)


def _may_begin(word: str) -> bool:
    """Whether a word may be a month's name or unit: most words are not, and no pattern need be tried."""
    return word[0] in _UNITS or word[:_LEAST_LETTERS].lower() in _beginnings()


_UNITS = frozenset("年년月월")


@cache
def _beginnings() -> frozenset[str]:
    return frozenset((*(name[:_LEAST_LETTERS] for name in months()), "thá", "năm"))


def _from_number(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    sign = text[end : end + 1]
    if sign == " " and not any(map(_may_begin, _next_words(text, end))):
        return
    patterns = (_WITHOUT_SIGN,) if end - start == 8 else _AT_END.get(sign, ())
    for pattern in patterns:
        found = pattern.match(text, start)
        if found is not None and (date := _read(found.groupdict())):
            yield date, start, found.end()


def _next_words(text: str, end: int) -> list[str]:
    """Return the words of which one is the month's name: the next, or the one behind "of" or "d'"."""
    words = text[end : end + _LONGEST_NAME].replace("’", "'").split(maxsplit=2)[:2]
    return [name for word in words if (name := word.rpartition("'")[2])]


def _behind_name(text: str, start: int, past: int) -> Iterator[tuple[str, int, int]]:
    if not (text[start - 1 : start] == " " and text[start - 2 : start - 1] not in "|:;") or start < 3:
        return
    before = text[max(past, start - _LONGEST_NAME) : start]
    words = before.replace(",", " ").replace(".", " ").split()
    for name in words[-1:] if words and len(words[-1]) > _SMALL else words[:-3:-1]:
        found = _BEHIND_NAME.match(text, start) if _may_begin(name) else None
        if found is not None and (date := _read({**found.groupdict(), "name": name})):
            yield date, start - len(before) + before.rindex(name), found.end()
            return


def _read(told: Mapping[str, str | None]) -> str:
    """Return the date of a match; "" where it has no month, or no such day."""
    year, day, name = told.get("year") or told.get("alone") or "", int(told.get("day") or 0), told.get("name")
    named = _month_of(fold_case(name), has_year=bool(year), has_day=day > 0) if name else None
    month = int(told.get("month") or 0) if named is None else named
    if month > 12 and day:
        month, day = day, month  # as Americans write it
    if not 1 <= month <= 12 or day > 31 or not (year or day):
        return ""
    if year and int(year) in _BUDDHIST:
        if not (name and _THAI.match(name)):
            return ""
        year = str(int(year) - 543)
    return "-".join((*((year,) if year else ()), f"{month:02}", *((f"{day:02}",) if day else ())))


@cache
def months() -> dict[str, int]:
    """Return the number of each month by its case-folded names in many languages."""
    lines = (Path(__file__).parent / "month_names.txt").read_text(encoding="utf-8").splitlines()
    return {fold_case(name): month for month, names in enumerate(lines, start=1) for name in names.split()}


@lru_cache(maxsize=4096)  # words beside numbers
def _months_beginning(letters: str) -> Counter[int]:
    return Counter(month for name, month in months().items() if name.startswith(letters))


def _month_of(word: str, *, has_year: bool, has_day: bool) -> int:
    """Return the month that a word names, 0 where it names none.

    Beside a year it may be abbreviated, as it is in most languages whose names begin so, without a day in a few.
    """
    if (whole := months().get(word)) is not None:
        return whole
    if not has_year or len(word) < _LEAST_LETTERS:
        return 0
    beginning = _months_beginning(word)
    month, names = max(beginning.items(), key=lambda each: each[1], default=(0, 0))
    agreed = names >= _AGREED * beginning.total() and (has_day or names >= _COMMON)
    return month if agreed else 0


def parts_of_date(date: str) -> frozenset[str]:
    """Return a date with what else may be asked of it: 2026-05-06 is a 05-06, of 2026-05 and of 2026."""
    year, _, rest = date.partition("-")
    if len(year) < 4:
        return frozenset((date,))
    return frozenset((date, year, *((f"{year}-{rest[:2]}", rest) if len(rest) > 2 else ())))


def is_meant(date: str, written: str, question: str) -> bool:
    """Whether what may be a date is ``written`` as one in a question: whole, or with a month's name of its language.

    "Mars 2020" is a mission in English, and "mai 8" tomorrow at eight in Vietnamese.
    """
    words = [] if len(date) > len("2026-05") else re.findall(r"[^\W\d_]+", fold_case(written))
    names = [word for word in words if _month_of(word, has_year=True, has_day=True)]
    if not names:
        return True
    spoken = {language(question, near=each) for each in _BY_NAME}
    is_foreign = spoken == {"en"} and not any(name.startswith(tuple(names)) for name in _ENGLISH)
    return not is_foreign and _BY_NUMBER.isdisjoint(spoken)
