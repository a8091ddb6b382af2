"""Numbers of spreadsheets as their formats show them, such as ``#,##0.00" kg";[Red]-0.0%;@``; dates as ISO 8601.

Digits take the places that the format has for them, and its other signs stay between them: phone numbers, fractions,
hours beyond a day. Colours and widths show nothing. A date is as exact as its format: a year, a month or a day.
"""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 22: "m/d/yy h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"), **dict.fromkeys(range(32, 36), "h:mm:ss"),
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*](?P<space>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]?|\[(?P<elapsed>[hms]+)\]'
    r"|\[(?P<when>[<>]?=|<>|[<>])\s*(?P<bound>-?\d+(?:\.\d+)?)\]|\[[^\]]*\]?|(?P<general>general)|(?P<half>am/pm|a/p)"
    r"|(?P<power>e[+-])|(?P<place>[0#?])|(?P<date>y+|m+|d+|h+|s+|[gea]+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
             "<>": operator.ne}  # fmt: skip
_DATE_SIGNS = re.compile(r"[,/.]*(?:\.0+)?[,/]*")  # with fractions of a second
_NO_NUMBER = re.compile(r"-[0.,]*0[0.,]*%?")
_LITERALS = ("quoted", "escaped", "space", "currency")
_EMPTY = {"0": "0", "?": " ", "#": ""}
_LONGEST = 400  # characters of a format; Excel writes at most 255
_MOST_PLACES = 30  # for the digits of a fraction
_EPOCH = datetime(1899, 12, 30)
_EPOCH_1904 = datetime(1904, 1, 1)
_MOST_DAYS = 2_958_466  # up to the year 9999

_COMMA = ("other", ",")
Token = tuple[str, str]  # a name of _TOKEN, or "literal"; and what it holds


@dataclass(frozen=True, slots=True)
class _Section:
    tokens: tuple[Token, ...]
    is_moment: bool = False
    when: str = ""
    bound: float = 0.0

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.tokens)

    @property
    def letters(self) -> str:
        return "".join(said.lower() for name, said in self.tokens if name in ("date", "elapsed"))


def shown(value: float, code: str, *, since_1904: bool = False) -> str:
    """Return a number as its format shows it, "" where the format hides it; dates are in ISO 8601."""
    if value != value or value in (float("inf"), float("-inf")):
        return ""
    if code == "General":
        return plain(value)
    section, signed = _chosen(value, _sections(code[:_LONGEST])[0])
    if section is None:
        said = plain(value)
    elif section.is_moment:
        said = _moment(value, section, since_1904) or plain(value)
    else:
        said = ("-" if signed and value < 0 else "") + _number(abs(value), section.tokens)
    if " " in said or not said.isascii():
        said = " ".join(said.split())
    return said[1:] if said[:1] == "-" and signed and _NO_NUMBER.fullmatch(said) else said


def shown_text(words: str, code: str) -> str:
    """Return words as a format shows them: ``;;;`` hides them, ``"to "@`` puts something before them."""
    section = _sections(code[:_LONGEST])[1]
    if section is None:
        return words
    return "".join(words if (name, said) == ("other", "@") else said for name, said in section.tokens)


def plain(value: float) -> str:
    """Return a number without the noise of binary fractions, at 15 digits as spreadsheets keep them."""
    short = f"{value:.15g}"
    if "e" in short:
        return short.upper() if abs(value) < 1e-9 or abs(value) >= 1e20 else format(Decimal(short), "f")
    return "0" if short == "-0" else short


def _chosen(value: float, sections: Sequence[_Section]) -> tuple[_Section | None, bool]:
    """Return the section for a number, and whether its sign is to be shown beside it."""
    if any(section.when for section in sections[:2]):
        for at, section in enumerate(sections[:2]):
            if section.when and _COMPARED[section.when](value, section.bound):
                return section, not (section.when[0] == "<" and section.bound <= 0)
            if not section.when and (at == 1 and (len(sections) == 2 or value < 0)):
                return section, len(sections) == 2
        return (sections[2], True) if len(sections) > 2 else (None, True)
    if value < 0 and len(sections) > 1:
        return sections[1], False
    return (sections[2] if value == 0 and len(sections) > 2 else sections[0] if sections else None), True


@lru_cache(maxsize=2048)
def _sections(code: str) -> tuple[tuple[_Section, ...], _Section | None]:
    """Return the sections for numbers, none where they are shown as they are, and the one for words."""
    parts: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(code):
        if token["other"] == ";":
            parts.append([])
        else:
            parts[-1].append(token)
    sections = [_section(part) for part in parts[:4]]
    if len(sections) == 4 or ("other", "@") in sections[-1].tokens:
        return tuple(sections[:-1]), sections[-1]
    return tuple(sections) if code.strip() else (), None


