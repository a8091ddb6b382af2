"""Values in a text by their kind: numbers by their unit, times of day, names; and the version or date of a heading."""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from text.language import FUNCTION_WORDS, word_set
from text.numbers import EN_TENS, EN_UNITS
from text.words import stem

_EN_NUMBER = "|".join([*EN_TENS, *list(EN_UNITS)[2:], "hundred", "half past", "quarter past", "quarter to"])
_VI_NUMBER = "hai|ba|bốn|sáu|bảy|tám|chín|mười|mươi|trăm|rưỡi"
_HAN_DIGITS = "〇零一二两三四五六七八九十百千万"
_NUMBER_WORD = rf"(?:{_EN_NUMBER}|{_VI_NUMBER})"
_NUMBER = re.compile(
    rf"(?P<money>[$€£¥])?(?<![\w.])(?P<number>\d+(?:[.,:/]\d+)*|\b{_NUMBER_WORD}(?:[ -]{_NUMBER_WORD})*\b)"
    rf"(?![\d.]\d)(?:[ -]?(?P<unit>[^\W\d_]+|[%°€£$]))?"
    rf"|(?P<han>\d+(?:\.\d+)?|[{_HAN_DIGITS}]{{1,9}}) ?(?P<measure>(?![{_HAN_DIGITS}])[\u4e00-\u9fff])"
)
_TIMES_OF_DAY = word_set("at from until till lúc từ đến")
_WEEKDAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|thứ (?:hai|ba|tư|năm|sáu|bảy)|chủ nhật"
    r"|(?:周|星期|礼拜)[一二三四五六日天]"
)
_BEFORE = re.compile(r"([^\W\d_]{2,20}) \Z")
_SCALES = word_set("thousand million billion nghìn ngàn triệu tỷ tỉ")
_MEASURES = {"元": "money", "块": "money", "月": "date", "日": "date", "号": "date", "年": "year"}
_NO_MEASURE = frozenset("个一些样起定直切律般同度共方面些边旦到至和与")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d\Z")
_CAPITAL = "A-ZÀ-ÖØ-ÞĂĐĨŨƠƯẠ-Ỹ"
_NAME = re.compile(rf"(?<![\w-])[{_CAPITAL}][\w’'-]+(?: [{_CAPITAL}][\w’'-]*)+")
_DATE_WORDS = word_set(
    """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec
    """
)
_HAN_ROLE = re.compile(r"(?:是|为|系|叫|由)([\u4e00-\u9fff]{2,16})[，。；]")

Values = Mapping[str, frozenset[str]]


@lru_cache(maxsize=2048)
def values_of(text: str) -> Values:
    """Return the values of a text by their kind: a unit such as "day", "clock", "year", "name" or a Chinese role."""
    found: dict[str, set[str]] = {}
    for each in _NUMBER.finditer(text.lower()):
        measure = each["measure"]
        if measure is None:
            kind, number = _number(each)
            found.setdefault(kind, set()).add(number)
        elif measure not in _NO_MEASURE:
            found.setdefault(_MEASURES.get(measure, measure), set()).add(each["han"])
    for day in _WEEKDAY.findall(text.lower()):
        found.setdefault("weekday", set()).add(day.removesuffix("s"))
    for name in _names(text):
        found.setdefault("name", set()).add(name)
    for each in _HAN_ROLE.finditer(text):
        found.setdefault(f"role {each[1][-1]}", set()).add(each[1])
    return MappingProxyType({kind: frozenset(numbers) for kind, numbers in found.items()})


def _number(found: re.Match[str]) -> tuple[str, str]:
    """Return the kind and the value of a number."""
    number, unit = found["number"], found["unit"] or ""
    if unit in _SCALES:
        number, unit = f"{number} {unit}", _word_after(found.string, found.end())
    if found["money"] or unit in ("€", "£", "$"):
        return "money", number
    if number.count(":") > 1:
        return "", number
    if ":" in number or unit in ("am", "pm") or "past" in number or "quarter" in number:
        return "clock", number
    if unit in _DATE_WORDS or "/" in number:
        return "date", number
    if _YEAR.match(number):
        return "year", number
    if unit and unit not in FUNCTION_WORDS:
        return stem(unit), number
    named = _BEFORE.search(found.string, 0, found.start())
    if named and named[1] in _TIMES_OF_DAY:
        return "clock", number
    return (f"no {stem(named[1])}" if named and named[1] not in FUNCTION_WORDS else ""), number


def _word_after(text: str, at: int) -> str:
    after = re.compile(r" ?([^\W\d_]+)").match(text, at)
    return after[1].lower() if after else ""


