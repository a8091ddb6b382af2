"""Join the tokens of a number or a date into one, and read the units that follow numbers."""

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path

from text.dates import MONTHS
from text.language import word_set
from text.numbers import (
    BEGINS_ENGLISH,
    BEGINS_VIETNAMESE,
    EN_SCALES,
    EN_UNITS,
    VI_SCALES,
    VI_UNITS,
    read_english,
    read_vietnamese,
    spell,
)
from tools.claims.claim_tokens import Token, date_key, number_token, words_of

_CURRENCIES = word_set("$ € £ ¥ cny ₫ ₹ usd us$ eur gbp jpy rmb vnd inr")


_RANGING = frozenset(("to", "or", "đến", "tới"))
_AND, _BETWEEN = ("and", "và"), ("between", "giữa")
_HALF = frozenset(("half", "半", "nửa"))
_PARTS = {
    word + ending: number
    for number, word in enumerate(("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"), start=3)
    for ending in ("", "s")
} | {"quarter": 4, "quarters": 4, "half": 2, "halves": 2}

_ROUGHLY = frozenset(("about", "roughly", "approximately", "around", "nearly", "almost"))  # "about a third", no ordinal


def _read_units() -> tuple[dict[tuple[str, ...], str], dict[str, str]]:
    text = Path(__file__).with_name("units.toml").read_text(encoding="utf-8")
    named: dict[tuple[str, ...], str] = {}
    dimensions: dict[str, str] = {}
    for kind, lines in tomllib.loads(text).items():
        for line in lines.strip().splitlines():
            name, _, forms = line.partition(": ")
            dimensions["u:" + name] = kind
            for form in forms.split(" | "):
                named[words_of(form)] = "u:" + name
    return named, dimensions


_UNITS, _DIMENSIONS = _read_units()
_LONGEST = max(map(len, _UNITS))


_MAY_COUNT = frozenset((*BEGINS_ENGLISH, *BEGINS_VIETNAMESE, *EN_UNITS, *VI_UNITS, "a", "an", "half"))
_SCALES = {**EN_SCALES, "dozen": 12}
_VI_SCALES = {**VI_SCALES, "tá": 12}
_AND_A_HALF = ["and", "a", "half"]


def join_numbers(tokens: Sequence[Token], *, vietnamese: bool) -> list[Token]:
    """Return the tokens with each number as one token: words read, scales multiplied, currencies put behind."""
    spelled = [token.key if token.kind == "word" else "" for token in tokens]
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        if tokens[at].value is None and spelled[at] not in _MAY_COUNT:
            joined.append(tokens[at])  # as most words
            at += 1
            continue
        token, length = _number(tokens, spelled, at, vietnamese)
        joined.append(token)
        at += length
    return _currency_behind(_with_shared_scales(joined))