def _section(found: list[re.Match[str]]) -> _Section:
    tokens: list[Token] = []
    when, bound = "", 0.0
    for each in found:
        name = each.lastgroup or ""
        if name == "bound":
            when, bound = each["when"], float(each["bound"])
        elif name in _LITERALS:
            tokens.append(("literal", " " if name == "space" else each[name]))
        elif name:
            tokens.append((name, each[name]))
    letters = "".join(said for name, said in tokens if name in ("date", "elapsed"))
    signs = "".join(said for name, said in tokens if name == "place" or (name == "other" and said in ",./%"))
    is_dated = re.search("[ymdhs]", letters, re.IGNORECASE) and not any(name == "general" for name, _ in tokens)
    return _Section(tuple(tokens), bool(is_dated and _DATE_SIGNS.fullmatch(signs)), when, bound)


def _number(value: float, tokens: tuple[Token, ...]) -> str:
    names = [name for name, _ in tokens]
    if "general" in names or "place" not in names:
        return "".join(plain(value) if name == "general" else said for name, said in tokens)
    number = Decimal(f"{value:.15g}").scaleb(2 * tokens.count(("other", "%")))
    try:
        if "power" in names and "place" in names[: names.index("power")]:
            return _scientific(number, tokens, names.index("power"))
        slash = tokens.index(("other", "/")) if ("other", "/") in tokens else 0
        if 0 < slash < len(tokens) - 1 and names[slash - 1] == "place":
            return _fraction(number, tokens, slash)
        return _decimal(number, tokens)
    except (InvalidOperation, ZeroDivisionError):
        return plain(value)


class _Plan(NamedTuple):
    """How digits are written in tokens: those before and after the point, or only what is ``around`` all digits."""

    whole: tuple[Token, ...]
    rest: tuple[Token, ...]
    point: str
    thousands: bool
    scaled: int
    unit: Decimal
    around: tuple[str, str] | None


@lru_cache(maxsize=2048)
def _plan(tokens: tuple[Token, ...]) -> _Plan:
    last = max(at for at, (name, _) in enumerate(tokens) if name == "place")
    point = tokens.index(("other", ".")) if ("other", ".") in tokens else len(tokens)
    whole, rest = tokens[:point], tokens[point + 1 :]
    ends = [at for at, (name, _) in enumerate(whole) if name == "place"]
    thousands = bool(ends) and _COMMA in whole[ends[0] : ends[-1]]
    scaled = max(sum(1 for _ in takewhile(_COMMA.__eq__, tokens[at + 1 :])) for at in {last, *ends[-1:]})
    whole, rest = (tuple(each for each in part if each != _COMMA) for part in (whole, rest))
    places = sum(name == "place" for name, _ in rest)
    signs = "".join(said if name == "place" else "." if (name, said) == ("other", ".") else "\0"
                    for name, said in (*whole, *tokens[point : point + 1], *rest))  # fmt: skip
    around = None
    if re.fullmatch(r"\0*#*0(?:\.0+)?\0*", signs):
        every = (*whole, *rest)
        first = next(at for at, (name, _) in enumerate(every) if name == "place")
        after = "".join(said for name, said in every[first:] if name != "place")
        around = ("".join(said for _, said in every[:first]), after)
    unit = Decimal(1).scaleb(-min(places, _MOST_PLACES))
    return _Plan(whole, rest, "." if point < len(tokens) else "", thousands, scaled, unit, around)


def _decimal(number: Decimal, tokens: tuple[Token, ...]) -> str:
    plan = _plan(tokens)
    number = number.scaleb(-3 * plan.scaled).quantize(plan.unit, rounding=ROUND_HALF_UP)
    if plan.around is not None:
        return plan.around[0] + format(number, ",f" if plan.thousands else "f") + plan.around[1]
    digits, _, decimals = format(number, "f").partition(".")
    before = _before_point(plan.whole, digits.lstrip("0"), plan.thousands)
    after = _after_point(plan.rest, decimals)
    return before + (plan.point if after.strip() or not decimals else "") + after  # no point behind ``0.##`` of 5


def _before_point(tokens: Sequence[Token], digits: str, thousands: bool = False) -> str:
    """Fill places from the right; the first one takes all digits that are left."""
    first = next((at for at, (name, _) in enumerate(tokens) if name == "place"), None)
    written: list[str] = [] if first is not None else [digits]
    count = 0
    for at in reversed(range(len(tokens))):
        name, said = tokens[at]
        if name != "place":
            written.append(said)
            continue
        taken = digits if at == first else digits[-1:]
        digits = digits[: len(digits) - len(taken)]
        for digit in reversed(taken or _EMPTY[said]):
            if thousands and count and count % 3 == 0 and digit != " ":
                written.append(",")
            count += 1
            written.append(digit)
    return "".join(reversed(written))