def _names(text: str) -> list[str]:
    """Return names of two words or more, without an article or a month that opens them."""
    names = []
    for found in _NAME.finditer(text):
        words = [word for word in found[0].split() if word.lower() not in FUNCTION_WORDS | _DATE_WORDS]
        if len(words) > 1:
            names.append(" ".join(words).lower())
    return names


def contrasted(old: str, new: str, ignored: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the kinds of value that both texts have and in which they differ, but for those ignored and bare ones."""
    before, after = values_of(old), values_of(new)
    return frozenset(
        kind for kind in before.keys() & after.keys() - ignored if kind and not before[kind] <= after[kind]
    )


# --- versions and dates -----------------------------------------------------------------------------------------------

_MONTHS = {name[:3]: at for at, name in enumerate(
    ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
     "december"), start=1)}  # fmt: skip
_HAN_NUMBER = {"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_VERSION = re.compile(r"(?<![\w.])v?(\d{1,3}(?:\.\d{1,4}){1,3}|(?<=v)\d{1,3})(?![\w.]*\d)")
_NAMED_VERSION = re.compile(
    r"\b(?:version|release|edition|rev(?:ision)?|draft|phiên bản|bản|lần|版本|第)\.? ?v?(\d{1,3}(?:\.\d+)*)"
)
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})(?:/((?:19|20)\d\d))?\b")
_EN_MONTH = re.compile(
    r"(?:\b(\d{1,2})(?:st|nd|rd|th)?\.? )?\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
    r"(?: (\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?,?(?: ((?:19|20)\d\d))?\b"
)
_VI_MONTH = re.compile(r"(?:\b(\d{1,2}) )?tháng (\d{1,2})(?: ?(?:năm|/|,|-) ?((?:19|20)\d\d))?")
_HAN_DATE = re.compile(
    r"(?:((?:19|20)\d\d)年)?(?:(\d{1,2}|[一二三四五六七八九十]{1,2})月)?(?:(\d{1,2}|[一二三四五六七八九十]{1,3})[日号])?"
)
_BARE_YEAR = re.compile(r"(?<![\d.])((?:19|20)\d\d)(?![\d.])")
_LONGEST_STAGE = 60

Stage = tuple[str, tuple[int, ...], str]
"""What kind of stage it is ("version" or "date", a date with or without a year), its place in order, other words."""


@lru_cache(maxsize=4096)
def stage_of(text: str) -> Stage | None:
    """Return the stage that a heading or the beginning of a block names: "3.4 (May 2023)", "12 May", "Prices 2019"."""
    if len(text) > _LONGEST_STAGE:
        return None
    lowered = text.lower()
    version = _VERSION.search(lowered) or _NAMED_VERSION.search(lowered)
    if version is not None:
        rest = lowered[: version.start()] + lowered[version.end() :].partition("(")[0]
        other = _letters(rest.partition(",")[0])
        numbers_a_section = other and lowered.startswith(version[1])
        return None if numbers_a_section else ("version", tuple(int(each[:9]) for each in version[1].split(".")), other)
    found = _date(lowered)
    if found is None:
        return None
    (year, month, day), start, end = found
    kind = "dated" if year else "day of a year"
    return kind, (year, month, day), _letters(lowered[:start] + " " + lowered[end:])


def _letters(text: str) -> str:
    words = re.findall(r"[^\W\d_]+", text)
    return " ".join(
        word for word in words if word not in ("version", "release", "bản", "phiên", "ngày", "the", "版", "版本", "号")
    )


def _date(lowered: str) -> tuple[tuple[int, int, int], int, int] | None:
    if found := _ISO.search(lowered):
        return (int(found[1]), int(found[2]), int(found[3] or 0)), *found.span()
    if found := _SLASHED.search(lowered):
        return (int(found[3] or 0), int(found[2]), int(found[1])), *found.span()
    if found := _VI_MONTH.search(lowered):
        return (int(found[3] or 0), int(found[2]), int(found[1] or 0)), *found.span()
    found = _EN_MONTH.search(lowered)
    if found and (found[1] or found[3] or found[4]):
        return (int(found[4] or 0), _MONTHS[found[2]], int(found[1] or found[3] or 0)), *found.span()
    for found in _HAN_DATE.finditer(lowered):
        if (found[1] and found[0]) or (found[2] and found[3]):
            return (int(found[1] or 0), _han(found[2]), _han(found[3])), *found.span()
    found = _BARE_YEAR.search(lowered)
    if found and len(_BARE_YEAR.findall(lowered)) == 1:
        return (int(found[1]), 0, 0), *found.span()
    return None


def _han(text: str | None) -> int:
    if not text:
        return 0
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (_HAN_NUMBER.get(tens, 1) * 10 if ten else 0) + _HAN_NUMBER.get(ones, 0)