def _with_shared_scales(tokens: list[Token]) -> list[Token]:
    """Return "30 to 50 thousand" or "30 to 50,000" the scale at both its ends."""
    for at in range(2, len(tokens)):
        low, between, high = tokens[at - 2 : at + 1]
        ranging = between.key in _RANGING or (between.key in _AND and at > 2 and tokens[at - 3].key in _BETWEEN)
        if not ranging or low.kind != "number" or high.kind != "number":
            continue
        if low.value is None or high.value is None or not 0 < low.value < 1000 <= high.value:
            continue
        scale = 10.0 ** (3 * int(math.log10(high.value) // 3))
        if high.value % scale == 0 and low.value < high.value / scale:
            value = low.value * scale
            also = (low.value,) if high.also else ()
            tokens[at - 2] = Token("#" + spell(value), low.start, low.end, "number", value=value, also=also)
    return tokens


def _number(tokens: Sequence[Token], spelled: Sequence[str], at: int, vietnamese: bool) -> tuple[Token, int]:
    token = tokens[at]
    value, length, also = token.value, 1, token.also
    if token.kind == "word":
        value, length = _worded(spelled, at, vietnamese=vietnamese)
        if value is None and length > 1:  # it can be read in two ways, and is compared as it is written
            words = " ".join(spelled[at : at + length])
            return Token(words, token.start, tokens[at + length - 1].end, "word"), length
    if share := _share(spelled, at, length, value, vietnamese=vietnamese):
        value, length = share
        return Token("#" + spell(value), token.start, tokens[at + length - 1].end, "number", value=value), length
    if (value is not None or spelled[at] == "one") and list(spelled[at + length : at + length + 3]) == _AND_A_HALF:
        value, length, also = (1.0 if value is None else value) + 0.5, length + 3, ()
    if value is None or (token.key.endswith("s") and token.kind == "number"):
        return token, length
    while at + length < len(spelled):
        scale = _SCALES.get(spelled[at + length]) or (_VI_SCALES.get(spelled[at + length]) if vietnamese else None)
        if scale is None:
            break
        value *= scale
        also = tuple(each * scale for each in also)
        length += 1
        if vietnamese and at + length < len(spelled) and spelled[at + length] == "rưỡi":
            value += scale / 2
            length += 1
    if length == 1 and token.kind == "number":
        return token, 1
    written = " ".join((token.key.removeprefix("#"), *spelled[at + 1 : at + length]))
    return number_token(value, written, token.start, tokens[at + length - 1].end, also), length


def _worded(spelled: Sequence[str], at: int, *, vietnamese: bool) -> tuple[float | None, int]:
    """Read a number in words, or the article of "a million": its value, if any, and how many words."""
    if vietnamese and spelled[at] == "một" and spelled[at + 1 : at + 2] == ["tá"]:
        return 1.0, 1
    if vietnamese and (read := read_vietnamese(spelled, at)) is not None:
        return read
    if spelled[at] in ("a", "an") and at + 1 < len(spelled) and spelled[at + 1] in _SCALES:
        return 1.0, 1
    if list(spelled[at : at + 2]) == ["half", "a"] and not _SCALES.keys().isdisjoint(spelled[at + 2 : at + 3]):
        return 0.5, 2
    english = read_english(spelled, at)
    return (None, 1) if english is None else english[:2]


def _share(
    spelled: Sequence[str], at: int, length: int, value: float | None, *, vietnamese: bool
) -> tuple[float, int] | None:
    """Read "three quarters" and "hai phần ba" that begin at a word: the value and how many words."""
    after = at + length
    if after >= len(spelled):
        return None
    if spelled[at] in EN_UNITS and spelled[after] in _PARTS and (value or spelled[at] == "one"):
        return (value or 1.0) / _PARTS[spelled[after]], length + 1
    of_something = spelled[after + 1 : after + 2] == ["of"] or (at > 0 and spelled[at - 1] in _ROUGHLY)
    if spelled[at] in ("a", "an") and spelled[after] in _PARTS and of_something:
        return 1.0 / _PARTS[spelled[after]], length + 1
    if vietnamese and after + 1 < len(spelled) and spelled[after] == "phần":
        parts, whole = VI_UNITS.get(spelled[after + 1], 0), value or VI_UNITS.get(spelled[at], 0)
        if parts > 1 and whole:
            return whole / parts, length + 2
    return None


def _currency_behind(tokens: list[Token]) -> list[Token]:
    """Move a currency sign from before its number to behind it, where a currency's word is written."""
    for at in range(len(tokens) - 1):
        if tokens[at].key in _CURRENCIES and tokens[at + 1].kind == "number":
            tokens[at], tokens[at + 1] = tokens[at + 1], tokens[at]
    return tokens


def dimension(unit: str) -> str:
    """Return what a unit measures; empty where it only counts."""
    return _DIMENSIONS[unit]


def unit_named(keys: Sequence[str]) -> str:
    """Return the unit that some words name; empty where they name none."""
    return _UNITS.get(tuple(keys), "")


def join_units(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with each unit that follows a number as one token of kind ``unit``."""
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        found = _unit(tokens, at) if joined and (joined[-1].kind == "number" or joined[-1].key in _HALF) else None
        if found is None:
            joined.append(tokens[at])
            at += 1
            continue
        name, length = found
        joined.append(Token(name, tokens[at].start, tokens[at + length - 1].end, "unit"))
        at += length
    return joined


def _unit(tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    keys = tuple(token.key for token in tokens[at : at + _LONGEST])
    for length in range(len(keys), 0, -1):
        if (name := _UNITS.get(keys[:length])) is not None:
            return name, length
    return None


_WORDY = frozenset(("may", "march", "mar", "jan", "dec", "sep", "jun"))
_VI_MONTHS = {"giêng": 1, "một": 11, "chạp": 12, "tư": 4, "năm": 5}
_BEGINS = frozenset((*MONTHS, "year", "ngày", "tháng", "năm"))  # a date begins with one of these or with a number
_BEFORE_MONTH = word_set("in of since until by during from to late early mid and last next through")


def join_dates(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with each date as one token of kind ``date``; a bare year stays a number."""
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        if tokens[at].value is None and tokens[at].key not in _BEGINS:
            joined.append(tokens[at])
            at += 1
            continue
        if tokens[at].key == "ngày" and at + 1 < len(tokens) and tokens[at + 1].kind == "date":
            at += 1
        if days := _days(tokens, at):
            keys, past = days
            start, end = tokens[at].start, tokens[past - 1].end
            joined.extend(Token(key, start, end, "date") for key in keys)
            at = past
            continue
        found = _western(tokens, at) or _chinese(tokens, at) or _vietnamese(tokens, at)
        if found is None:
            joined.append(tokens[at])
            at += 1
            continue
        (year, month, day), length = found
        start, end = tokens[at].start, tokens[at + length - 1].end
        if month is None and day is None and year is not None:
            joined.append(Token(f"#{year}", start, end, "number", value=float(year)))
        else:
            joined.append(Token(date_key(year, month, day), start, end, "date"))
        at += length
    return joined


Date = tuple[int | None, int | None, int | None]


def parts_of(key: str) -> Date:
    """Return year, month and day of a date's key."""
    year, month, day = (int(part) if part else None for part in key[1:].rstrip("?").rsplit("-", 2))
    return year, month, day


def dates_agree(one: str, other: str) -> bool:
    """Whether two dates agree in every part that both name, and name one in common."""
    if one != other and "?" in one + other:
        year, month, day = parts_of(one)
        return _agree((year, month, day), parts_of(other)) or _agree((year, day, month), parts_of(other))
    return _agree(parts_of(one), parts_of(other))


def _agree(one: Date, other: Date) -> bool:
    shared = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return bool(shared) and all(a == b for a, b in shared)


def _between(tokens: Sequence[Token], at: int, low: int, high: int) -> int | None:
    if at >= len(tokens):
        return None
    value = tokens[at].value
    return int(value) if value is not None and low <= value <= high and value == int(value) else None


def _key(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].key if 0 <= at < len(tokens) else ""


def _western(tokens: Sequence[Token], at: int) -> tuple[Date, int] | None:
    """Read "5 March 2020", "5th of March", "March 5, 2020", "March 2020", "March"."""
    day = _between(tokens, at, 1, 31) if tokens[at].kind == "number" else None
    if day is not None:
        month_at = at + 1 + (_key(tokens, at + 1) == "of")
        month = MONTHS.get(_key(tokens, month_at))
        if month is None or not tokens[month_at].capital:
            return None
        year = _between(tokens, month_at + 1, 1000, 2200)
        return (year, month, day), month_at + 1 - at + (year is not None)
    if tokens[at].key == "year" and (year := _between(tokens, at + 1, 1000, 2200)) is not None:
        return (year, None, None), 2
    month = MONTHS.get(tokens[at].key)
    if month is None or not tokens[at].capital:
        return None
    day = _between(tokens, at + 1, 1, 31)
    if day is not None:
        year = _between(tokens, at + 2, 1000, 2200)
        return (year, month, day), 2 + (year is not None)
    year_at = at + 1 + (_key(tokens, at + 1) == "of")
    year = _between(tokens, year_at, 1000, 2200)
    if year is not None:
        return (year, month, None), year_at + 1 - at
    if tokens[at].key in _WORDY and _key(tokens, at - 1) not in _BEFORE_MONTH:
        return None
    return (None, month, None), 1


def _days(tokens: Sequence[Token], at: int) -> tuple[tuple[str, str], int] | None:
    """Read "17-19 October 2016" and "October 17-19, 2016": the keys of both days, and where they end."""
    named = MONTHS.get(tokens[at].key) if tokens[at].capital else None
    begins = at + (named is not None)
    first = _between(tokens, begins, 1, 31)
    if first is None or tokens[begins].kind != "number":
        return None
    joined = _key(tokens, begins + 1) == "to"
    last = _between(tokens, begins + 1 + joined, first + 1, 31)
    if last is None or not (joined or tokens[begins + 1].start - tokens[begins].end == 1):
        return None
    end = begins + 2 + joined
    if named is None:
        if end >= len(tokens) or not tokens[end].capital:
            return None
        named = MONTHS.get(tokens[end].key)
        end += 1
    if named is None:
        return None
    year = _between(tokens, end, 1000, 2200)
    return (date_key(year, named, first), date_key(year, named, last)), end + (year is not None)


def _chinese(tokens: Sequence[Token], at: int) -> tuple[Date, int] | None:
    """Read "2020年3月5日" and its parts; 25年 is a time, 1998年 a year."""
    end = at
    year = month = day = None
    if _key(tokens, end + 1) == "年" and (year := _between(tokens, end, 1000, 2200)) is not None:
        end += 2
    if _key(tokens, end + 1) in ("月", "月份") and (month := _between(tokens, end, 1, 12)) is not None:
        end += 2
        if _key(tokens, end + 1) in ("日", "号", "號") and (day := _between(tokens, end, 1, 31)) is not None:
            end += 2
    return ((year, month, day), end - at) if end > at else None


def _vietnamese(tokens: Sequence[Token], at: int) -> tuple[Date, int] | None:
    """Read "ngày 5 tháng 3 năm 2020" and its parts; "năm 2020" is a year."""
    end = at
    year = month = day = None
    if _key(tokens, end) == "ngày":
        day = _between(tokens, end + 1, 1, 31)
        if day is None:
            return None
        end += 2
        month = _between(tokens, end, 1, 12)
        if month is not None and tokens[end].start - tokens[end - 1].end == 1:
            return (None, month, day), end + 1 - at  # "ngày 28/5"
        month = None
    elif tokens[at].kind == "number" and _key(tokens, at + 1) == "tháng":
        day = _between(tokens, at, 1, 31)
        if day is None or _vi_month(tokens, at + 2) is None or tokens[at + 2].value is None:
            return None
        end += 1
    if _key(tokens, end) == "tháng" and (month := _vi_month(tokens, end + 1)) is not None:
        end += 2
    elif day is not None:
        return None
    if _key(tokens, end) == "năm" and (year := _between(tokens, end + 1, 100, 2200)) is not None:
        end += 2
    elif month is not None and (year := _between(tokens, end, 1000, 2200)) is not None:
        end += 1
    return ((year, month, day), end - at) if end > at else None


def _vi_month(tokens: Sequence[Token], at: int) -> int | None:
    number = _between(tokens, at, 1, 12)
    return number if number is not None else _VI_MONTHS.get(_key(tokens, at))