def _after_point(tokens: Sequence[Token], digits: str) -> str:
    needed, at, written = len(digits.rstrip("0")), 0, ""
    for name, said in tokens:
        if name == "place":
            written += digits[at : at + 1] if at < needed else _EMPTY[said]
            at += 1
        else:
            written += said
    return written


def _scientific(number: Decimal, tokens: tuple[Token, ...], power: int) -> str:
    """Return a number with its power of ten, a multiple of the places before the point."""
    mantissa = tokens[:power]
    step = sum(name == "place" for name, _ in takewhile(lambda each: each != ("other", "."), mantissa)) or 1
    places = sum(name == "place" for name, _ in mantissa) - step
    exponent = number.adjusted() // step * step if number else 0
    if number and number.scaleb(-exponent).quantize(Decimal(1).scaleb(-max(places, 0))).adjusted() >= step:
        exponent += step
    sign = "-" if exponent < 0 else "+" if tokens[power][1].endswith("+") else ""
    said = _decimal(number.scaleb(-exponent), mantissa)
    return said + "E" + sign + _before_point(tokens[power + 1 :], str(abs(exponent)).lstrip("0"))


def _fraction(number: Decimal, tokens: Sequence[Token], slash: int) -> str:
    """Return ``2 3/4``: the whole, where there is a place for it, and the fraction nearest to the rest."""
    upper = slash - len(list(takewhile(lambda each: each[0] == "place", reversed(tokens[:slash]))))
    lower = list(takewhile(lambda each: each[0] == "place" or each[1].isdigit(), tokens[slash + 1 :]))
    fixed = "".join(said for _, said in lower)
    exact = Fraction(number)
    if fixed.isdigit() and int(fixed):
        nearest = Fraction(round(exact * int(fixed)), int(fixed))
        bottom = int(fixed)
    else:
        nearest = exact.limit_denominator(max(1, 10 ** min(len(lower), 6) - 1))
        bottom = nearest.denominator
    has_whole = any(name == "place" for name, _ in tokens[:upper])
    whole = int(nearest) if has_whole else 0
    top = int((nearest - whole) * bottom)
    before = _before_point(tokens[:upper], str(whole).lstrip("0") or ("" if top or not has_whole else "0"))
    after = "".join(said for _, said in tokens[slash + 1 + len(lower) :])
    return before + (f"{top}/{bottom}" if top or not has_whole else "") + after


def _moment(value: float, section: _Section, since_1904: bool) -> str | None:
    """Return a date or time; None where the number is none that a calendar has."""
    letters = section.letters
    if abs(value) > _MOST_DAYS or (value < 0 and not section.has("elapsed")):
        return None
    has_time = section.has("elapsed") or bool(re.search("[hs]", letters))
    if not re.search("[ydge]", letters) and (has_time or "m" not in letters):
        return _time(value, section.tokens)
    seconds = round(value * 86_400)
    try:
        at = (_EPOCH_1904 if since_1904 else _EPOCH) + timedelta(seconds=seconds)
        if not since_1904 and value < 60:
            at += timedelta(days=1)  # Excel counts a 29 February 1900
    except OverflowError:
        return None
    if has_time:
        return at.isoformat(" ", "seconds" if "s" in letters else "minutes")
    named = set(letters)
    return at.date().isoformat()[: 4 if named == {"y"} else 7 if named == {"y", "m"} else None]


def _time(value: float, tokens: Sequence[Token]) -> str:
    """Return a time of day, or hours and minutes beyond a day, as the section writes it."""
    places = sum(name == "place" for name, _ in tokens)
    ticks = round(Decimal(repr(abs(value))) * 86_400 * 10**places)
    seconds, part = divmod(ticks, 10**places)
    half = any(name == "half" for name, _ in tokens)
    hours = seconds // 3600 % 24
    fields = {"h": hours % 12 or 12 if half else hours, "m": seconds // 60 % 60, "s": seconds % 60}
    total = {"h": seconds // 3600, "m": seconds // 60, "s": seconds}
    written = "-" if value < 0 else ""
    digits = iter(f"{part:0{places}}")
    for name, said in tokens:
        if name == "half":
            written += ("PM" if hours >= 12 else "AM") if len(said) > 3 else "P" if hours >= 12 else "A"
        elif name in ("date", "elapsed") and said[0].lower() in fields:
            among = total if name == "elapsed" else fields
            written += f"{among[said[0].lower()]:0{min(len(said), 2)}}"
        else:
            written += next(digits, "") if name == "place" else said
    return written
